/** What is read from the server for as long as a page shows it. */

import { statusOf } from "../server/api.js";
import { Store } from "./elements.js";

const AGAIN_MILLISECONDS = 3000;

/** `load(signal)` reads, in whatever extends this; what could not be read is read again by itself. */
export class Reading extends Store {
  /** @type {unknown} why it could not be read */
  error = null;
  /** @type {AbortController | null} while it is being read */
  #current = null;
  #timer = 0;

  /** @param {AbortSignal} signal aborted when the page is left */
  constructor(signal) {
    super();
    this.signal = signal;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  get isReading() {
    return this.#current !== null;
  }

  /** @type {(signal: AbortSignal) => Promise<void>} */
  load() {
    return Promise.resolve();
  }

  /** Read it now, in the place of what is being read. */
  read = async () => {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#current?.abort();
    this.#current = new AbortController();
    const signal = AbortSignal.any([this.signal, this.#current.signal]);
    try {
      await this.load(signal);
      this.error = null;
    } catch (error) {
      if (signal.aborted || statusOf(error) === 401) return;
      this.error = error;
      // What the server did not say for good, it may say better soon.
      if ((statusOf(error) || 500) >= 429) this.readIn(AGAIN_MILLISECONDS);
    }
    if (!signal.aborted) this.#current = null;
    this.tell();
  };

  /** @param {number} milliseconds until it is read, unless that is due sooner */
  readIn(milliseconds) {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      // What is on its way is not called off for news, or it might never come.
      if (this.isReading) this.readIn(milliseconds);
      else void this.read();
    }, milliseconds);
  }
}
