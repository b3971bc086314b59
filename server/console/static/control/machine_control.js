/** Control on a machine's page: taking it, who has it, what is said of it, and what became of the inputs. */

import { Store } from "../parts/elements.js";
import { pause } from "../parts/waiting.js";
import { call, path, Problem, sentence, wordsOf } from "../server/api.js";
import { Clipboard } from "./clipboard.js";
import { takeControl } from "./control.js";
import { Hand } from "./hand.js";
import { Latches } from "./keys_panel.js";
import { LEAVING } from "./keys.js";
import { giveAllBack, LEASE_SECONDS, takeLease } from "./lease.js";
import { Touchpad } from "./touchpad.js";
import { Losses } from "./undone.js";

const LAST_INPUT_MILLISECONDS = 10_000;
/** @type {Scope[]} */
const NEEDED = ["input:send", "machines:control"];

// What cannot be given back then runs out by itself.
addEventListener("pagehide", () => void giveAllBack());

/** Control as one person has it on this page, or may take it. */
export class MachineControl extends Store {
  /** @type {import("./lease.js").Lease | null} */
  #lease = null;
  /** @type {Hand | null} */
  hand = null;
  /** @type {Clipboard | null} */
  clipboard = null;
  /** Ends the hands on the picture alone, before the lease. */
  #hands = new AbortController();
  isTaking = false;
  #shows = false;
  /** Why control was refused, or has ended; the empty text otherwise. */
  #words = "";
  /**
   * From whom control can be taken over, because that was said to the person.
   * @type {Holder | null}
   */
  #offered = null;
  #givenBack = Promise.resolve();
  /** When this page's own latest lease began. */
  #mine = "";
  /** What is said of the inputs, and how it is meant. */
  told = { words: "", kind: /** @type {Kind} */ ("good") };
  /** What is said of texts that were copied. */
  noted = { words: "", kind: /** @type {Kind} */ ("good") };
  losses = new Losses();
  latches = new Latches();
  /** Which of the panels is open. */
  panel = /** @type {"" | "keys" | "text"} */ ("");
  /** What was said of somebody who asks for control, or was asked for it. */
  asking = "";
  /** Of which holder this page has asked, by when that one took control. */
  #asked = "";

  /** @param {ControlParts} parts */
  constructor({ machine, scopes, screen, read }) {
    super();
    this.machine = machine;
    this.lacking = NEEDED.filter((scope) => !scopes.includes(scope));
    this.mayCopy = scopes.includes("clipboard");
    this.screen = screen;
    this.touchpad = new Touchpad(screen);
    this.read = read;
    /** @type {HTMLTextAreaElement} has the keyboard: input methods write into fields alone */
    this.typing = document.createElement("textarea");
    screen.signal.addEventListener("abort", () => this.leave());
  }

  /** @param {HTMLTextAreaElement} typing */
  attach(typing) {
    this.typing = typing;
  }

  get inControl() {
    return this.#lease !== null;
  }

  /** @param {Machine} machine as it is now */
  update(machine) {
    this.machine = machine;
    if (this.#offered && machine.control?.since !== this.#offered.since) {
      // Somebody else has it by now, or nobody: that is another question.
      this.#offered = null;
      this.#words = "";
    }
    if (this.#asked && this.#asked !== machine.control?.since) this.#forgetAsking();
    this.#check();
    this.tellNow();
  }

  /** @param {boolean} shows whether there is a live picture */
  see(shows) {
    this.#shows = shows;
    this.tellNow();
  }

  /** End control where what is known of the machine says so. */
  #check() {
    const lease = this.#lease;
    if (!lease) return;
    const holder = this.machine.control;
    if (holder?.since === lease.since && holder.by === lease.by) return;
    if (holder && holder.since > lease.since) lease.lose();
    // That is older than the lease, or nobody has it: the server knows better.
    else void lease.renew();
  }

