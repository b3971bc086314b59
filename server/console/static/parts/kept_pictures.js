/** Pictures that were decoded lately or soon will be asked for, so that they can be shown at once. */

import { readPicture } from "./picture.js";

/** Decoded, each takes 4 bytes a pixel. */
const MOST_PIXELS = 32_000_000;

/** @typedef {{picture: Promise<ImageBitmap>, leaving: AbortController, pixels: number}} Kept */

/** @type {Promise<unknown>} over once all is decoded that is soon to be asked for */
let preparing = Promise.resolve();

/** Whatever is less pressing waits for this. */
export const untilPrepared = () => preparing;

export class KeptPictures {
  /** @type {Map<string, Kept>} by what they are read from, the latest last; of what is not decoded there are no pixels */
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
    return found.picture;
  };

  /** @type {(sources: string[]) => Promise<void>} read them one after another, the first first, and nothing else any more */
  prepare(sources) {
    this.#near = sources;
    for (const [source, { pixels }] of this.#kept) if (!pixels && !sources.includes(source)) this.#drop(source);
    const all = this.#prepare(sources);
    preparing = all;
    return all;
  }

  /** @type {(sources: string[]) => Promise<void>} */
  async #prepare(sources) {
    let pixels = 0;
    for (const source of sources) {
      const { width, height } = (await this.read(source).catch(() => null)) ?? { width: 0, height: 0 };
      pixels += width * height;
      // Another one as large would be in the place of one that is asked for sooner.
      if (this.#near !== sources || pixels + width * height > MOST_PIXELS) return;
    }
  }

  /** @type {(source: string) => Kept} */
  #begun(source) {
    const leaving = new AbortController();
    const begun = { picture: readPicture(source, leaving.signal), leaving, pixels: 0 };
    const came = (/** @type {ImageBitmap} */ { width, height }) => {
      begun.pixels = width * height;
      this.#dropOldest(begun);
    };
    begun.picture.then(came, () => this.#kept.get(source) === begun && this.#kept.delete(source));
    return begun;
  }

  #dropOldest(/** @type {Kept} */ latest) {
    let total = [...this.#kept.values()].reduce((sum, { pixels }) => sum + pixels, 0);
    for (const [source, each] of this.#kept) {
      if (total <= MOST_PIXELS) return;
      if (each === latest || !each.pixels) continue;
      total -= each.pixels;
      this.#drop(source);
    }
  }

  #drop(/** @type {string} */ source) {
    const dropped = this.#kept.get(source);
    this.#kept.delete(source);
    dropped?.leaving.abort();
    dropped?.picture.then((picture) => picture.close(), () => null);
  }
}
