/** The clipboard of a machine one has control of, and one's own. */

import { call, path, wordsOf } from "../server/api.js";
import { pause } from "../parts/waiting.js";
import { strokesOf } from "./keys.js";

const CONTROL = "Farhand-Control";
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
  /**
   * Ends the waiting of the hand for what is pasted.
   * @type {Resume | null}
   */
  #resume = null;
  /** @type {KeyEvent[]} */
  #strokes = [];
  #timer = 0;

  /**
   * @param {import("./lease.js").Lease} lease
   * @param {string} machineId
   * @param {import("./hand.js").Hand} hand
   * @param {(sentence: string, kind: Kind) => void} told
   */
  constructor(lease, machineId, hand, told) {
    this.lease = lease;
    this.address = path`/v1/computer/${machineId}/clipboard`;
    this.hand = hand;
    this.told = told;
    const { signal } = lease;
    const elsewhere = () => {
      this.#mayBeNewer = true;
    };
    addEventListener("blur", elsewhere, { signal });
    document.addEventListener("visibilitychange", elsewhere, { signal });
    document.addEventListener("copy", elsewhere, { signal });
    document.addEventListener("cut", elsewhere, { signal });
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** The person copies something on the machine, which is newer than what they have. */
  copiesThere() {
    this.#mayBeNewer = false;
  }

  /** Whether what the person has may be newer than what was copied on the machine. */
  get mayBeNewer() {
    return this.#mayBeNewer && !this.#resume;
  }

  /**
   * The browser is about to say what is pasted, to `paste`.  The keys for it, and all that is done
   * meanwhile, wait.
   * @param {string} chord
   * @param {KeyEvent[]} released what goes up at once, as the keys are pressed anew then
   */
  expect(chord, released) {
    this.#mayBeNewer = false;
    this.#strokes = strokesOf(chord);
    this.hand.send(...released);
    this.#resume = this.hand.hold();
    this.#timer = setTimeout(() => this.#go(), PASTE_MILLISECONDS);
  }

  /**
   * This is pasted; without keys before it where the browser's own menu was used.
   * @param {string} text
   */
  async paste(text) {
    clearTimeout(this.#timer);
    if (!this.#resume) {
      this.#strokes = strokesOf("ctrl+v");
      this.#resume = this.hand.hold();
    }
    if (!text || text === this.#shared) {
      this.#go();
      return;
    }
    const slow = setTimeout(() => this.told("Copying to the machine…", "waits"), SLOW_MILLISECONDS);
    try {
      await this.put(text);
      this.told("", "good");
      this.#go();
    } catch (error) {
      this.#go(`What you copied did not reach the machine. ${wordsOf(error)}`);
    } finally {
      clearTimeout(slow);
    }
  }

  /**
   * Copy a text to the machine.  Throws a Problem where it was refused.
   * @param {string} text
   */
  async put(text) {
    if (new Blob([text]).size > MOST_BYTES) throw new Error("A clipboard takes 1 MiB at most.");
    const { id, signal } = this.lease;
    await call("PUT", this.address, { body: { text }, headers: { [CONTROL]: id }, signal });
    this.#shared = text;
  }

  /** What was copied on the machine, after all that was done there.  Throws a Problem. */
  async get() {
    await Promise.race([this.hand.settled(), pause(SLOW_MILLISECONDS)]);
    /** @type {Answer<ClipboardText>} */
    const { data } = await call("GET", this.address, { signal: this.lease.signal });
    return data.text;
  }

  /**
   * Copy what was copied on the machine: the text, and whether the browser has let it in.
   */
  async fetch() {
    const reading = this.get();
    const isCopied = await copyHere(reading);
    const text = await reading;
    if (isCopied) this.#shared = text;
    return { text, isCopied };
  }

  /** Go on, with the keys that paste; with words, say why without them. */
  #go(words = "") {
    const resume = this.#resume;
    this.#resume = null;
    resume?.(this.#strokes.splice(0), words);
  }
}

/**
 * Put a text that is to come into this computer's clipboard; whether the browser allows that.  It is
 * asked at once, as it allows that only just after a key or a click.
 * @param {Promise<string>} reading
 */
async function copyHere(reading) {
  // Neither is there on a page that came over plain HTTP.
  if (!navigator.clipboard || !window.ClipboardItem) return false;
  const blob = reading.then((text) => new Blob([text], { type: "text/plain" }));
  try {
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    return true;
  } catch {
    return false;
  }
}
