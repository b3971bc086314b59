/** What keyboards write into a field instead of telling keys: those of phones, and input methods. */

import { strokesOf } from "./keys.js";
import { typed } from "./text_panel.js";

/** So that a phone's keyboard has something to take back: it tells nothing else of that. */
const FILLED = "_".repeat(50);
const LONGEST = 250;

/**
 * A phone's keyboard composes every word: what it makes and takes back goes to the machine as it happens.
 * An input method's text goes there once it is chosen.
 */
export class Typed {
  /** What of the field the machine has. */
  #known = "";

  constructor(/** @type {Pick<Hands, "typing" | "latches" | "hand">} */ { typing, latches, hand }) {
    this.field = typing;
    this.latches = latches;
    this.hand = hand;
    this.forget();
  }

  changed(/** @type {boolean} */ isComposing) {
    if (isComposing && !this.#isPhone) return;
    const before = Array.from(this.#known);
    const now = Array.from(this.field.value);
    this.#known = this.field.value;
    let same = 0;
    while (same < before.length && before[same] === now[same]) same += 1;
    for (let left = before.length - same; left > 0; left -= 1) this.hand.send(...strokesOf("backspace"));
    const text = now.slice(same).join("");
    const latched = now.length === same + 1 && text !== "\n" ? this.latches.typed(text) : null;
    this.hand.send(...(latched ?? typed(text)));
    const { length } = this.#known;
    if (!isComposing && (!this.#isPhone || length < FILLED.length / 2 || length > LONGEST)) this.forget();
  }

  get #isPhone() {
    return this.field.inputMode === "text";
  }

  /** The machine's cursor may be elsewhere. */
  forget() {
    this.#known = this.#isPhone ? FILLED : "";
    if (this.field.value !== this.#known) this.field.value = this.#known;
  }
}