  toggle = () => {
    if (this.#lease) this.leave();
    else void this.take(false);
  };

  /** @param {boolean} takeOver */
  async take(takeOver) {
    this.isTaking = true;
    this.#offered = null;
    this.#words = "";
    this.#tell("", "good");
    try {
      await this.#givenBack;
      const lease = await takeLease(this.machine.id, takeOver);
      if (this.screen.signal.aborted || !isThere(this.machine)) void lease.giveBack();
      else this.#begin(lease);
    } catch (error) {
      this.#refused(error);
    } finally {
      this.isTaking = false;
      this.tellNow();
    }
  }

  /** @param {import("./lease.js").Lease} lease */
  #begin(lease) {
    this.#lease = lease;
    this.#hands = new AbortController();
    this.#mine = lease.since;
    this.#forgetAsking();
    // Until the server tells the same.
    this.machine.control = { by: lease.by, since: lease.since };
    const hand = new Hand(lease, (words, kind) => this.#tell(words, kind), this.losses);
    this.hand = hand;
    this.clipboard = this.mayCopy ? new Clipboard(lease, this.machine.id, hand, hand.told) : null;
    this.touchpad.update(true);
    const { screen, typing, touchpad, latches, clipboard } = this;
    takeControl({
      surface: screen.canvas,
      typing,
      placeOf: (event, clamped) => screen.placeOf(event, clamped),
      touchpad,
      latches,
      hand,
      clipboard,
      own: (key) => this.own(key),
      signal: AbortSignal.any([this.#hands.signal, lease.signal]),
    });
    lease.signal.addEventListener("abort", () => void this.#ended(lease));
    this.tellNow();
    typing.focus({ preventScroll: true });
  }

  /** @param {OwnKey} key one of the console's own */
  own(key) {
    if (key === "leave") this.leave();
    else if (key === "copy") this.dispatchEvent(new Event("copy"));
    else this.open("keys");
  }

  /** @param {"" | "keys" | "text"} panel */
  open(panel) {
    this.panel = panel;
    this.tellNow();
    if (!panel) this.typing.focus({ preventScroll: true });
  }

  /** @param {unknown} error */
  #refused(error) {
    this.#words = wordsOf(error);
    if (!(error instanceof Problem)) return;
    const { by, since } = error.members;
    if (error.problem === "control-held" && by && since) {
      this.#words = `Take over to end what ${by} does, and to work yourself.`;
      this.#offered = { by, since };
      this.machine.control = this.#offered;
    }
  }

  /**
   * Control is over, whoever ended it: say why, where the person did not.
   * @param {import("./lease.js").Lease} lease
   */
  async #ended(lease) {
    if (this.#lease !== lease) return;
    const { isGivenBack, hasRunOut } = lease;
    this.#words = isGivenBack ? "" : "Control has ended.";
    this.#handsOff();
    if (isGivenBack) return;
    if (!hasRunOut && !this.#takerFrom(lease)) await this.read();
    if (this.#lease || this.isTaking) return;
    const how = hasRunOut
      ? `it ran out, as it was not renewed for ${LEASE_SECONDS} seconds`
      : `${this.#takerFrom(lease) || "somebody"} took it over`;
    this.#words = `Control has ended: ${how}.`;
    this.tellNow();
  }

  /** @param {import("./lease.js").Lease} lease */
  #takerFrom(lease) {
    const holder = this.machine.control;
    return holder && holder.since > lease.since ? holder.by : "";
  }

  /** The person goes: take the hands off, and give control back once the last input is answered. */
  leave() {
    const { hand } = this;
    const lease = this.#lease;
    if (!lease || !hand) return;
    this.#handsOff();
    this.#givenBack = giveBack(lease, hand);
    this.dispatchEvent(new Event("left"));
  }

  #handsOff() {
    // Not to the button: what is being typed would press it.
    const wasBeside = document.activeElement?.closest(".keypad");
    this.#hands.abort();
    this.#lease = null;
    this.hand = null;
    this.clipboard = null;
    this.panel = "";
    this.noted = { words: "", kind: "good" };
    this.latches.clear();
    this.touchpad.update(false);
    this.#forgetAsking();
    this.tellNow();
    if (wasBeside) this.screen.canvas.focus({ preventScroll: true });
  }

  /** Why nobody, or not this person, can take control now; nothing where they can. */
  get obstacle() {
    if (this.#lease || this.isTaking) return "";
    if (this.lacking.length) {
      const scopes = `scope${this.lacking.length > 1 ? "s" : ""} ${this.lacking.join(" and ")}`;
      return `Your token lacks the ${scopes}, so you can look only.`;
    }
    if (!isThere(this.machine)) return "Control needs a machine that is online.";
    return this.#shows ? "" : "Control begins with a picture.";
  }

  /** What stands beside the button. */
  get sign() {
    if (!this.#lease) return [this.#words, this.obstacle].filter(Boolean).join(" ");
    const { machine } = this;
    // A machine that comes back keeps to the lease.
    const where = isThere(machine)
      ? `You are in control of ${machine.name}.`
      : `You keep control of ${machine.name}, which takes no input now: ${sentence(machine.reason)}`;
    return `${where} ${LEAVING} gives it back.`;
  }

  get mayTakeOver() {
    return Boolean(this.#offered && !this.#lease && !this.obstacle);
  }

  /** Who else has control; what is being given back is still told for a moment. */
  get holder() {
    const { control } = this.machine;
    return control?.since === this.#mine ? null : control;
  }

  get mayAsk() {
    return !this.lacking.includes("machines:control") && Boolean(this.machine.control) && !this.#lease && !this.#asked;
  }

  #forgetAsking() {
    this.#asked = "";
    this.asking = "";
  }

  /**
   * Somebody asks for control; it is for whoever has it to hear.
   * @param {ControlRequested} request
   */
  hear({ by, note }) {
    if (this.#lease) this.asking = `${by} asks you to hand over${note ? `: ${note}` : "."}`;
    this.tell();
  }

  /** Ask whoever has control to give it back. */
  ask = async () => {
    const holder = this.machine.control;
    if (!holder) return;
    this.#asked = holder.since;
    this.asking = `${holder.by} was asked to hand over.`;
    this.tellNow();
    try {
      await call("POST", path`/v1/machines/${this.machine.id}/control/request`, { signal: this.screen.signal });
    } catch (error) {
      if (this.#asked !== holder.since) return;
      this.#asked = "";
      this.asking = wordsOf(error);
      this.tellNow();
    }
  };

  /** @type {(words: string, kind: Kind) => void} */
  note(words, kind) {
    this.noted = { words, kind };
    this.tellNow();
  }

  /** @type {(words: string, kind: Kind) => void} */
  #tell(words, kind) {
    this.told = { words, kind };
    this.tellNow();
  }
}

/**
 * Give a lease back once the last that was done has its end.
 * @param {import("./lease.js").Lease} lease
 * @param {Hand} hand
 */
async function giveBack(lease, hand) {
  await Promise.race([hand.settled(), pause(LAST_INPUT_MILLISECONDS)]);
  hand.close();
  await lease.giveBack();
}

/**
 * Whether inputs of whoever has control reach a machine: they also do while it is paused.
 * @param {Machine} machine
 */
function isThere({ state, node }) {
  return state === "online" || (state === "paused" && node !== null);
}
