/** What is under the pointer, as the machine's programs tell of it: drawn on the picture, with the selector that finds it again. */

import { html, Store, useStore } from "../parts/elements.js";
import { CommandLine } from "../parts/pieces.js";
import { get, nameOf, path, query, wordsOf } from "../server/api.js";

/** How long the pointer rests before it is asked what is there: on its way to a button it does not. */
const REST_MILLISECONDS = 150;
/** So many that lie one in another are asked for; the innermost is often the text on a button. */
const MOST = 8;
const HINT = "Point at something in the picture.";
const NOTHING = "No program says what is there.";

export class Inspecting extends Store {
  isOn = false;
  /** @type {DesktopElement | null} */
  found = null;
  words = HINT;
  #timer = 0;
  #asking = new AbortController();

  constructor(/** @type {{machineId: string, screen: import("./screen.js").Screen}} */ { machineId, screen }) {
    super();
    this.address = path`/v1/computer/${machineId}/elements`;
    this.screen = screen;
    screen.signal.addEventListener("abort", () => this.#turn(false));
  }

  /** Listen to the picture, from now on. */
  attach() {
    const { canvas, signal } = this.screen;
    canvas.addEventListener("pointermove", this.#moved, { signal });
    canvas.addEventListener("pointerleave", () => clearTimeout(this.#timer), { signal });
  }

  toggle = () => this.#turn(!this.isOn);

  #turn(/** @type {boolean} */ isOn) {
    clearTimeout(this.#timer);
    this.#asking.abort();
    this.isOn = isOn;
    this.#show(null, HINT);
  }

  #moved = (/** @type {PointerEvent} */ event) => {
    clearTimeout(this.#timer);
    const place = this.isOn && this.screen.placeOf(event);
    if (place) this.#timer = setTimeout(() => void this.#ask(place), REST_MILLISECONDS);
  };

  async #ask(/** @type {Place} */ { x, y }) {
    this.#asking.abort();
    this.#asking = new AbortController();
    const signal = AbortSignal.any([this.#asking.signal, this.screen.signal]);
    try {
      const there = /** @type {{items: DesktopElement[]}} */ (await get(query(this.address, { at: `${x},${y}`, limit: MOST }), signal));
      this.#show(meantOf(there.items), NOTHING);
    } catch (error) {
      if (nameOf(error) !== "AbortError") this.#show(null, wordsOf(error));
    }
  }

  #show(/** @type {DesktopElement | null} */ found, /** @type {string} */ words) {
    Object.assign(this, { found, words });
    this.tellNow();
  }
}

/** @param {DesktopElement[]} there the innermost first: the one that a person would mean, which can mostly have the keyboard */
export const meantOf = (there) =>
  there.find(({ states }) => states.includes("focusable")) ?? there.find(({ name }) => name) ?? there[0] ?? null;

/** Where the element is, over the picture. */
export function FoundOver(/** @type {{inspecting: Inspecting}} */ { inspecting }) {
  const { found, screen } = useStore(inspecting);
  return html`<div class="marks" aria-hidden="true">
    ${found?.bounds && screen.region && html`<span class="found" style=${styleOf(found.bounds, screen.region)}></span>`}
  </div>`;
}

/** @type {(bounds: Region, shown: Region) => Record<string, string>} where a part of the desktop is in what is shown of it */
const styleOf = (bounds, shown) => ({
  left: `${((bounds.x - shown.x) / shown.width) * 100}%`,
  top: `${((bounds.y - shown.y) / shown.height) * 100}%`,
  width: `${(bounds.width / shown.width) * 100}%`,
  height: `${(bounds.height / shown.height) * 100}%`,
});

/** What it is, below the picture. */
export function FoundBelow(/** @type {{inspecting: Inspecting}} */ { inspecting }) {
  const { found, words } = useStore(inspecting);
  if (!found) return html`<div class="outcomes"><p role="status">${words}</p></div>`;
  const { role, name, selector } = found;
  return html`<div class="outcomes">
    <p class="told" role="status">${role} <strong dir="auto" title=${name}>${name}</strong></p>
    <${CommandLine} text=${JSON.stringify(selector)} label="Copy selector" />
  </div>`;
}
