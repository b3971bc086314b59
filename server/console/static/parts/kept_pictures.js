/** Pictures that were decoded lately or soon will be asked for, so that they can be shown at once. */

import { readPicture } from "./picture.js";

/** Decoded, each takes 4 bytes a pixel. */
const MOST = 12;

/** @typedef {{picture: Promise<ImageBitmap>, leaving: AbortController, isRead: boolean}} Kept */

export class KeptPictures {
  /** @type {Map<string, Kept>} by what they are read from, the latest last */
  #kept = new Map();
  /** What is to be there soon. */
  #near = /** @type {string[]} */ ([]);

  constructor(/** @type {AbortSignal} */ signal) {
    signal.addEventListener("abort", () => {
      this.#near = [];
      for (const source of this.#kept.keys()) this.#drop(source);
    });
  }

  /** @type {(source: string) => Promise<ImageBitmap>} which stays this object's, and is closed by it */
  read = (source) => {
    const found = this.#kept.get(source) ?? this.#begun(source);
    this.#kept.delete(source);
    this.#kept.set(source, found);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST) break;
      this.#drop(oldest);
    }
    return found.picture;
  };

  /** @type {(sources: string[]) => Promise<void>} read them one after another, the first first, and nothing else any more */
  async prepare(sources) {
    this.#near = sources;
    for (const [source, { isRead }] of this.#kept) if (!isRead && !sources.includes(source)) this.#drop(source);
    for (const source of sources) {
      await this.read(source).catch(() => null);
      if (this.#near !== sources) return;
    }
  }

  /** @type {(source: string) => Kept} */
  #begun(source) {
    const leaving = new AbortController();
    const begun = { picture: readPicture(source, leaving.signal), leaving, isRead: false };
    begun.picture.then(
      () => (begun.isRead = true),
      () => this.#kept.get(source) === begun && this.#kept.delete(source),
    );
    return begun;
  }

  #drop(/** @type {string} */ source) {
    const dropped = this.#kept.get(source);
    this.#kept.delete(source);
    dropped?.leaving.abort();
    dropped?.picture.then((picture) => picture.close(), () => null);
  }
}
