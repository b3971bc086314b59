/** Control on a machine's page: taking it, saying who has it, and what became of the inputs. */

import { Problem, sentence, wordsOf } from "../server/api.js";
import { Clipboard } from "./clipboard.js";
import { takeControl } from "./control.js";
import { h, pause, setAttribute, setText } from "../parts/dom.js";
import { Hand } from "./hand.js";
import { Keypad } from "./keypad.js";
import { LEAVING, ownKeyOf } from "./keys.js";
import { giveAllBack, LEASE_SECONDS, takeLease } from "./lease.js";
import { holderLine } from "../parts/old_pieces.js";
import { Losses } from "./losses.js";
import { TextPanel } from "./texts.js";

const LAST_INPUT_MILLISECONDS = 10_000;
/** @type {Scope[]} */
const NEEDED = ["input:send", "machines:control"];

// What cannot be given back then runs out by itself.
addEventListener("pagehide", () => void giveAllBack());

/**
 * The button and the signs above the picture, and what is below it while one is in control.
 * `changed(inControl)` hears when hands come on the picture and off it; `read()` reads the machine
 * anew.
 */
export class ControlBar {
  /** @type {import("./lease.js").Lease | null} */
  #lease = null;
  /** @type {Hand | null} */
  #hand = null;
  /** Ends the hands on the picture alone, before the lease. */
  #hands = new AbortController();
  #isTaking = false;
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
  button = h("button", { type: "button", class: "primary", click: () => this.#toggle() });
  takingOver = h("button", { type: "button", click: () => this.#take(true) }, "Take over");
  sign = h("strong", { class: "sign", role: "status" });
  holder = holderLine();
  told = h("p", { class: "said", role: "status" });
  losses = new Losses();
  /** What became of the inputs, below the picture. */
  outcome = h(
    "div",
    { class: "outcomes" },
    // What is too long for its place is read by scrolling, with the keyboard too.
    h("div", { role: "group", "aria-label": "What became of your inputs", tabindex: "0" }, this.losses.words, this.told),
    this.losses.dismiss,
  );

  /** @param {ControlParts} parts */
  constructor({ machine, scopes, surface, typing, placeOf, touchpad, changed, read, signal }) {
    this.machine = machine;
    this.lacking = NEEDED.filter((scope) => !scopes.includes(scope));
    this.surface = surface;
    this.typing = typing;
    this.placeOf = placeOf;
    this.touchpad = touchpad;
    this.keys = new Keypad(typing, touchpad, (...events) => this.#hand?.send(...events), signal);
    this.changed = changed;
    this.read = read;
    this.signal = signal;
    this.element = h("div", { class: "control-bar" }, this.button, this.takingOver, this.sign, this.holder.element);
    this.mayCopy = scopes.includes("clipboard");
    this.texts = new TextPanel(this.mayCopy);
    this.keypad = this.#keypad();
    signal.addEventListener("abort", () => this.leave());
    this.losses.dismissed = () => (this.#lease ? this.typing : this.surface).focus({ preventScroll: true });
  }

  /** Keys that a browser keeps for itself, and a field for texts. */
  #keypad() {
    return h(
      "div",
      { class: "keypad", hidden: true, keydown: (event) => this.#keyedBelow(event) },
      this.keys.element,
      this.texts.form,
    );
  }

  /**
   * The keyboard is below the picture: Escape puts it back there.
   * @param {KeyboardEvent} event
   */
  #keyedBelow(event) {
    const key = event.key === "Escape" ? "picture" : ownKeyOf(event);
    if (!key) return;
    event.preventDefault();
    if (key === "picture") this.typing.focus({ preventScroll: true });
    else this.#own(key);
  }

  /** @param {OwnKey} key */
  #own(key) {
    if (key === "leave") this.leave();
    else if (key === "copy") this.texts.fetch();
    else this.keypad.querySelector("button")?.focus();
  }

  /**
   * The machine is like this now.
   * @param {Machine} machine
   */
  update(machine) {
    this.machine = machine;
    if (this.#offered && machine.control?.since !== this.#offered.since) {
      // Somebody else has it by now, or nobody: that is another question.
      this.#offered = null;
      this.#words = "";
    }
    this.#check();
    this.#draw();
  }

  /**
   * Whether there is a live picture.
   * @param {boolean} shows
   */
  see(shows) {
    this.#shows = shows;
    this.#draw();
  }

  /** End control where what is known of the machine says so. */
  #check() {
    const { machine } = this;
    const lease = this.#lease;
    if (!lease) return;
    const holder = machine.control;
    if (holder?.since === lease.since && holder.by === lease.by) return;
    if (holder && holder.since > lease.since) lease.lose();
    // That is older than the lease, or nobody has it: the server knows better.
    else void lease.renew();
  }

  #toggle() {
    if (this.#lease) this.leave();
    else void this.#take(false);
  }

  /** @param {boolean} takeOver */
  async #take(takeOver) {
    this.#isTaking = true;
    this.#offered = null;
    this.#words = "";
    this.#tell("", "good");
    this.#draw();
    try {
      await this.#givenBack;
      const lease = await takeLease(this.machine.id, takeOver);
      if (this.signal.aborted || !isThere(this.machine)) void lease.giveBack();
      else this.#begin(lease);
    } catch (error) {
      this.#refused(error);
    } finally {
      this.#isTaking = false;
      this.#draw();
    }
    if (!this.#lease && document.activeElement === document.body) this.button.focus({ preventScroll: true });
  }

  /** @param {import("./lease.js").Lease} lease */
  #begin(lease) {
    this.#lease = lease;
    this.#hands = new AbortController();
    this.#mine = lease.since;
    // Until the server tells the same.
    this.machine.control = { by: lease.by, since: lease.since };
    const hand = new Hand(lease, (words, kind) => this.#tell(words, kind), this.losses);
    this.#hand = hand;
    const clipboard = this.mayCopy ? new Clipboard(lease, this.machine.id, hand, hand.told) : null;
    this.texts.hand = hand;
    this.texts.clipboard = clipboard;
    const signal = AbortSignal.any([this.#hands.signal, lease.signal]);
    takeControl({
      surface: this.surface,
      typing: this.typing,
      placeOf: this.placeOf,
      touchpad: this.touchpad,
      keypad: this.keys,
      hand,
      clipboard,
      own: (key) => this.#own(key),
      signal,
    });
    lease.signal.addEventListener("abort", () => void this.#ended(lease));
    this.#draw();
    this.typing.focus({ preventScroll: true });
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
    this.#letGo();
    if (isGivenBack) return;
    if (!hasRunOut && !this.#takerFrom(lease)) await this.read();
    if (this.#lease || this.#isTaking) return;
    const how = hasRunOut
      ? `it ran out, as it was not renewed for ${LEASE_SECONDS} seconds`
      : `${this.#takerFrom(lease) || "somebody"} took it over`;
    this.#words = `Control has ended: ${how}.`;
    this.#draw();
  }

  /** @param {import("./lease.js").Lease} lease */
  #takerFrom(lease) {
    const holder = this.machine.control;
    return holder && holder.since > lease.since ? holder.by : "";
  }

  /** The person goes: take the hands off, and give control back once the last input is answered. */
  leave() {
    const lease = this.#lease;
    const hand = this.#hand;
    if (!lease || !hand) return;
    this.#handsOff();
    this.#givenBack = giveBack(lease, hand);
    this.button.focus({ preventScroll: true });
  }

  /** The hands come off although the person did not leave; the hand says what that has cost. */
  #letGo() {
    const wasBelow = this.keypad.contains(document.activeElement);
    this.#handsOff();
    // Not to the button: what is being typed would press it.
    if (wasBelow) this.surface.focus({ preventScroll: true });
  }

  #handsOff() {
    this.#hands.abort();
    this.#lease = null;
    this.#hand = null;
    this.texts.hand = null;
    this.texts.clipboard = null;
    this.#draw();
  }

  /** Why nobody, or not this person, can take control now; nothing where they can. */
  #obstacle() {
    if (this.lacking.length) {
      const scopes = `scope${this.lacking.length > 1 ? "s" : ""} ${this.lacking.join(" and ")}`;
      return `Your token lacks the ${scopes}, so you can look only.`;
    }
    if (!isThere(this.machine)) return "Control needs a machine that is online.";
    return this.#shows ? "" : "Control begins with a picture.";
  }

  #draw() {
    const { machine } = this;
    const inControl = this.#lease !== null;
    const obstacle = inControl || this.#isTaking ? "" : this.#obstacle();
    const offer = this.#isTaking ? "Taking control…" : "Take control";
    setText(this.button, inControl ? "Give back" : offer);
    this.button.disabled = this.#isTaking || obstacle !== "";
    setAttribute(this.button, "aria-busy", this.#isTaking);
    this.takingOver.hidden = !this.#offered || inControl || obstacle !== "";
    const words = [this.#words, obstacle].filter(Boolean).join(" ");
    const said = inControl ? `${this.#whereHandsGo()} ${LEAVING} gives it back.` : words;
    setText(this.sign, said);
    setAttribute(this.sign, "title", said);
    this.sign.classList.toggle("quiet", !inControl);
    // What is being given back is still told for a moment.
    this.holder.show(machine.control?.since === this.#mine ? null : machine.control);
    this.keypad.hidden = !inControl;
    if (!inControl) this.keys.unlatch();
    this.touchpad.update(inControl);
    this.changed(inControl);
  }

  /** What one in control may expect; a machine that comes back keeps to the lease. */
  #whereHandsGo() {
    const { machine } = this;
    if (isThere(machine)) return `You are in control of ${machine.name}: mouse and keys go there.`;
    return `You keep control of ${machine.name}, which takes no input now: ${sentence(machine.reason)}`;
  }

  /** @type {(words: string, kind: Kind) => void} */
  #tell(words, kind) {
    setText(this.told, words);
    this.told.dataset.kind = kind;
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
