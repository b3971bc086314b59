/** The picture as a touchpad: a finger moves the machine's pointer as far as itself, from where that is. */

import { get, path } from "../server/api.js";
import { html, Store, useStore } from "../parts/elements.js";
import { Toggle } from "../parts/pieces.js";
import { styleOf } from "../screen/marks.js";

const DIRECT = "A tap clicks where you touch, a long one with the right button; a finger that moves drags. Two fingers zoom.";
const DRAGGED =
  "A finger moves the pointer; a tap clicks where that is, a long one with the right button; tap and move drags. " +
  "Two fingers zoom.";

/** Remembered while the page is open, for all machines. */
let isOn = false;

/** Whether it is one, and where the pointer is. */
export class Touchpad extends Store {
  /** @type {Place | null} where the machine's pointer is; null until that is known */
  place = null;
  /** Parts of the machine's pixels that are not moved yet. */
  #rest = { x: 0, y: 0 };
  #isAsking = false;
  #isInControl = false;

  constructor(/** @type {import("../screen/screen.js").Screen} */ screen) {
    super();
    this.screen = screen;
  }

  get isOn() {
    return isOn;
  }

  update(/** @type {boolean} */ isInControl) {
    if (isInControl === this.#isInControl) return;
    this.#isInControl = isInControl;
    // Somebody else may have moved it.
    this.place = null;
    this.tell();
  }

  /** Ask where the pointer is; where nobody says, it is in the middle. */
  async find() {
    if (this.place || this.#isAsking) return;
    this.#isAsking = true;
    const asking = get(path`/v1/computer/${this.screen.machineId}/input/mouse/position`);
    const there = /** @type {Place | null} */ (await asking.catch(() => null));
    const { region } = this.screen;
    this.place ??= there ?? (region && { x: region.x + (region.width >> 1), y: region.y + (region.height >> 1) });
    this.#isAsking = false;
    this.tell();
  }

  /** @type {(right: number, down: number) => Place | null} so many of the page's pixels from the last place */
  moved(right, down) {
    const { region, canvas } = this.screen;
    if (!this.place || !region) return null;
    const size = region.width / canvas.getBoundingClientRect().width;
    const x = this.#along("x", right * size, region.x, region.width);
    return { x, y: this.#along("y", down * size, region.y, region.height) };
  }

  /** @type {(axis: "x" | "y", by: number, begin: number, size: number) => number} */
  #along(axis, by, begin, size) {
    const wanted = (this.place?.[axis] ?? begin) + this.#rest[axis] + by;
    const place = Math.min(Math.max(Math.floor(wanted), begin), begin + size - 1);
    // What is beyond the edge is not moved back first.
    this.#rest[axis] = Math.floor(wanted) === place ? wanted - place : 0;
    return place;
  }

  at(/** @type {Place} */ place) {
    this.place = { x: place.x, y: place.y };
    if (isOn) this.tellNow();
  }

  /** Where it is larger than its stage, the picture follows the pointer. */
  follow() {
    if (this.place) this.screen.reveal(this.place);
  }

  /** Where to show the pointer on the picture at once: that itself shows it a moment later. */
  get shownAt() {
    return isOn && this.#isInControl && this.place ? this.screen.partOf(this.place) : null;
  }

  toggle() {
    isOn = !isOn;
    if (isOn) void this.find();
    this.tell();
  }
}

export function PointerOver(/** @type {{touchpad: Touchpad}} */ { touchpad }) {
  useStore(touchpad.screen);
  const at = useStore(touchpad).shownAt;
  return html`<span class="pointer" hidden=${!at} style=${at && styleOf(at)}></span>`;
}

export function TouchpadButton(/** @type {{touchpad: Touchpad}} */ { touchpad }) {
  const { isOn: isPad } = useStore(touchpad);
  return html`<${Toggle} isOn=${isPad} class="for-touch" aria-describedby="touch-hint" click=${() => touchpad.toggle()}>Touchpad<//>`;
}

export const TouchHint = (/** @type {{touchpad: Touchpad}} */ { touchpad }) =>
  html`<p class="small for-touch" id="touch-hint">${useStore(touchpad).isOn ? DRAGGED : DIRECT}</p>`;
