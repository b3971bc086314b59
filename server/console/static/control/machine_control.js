/** Control on a machine's page: taking it, who has it, what is said of it, and what became of the inputs. */

import { Store } from "../parts/elements.js";
import { call, path, Problem, sentence, wordsOf } from "../server/api.js";
import { Clipboard } from "./clipboard.js";
import { takeControl } from "./control.js";
import { Hand } from "./hand.js";
import { Latches } from "./keys_panel.js";
import { LEAVING } from "./keys.js";
import { LEASE_SECONDS, takeLease } from "./lease.js";
import { Outcome } from "./outcome.js";
import { Touchpad } from "./touchpad.js";

const LAST_INPUT_MILLISECONDS = 10_000;
/** @type {Scope[]} */
const NEEDED = ["input:send", "machines:control"];

/** Control as one person has it on this page, or may take it. */
export class MachineControl extends Store {
  /** With the lease, while one is in control. */
  hand = /** @type {Hand | null} */ (null);
  clipboard = /** @type {Clipboard | null} */ (null);
  /** Ends the hands on the picture, before the lease where what was done last is still to be answered. */
  #hands = new AbortController();
  isTaking = false;
  /** Whether the machine is, or is to be, this person's alone while they have control. */
  isPrivate = false;
  /** Whether the server has not said yet that it is, or is not any more. */
  isTurning = false;
  /** Why control was refused, or has ended; the empty text otherwise. */
  #words = "";
  /** From whom control can be taken over, because that was said to the person. */
  offered = /** @type {Holder | null} */ (null);
  #givenBack = Promise.resolve();
  /** When this page's own latest lease began. */
  #mine = "";
  outcome = new Outcome();
  latches = new Latches();
  /** Which of the panels is open. */
  panel = /** @type {"" | "keys" | "text"} */ ("");
  /** What was said of somebody who asks for control, or was asked for it. */
  asking = "";
  /** Of which holder this page has asked, by when that one took control. */
  #asked = "";
  /** What gives control back, or takes it: whoever leaves goes on there. */
  button = { current: /** @type {HTMLElement | null} */ (null) };
  /** Has the keyboard: input methods write into fields alone. */
  typing = document.createElement("textarea");
  /** @type {Record<OwnKey, () => unknown>} what the console's own keys do; the panel with the texts knows how to copy */
  own = { leave: () => this.leave(), copy: () => {}, buttons: () => this.open("keys") };

  constructor(/** @type {ControlParts} */ { machine, scopes, screen, read }) {
    super();
    this.machine = machine;
    this.lacking = NEEDED.filter((scope) => !scopes.includes(scope));
    this.mayCopy = scopes.includes("clipboard");
    this.screen = screen;
    this.touchpad = new Touchpad(screen);
    this.read = read;
    screen.signal.addEventListener("abort", () => this.leave());
  }

  get inControl() {
    return this.hand !== null;
  }

  /** @param {Machine} machine as it is now */
  update(machine) {
    this.machine = machine;
    const lease = this.hand?.lease;
    const since = machine.control?.since;
    // Somebody else has it by now, or nobody: that is another question.
    if (this.offered && since !== this.offered.since) this.#say("");
    if (this.#asked && since !== this.#asked) this.#ask("");
    if (lease && this.#takerFrom(lease)) lease.lose();
    // That is older than the lease, or nobody has it: the server knows better.
    else if (lease && since !== lease.since) void lease.renew();
    this.tellNow();
  }

  async take(/** @type {boolean} */ takeOver) {
    if (this.isTaking) return;
    this.isTaking = true;
    // What takes over is a button that goes.
    this.button.current?.focus({ preventScroll: true });
    this.outcome.say("");
    this.#say("");
    try {
      await this.#givenBack;
      if (this.screen.signal.aborted) return;
      const lease = await takeLease(this.machine.id, { takeOver, isPrivate: this.isPrivate });
      if (this.screen.signal.aborted || !isThere(this.machine)) void lease.giveBack();
      else this.#begin(lease);
    } catch (error) {
      this.#refused(error);
    } finally {
      this.isTaking = false;
      this.tellNow();
    }
  }

  #begin(/** @type {import("./lease.js").Lease} */ lease) {
    const { screen, typing, touchpad, latches, outcome } = this;
    this.#mine = lease.since;
    // Until the server tells the same.
    this.machine.control = { by: lease.by, since: lease.since, private: this.isPrivate };
    this.#ask("");
    const hand = new Hand({ lease, outcome });
    const clipboard = this.mayCopy ? new Clipboard({ hand, machineId: this.machine.id }) : null;
    this.hand = hand;
    this.clipboard = clipboard;
    this.#hands = new AbortController();
    const { signal } = this.#hands;
    takeControl({ screen, typing, touchpad, latches, hand, clipboard, own: this.own, signal });
    lease.signal.addEventListener("abort", () => void this.#ended(lease));
    touchpad.update(true);
    screen.again();
    typing.focus({ preventScroll: true });
  }

  /** Have the machine to oneself, or not: as soon as the server says so, where one is in control. */
  turnPrivate = async () => {
    const { hand } = this;
    const isPrivate = !this.isPrivate;
    if (!hand) this.isPrivate = isPrivate;
    else {
      this.typing.focus({ preventScroll: true });
      this.isTurning = true;
      this.tellNow();
      try {
        await hand.lease.makePrivate(isPrivate);
        if (this.hand === hand) this.isPrivate = isPrivate;
      } catch (error) {
        if (this.hand === hand) this.outcome.say(wordsOf(error), "bad");
      } finally {
        this.isTurning = false;
      }
    }
    this.tellNow();
  };

  open(/** @type {"" | "keys" | "text"} */ panel) {
    this.panel = panel;
    this.tellNow();
    if (!panel) this.typing.focus({ preventScroll: true });
  }

  #refused(/** @type {unknown} */ error) {
    const { by, since } = error instanceof Problem && error.problem === "control-held" ? error.members : {};
    if (!by || !since) return this.#say(wordsOf(error));
    const { control: known } = this.machine;
    this.machine.control = { by, since, private: known?.since === since && known.private };
    return this.#say(`Take over to end what ${by} does, and to work yourself.`, this.machine.control);
  }

  #say(/** @type {string} */ words, /** @type {Holder | null} */ offered = null) {
    this.#words = words;
    this.offered = offered;
    this.tellNow();
  }

