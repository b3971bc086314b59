/** What is read from the server for as long as a page shows it. */

import { statusOf } from "../server/api.js";
import { Store } from "./elements.js";

export const AGAIN_MILLISECONDS = 3000;

/** `load()` reads, in whatever extends this; what could not be read is read again by itself. */
export class Reading extends Store {
  /** @type {unknown} why it could not be read */
  error = null;
  /** Aborted when what is on its way is not wanted any more. */
  loading = AbortSignal.abort();
  /** @type {AbortController | null} while it is being read */
  #current = null;
  /** @type {Map<string, () => void>} what is told meanwhile, by what it is of */
  #told = new Map();
  #timer = 0;
  #dueAt = Infinity;

  /** @param {Watched} page read at once, and again when everything has to be, until the signal is aborted */
  constructor({ events, signal }) {
    super();
    this.signal = signal;
    events.on("reset", () => this.reset(), signal);
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
    // Once all of it is made.
    queueMicrotask(() => void this.read());
  }

  get isReading() {
    return this.#current !== null;
  }

  /** @returns {Promise<void>} */
  load() {
    return Promise.resolve();
  }

  /** What happened since it was read is not known. */
  reset() {
    void this.read();
  }

  /** Read it as well as before: not while it is being read, nor where the server has said that it will not do. */
  keepUp() {
    const status = statusOf(this.error) ?? 0;
    if (!this.isReading && (status < 400 || status >= 500)) void this.read();
  }

  /** Read it now, in the place of what is being read. */
  read = () => {
    clearTimeout(this.#timer);
    this.#timer = 0;
    return this.readMore();
  };

  /** Read more of it now: what is due is read all the same. */
  readMore = async () => {
    this.#told.clear();
    this.#current?.abort();
    this.#current = new AbortController();
    const signal = AbortSignal.any([this.signal, this.#current.signal]);
    this.loading = signal;
    try {
      await this.load();
      this.error = null;
      for (const change of this.#told.values()) change();
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
    const dueAt = performance.now() + milliseconds;
    if (this.#timer && this.#dueAt <= dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      // What is on its way is not called off for news, or it might never come.
      if (this.isReading) this.readIn(milliseconds);
      else void this.read();
    }, milliseconds);
  }

  /**
   * Change what is told of one thing, and once more where it is being read: that is older.
   * @type {(id: string, change: () => void) => void}
   */
  hear(id, change) {
    if (this.isReading) this.#told.set(id, change);
    change();
    this.tell();
  }
}
