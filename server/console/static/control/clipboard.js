/** The clipboard of a machine one has control of, and one's own. */

import { call, get, path, wordsOf } from "../server/api.js";
import { isCopying, pastingOf, strokesOf } from "./keys.js";

const MOST_BYTES = 1024 * 1024;
/** How long a browser takes at most from the key that pastes to what is pasted. */
const PASTE_MILLISECONDS = 500;
const SLOW_MILLISECONDS = 1000;

/**
 * What was copied last is what Ctrl+V pastes: on the machine, unless the person has been elsewhere
 * since and may have copied something there, which then goes to the machine first.
 */
export class Clipboard {
  #mayBeNewer = true;
  /** The text that was the same on both sides last. */
  #shared = "";
  /** @type {((words?: string) => void) | null} ends the waiting of the hand for what is pasted */
  #resume = null;
  #timer = 0;

  constructor(/** @type {{hand: import("./hand.js").Hand, machineId: string}} */ { hand, machineId }) {
    this.hand = hand;
    this.lease = hand.lease;
    this.address = path`/v1/computer/${machineId}/clipboard`;
    const { signal } = this.lease;
    const elsewhere = () => {
      this.#mayBeNewer = true;
    };
    for (const type of ["blur", "visibilitychange", "copy", "cut"]) addEventListener(type, elsewhere, { signal });
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /**
   * A key goes down: whether the browser goes on to say what is pasted, to `paste`.  Then the keys for
   * it, and all that is done meanwhile, wait.
   * @type {(event: KeyboardEvent, keys: import("./keys.js").Keys) => boolean}
   */
  waitsFor(event, keys) {
    if (event.repeat) return false;
    // What the person copies there is newer than what they have.
    if (isCopying(event)) this.#mayBeNewer = false;
    const chord = pastingOf(event, keys.isMac);
    if (chord === null || !this.#mayBeNewer || this.#resume) return false;
    this.#mayBeNewer = false;
    // They are pressed anew then.
    this.hand.send(...keys.release());
    this.#resume = this.hand.hold(strokesOf(chord));
    this.#timer = setTimeout(() => this.#go(), PASTE_MILLISECONDS);
    return true;
  }

  /** @param {string} text that is pasted; without keys before it where the browser's own menu was used */
  async paste(text) {
    clearTimeout(this.#timer);
    this.#resume ??= this.hand.hold(strokesOf("ctrl+v"));
    if (!text || text === this.#shared) {
      this.#go();
      return;
    }
    const { outcome } = this.hand;
    const slow = setTimeout(() => outcome.say("Copying to the machine…", "waits"), SLOW_MILLISECONDS);
    try {
      await this.put(text);
      outcome.say("");
      this.#go();
    } catch (error) {
      if (!this.lease.signal.aborted) this.#go(`What you copied did not reach the machine. ${wordsOf(error)}`);
    } finally {
      clearTimeout(slow);
    }
  }

  /** @param {string} text to be copied to the machine; throws a Problem where it was refused */
  async put(text) {
    if (new Blob([text]).size > MOST_BYTES) throw new Error("A clipboard takes 1 MiB at most.");
    const { id, signal } = this.lease;
    await call("PUT", this.address, { body: { text }, headers: { "Farhand-Control": id }, signal });
    this.#shared = text;
  }

  /** Copy what was copied on the machine: the text, and whether the browser has let it in.  Throws a Problem. */
  async fetch() {
    const reading = this.#read();
    const blob = () => reading.then((text) => new Blob([text], { type: "text/plain" }));
    let isCopied = true;
    try {
      // At once: a browser allows it only just after a key or a click, and never where the page came over plain HTTP.
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob() })]);
    } catch {
      isCopied = false;
    }
    const text = await reading;
    if (isCopied) this.#shared = text;
    return { text, isCopied };
  }

  /** What was copied there, after all that was done. */
  async #read() {
    await this.hand.settled(SLOW_MILLISECONDS);
    const { text } = /** @type {ClipboardText} */ (await get(this.address, this.lease.signal));
    return text;
  }

  /** Go on, with the keys that paste; with words, say why without them. */
  #go(words = "") {
    const resume = this.#resume;
    this.#resume = null;
    resume?.(words);
  }
}