  /** @param {import("./lease.js").Lease} lease that is over, whoever ended it: say why, where the person did not */
  async #ended(lease) {
    if (this.hand?.lease !== lease) return;
    const { isGivenBack, hasRunOut } = lease;
    this.#words = isGivenBack ? "" : "Control has ended.";
    this.#handsOff();
    if (isGivenBack) return;
    if (!hasRunOut && !this.#takerFrom(lease)) await this.read();
    if (this.hand || this.isTaking) return;
    const how = hasRunOut
      ? `it ran out, as it was not renewed for ${LEASE_SECONDS} seconds`
      : `${this.#takerFrom(lease) || "somebody"} took it over`;
    this.#say(`Control has ended: ${how}.`);
  }

  #takerFrom(/** @type {import("./lease.js").Lease} */ lease) {
    const { control } = this.machine;
    return control && control.since > lease.since ? control.by : "";
  }

  /** The person goes: take the hands off, and give control back once the last input is answered. */
  leave() {
    const { hand } = this;
    if (!hand) return;
    this.#handsOff();
    this.#givenBack = hand.settled(LAST_INPUT_MILLISECONDS).then(() => {
      hand.close();
      return hand.lease.giveBack();
    });
    this.button.current?.focus({ preventScroll: true });
  }

  #handsOff() {
    // Not to the button: what is being typed would press it.
    const wasBeside = document.activeElement?.closest(".keypad");
    this.#hands.abort();
    this.hand = null;
    this.clipboard = null;
    this.isPrivate = false;
    this.panel = "";
    this.outcome.note("");
    this.latches.clear();
    this.touchpad.update(false);
    this.#ask("");
    if (wasBeside) this.screen.canvas.focus({ preventScroll: true });
  }

  /** Why nobody, or not this person, can take control now; nothing where they can. */
  get obstacle() {
    if (this.hand || this.isTaking) return "";
    if (this.lacking.length) {
      const scopes = `scope${this.lacking.length > 1 ? "s" : ""} ${this.lacking.join(" and ")}`;
      return `Your token lacks the ${scopes}, so you can look only.`;
    }
    if (!isThere(this.machine)) return "Control needs a machine that is online.";
    // Whoever takes over from somebody who has it privately sees it then.
    return this.screen.shows || this.machine.control?.private ? "" : "There is no picture yet.";
  }

  /** What stands beside the button. */
  get sign() {
    if (!this.hand) return [this.#words, this.obstacle].filter(Boolean).join(" ");
    const { machine } = this;
    // A machine that comes back keeps to the lease.
    const where = isThere(machine)
      ? `You are in control of ${machine.name}${this.isPrivate ? ", and nobody else sees it" : ""}.`
      : `You keep control of ${machine.name}, which takes no input now: ${sentence(machine.reason)}`;
    return `${where} ${LEAVING} gives it back.`;
  }

  /** Who else has control; what is being given back is still told for a moment. */
  get holder() {
    const { control } = this.machine;
    return control?.since === this.#mine ? null : control;
  }

  get mayAsk() {
    return !this.lacking.includes("machines:control") && Boolean(this.machine.control) && !this.hand && !this.#asked;
  }

  /** @param {ControlRequested} request of somebody who asks for control; whoever has it is to hear */
  hear({ by, note }) {
    if (!this.hand) return;
    this.asking = `${by} asks you to hand over${note ? `: ${note}` : "."}`;
    this.tell();
  }

  /** Ask whoever has control to give it back. */
  ask = async () => {
    const { control } = this.machine;
    if (!control) return;
    this.#ask(control.since, `${control.by} was asked to hand over.`);
    try {
      await call("POST", path`/v1/machines/${this.machine.id}/control/request`, { signal: this.screen.signal });
    } catch (error) {
      if (this.#asked === control.since) this.#ask("", wordsOf(error));
    }
  };

  #ask(/** @type {string} */ asked, words = "") {
    this.#asked = asked;
    this.asking = words;
    this.tellNow();
  }
}

/** @param {Machine} machine whether inputs of whoever has control reach it: they also do while it is paused */
const isThere = ({ state, node }) => state === "online" || (state === "paused" && node !== null);
