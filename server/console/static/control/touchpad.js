/** The picture as a touchpad: a finger moves the machine's pointer as far as itself, from where that is. */

import { call, path } from "../server/api.js";
import { html, Store, useStore } from "../parts/elements.js";

const DIRECT = "A tap clicks where you touch, a long one with the right button; a finger that moves drags. Two fingers zoom.";
const DRAGGED =
  "A finger moves the pointer; a tap clicks where that is, a long one with the right button; tap and move drags. Two fingers zoom.";

/** Remembered while the page is open, for all machines. */
let isOn = false;

/** Whether it is one, and where the pointer is. */
export class Touchpad extends Store {
  /**
   * Where the machine's pointer is; null until that is known.
   * @type {Place | null}
   */
  place = null;
  /** Parts of the machine's pixels that are not moved yet. */
  #rest = { x: 0, y: 0 };
  /** @type {Promise<void> | null} */
  #asking = null;
  #isInControl = false;

  /**
   * @param {import("../screen/screen.js").Screen} screen
   * @param {string} machineId
   * @param {(part: Place) => void} reveal brings a place of the picture into sight
   */
  constructor(screen, machineId, reveal) {
    super();
    this.screen = screen;
    this.machineId = machineId;
    this.reveal = reveal;
  }

  get isOn() {
    return isOn;
  }

  /** @param {boolean} isInControl */
  update(isInControl) {
    if (isInControl === this.#isInControl) return;
    this.#isInControl = isInControl;
    // Somebody else may have moved it.
    this.place = null;
    this.tell();
  }

  /** Ask where the pointer is; where nobody says, it is in the middle. */
  async find() {
    if (this.place) return;
    this.#asking ??= this.#ask();
    await this.#asking;
    this.#asking = null;
  }

  async #ask() {
    const { machineId } = this;
    /** @type {Place | null} */
    let found = null;
    try {
      /** @type {Answer<Point>} */
      const { data } = await call("GET", path`/v1/computer/${machineId}/input/mouse/position`);
      found = data;
    } catch {
      // Whoever may not ask begins in the middle.
    }
    const { region } = this.screen;
    const middle = region && { x: region.x + (region.width >> 1), y: region.y + (region.height >> 1) };
    this.place ??= found ?? middle;
    this.tell();
  }

  /**
   * The place that is so many of the page's pixels from the last one.
   * @type {(right: number, down: number) => Place | null}
   */
  moved(right, down) {
    const { region, canvas } = this.screen;
    if (!this.place || !region) return null;
    const size = region.width / canvas.getBoundingClientRect().width;
    const x = this.#along("x", right * size, region.x, region.width);
    const y = this.#along("y", down * size, region.y, region.height);
    return { x, y };
  }

  /** @type {(axis: "x" | "y", by: number, begin: number, size: number) => number} */
  #along(axis, by, begin, size) {
    const wanted = (this.place?.[axis] ?? begin) + this.#rest[axis] + by;
    const place = Math.min(Math.max(Math.floor(wanted), begin), begin + size - 1);
    // What is beyond the edge is not moved back first.
    this.#rest[axis] = Math.floor(wanted) === place ? wanted - place : 0;
    return place;
  }

  /** @param {Place} place */
  at(place) {
    this.place = { x: place.x, y: place.y };
    if (isOn) this.tellNow();
  }

  /** Where it is larger than its stage, the picture follows the pointer. */
  follow() {
    const part = this.place && this.screen.partOf(this.place);
    if (part) this.reveal(part);
  }

  /** Where to show the pointer on the stage at once: the picture shows it a moment later. */
  get shownAt() {
    return isOn && this.#isInControl && this.place ? this.screen.onStage(this.place) : null;
  }

  toggle() {
    isOn = !isOn;
    if (isOn) void this.find();
    this.tell();
  }
}

/** @param {{touchpad: Touchpad}} properties */
export function PointerOver({ touchpad }) {
  const at = useStore(touchpad).shownAt;
  return html`<span class="pointer" hidden=${!at} style=${at && { left: `${at.x}px`, top: `${at.y}px` }}></span>`;
}

/** @param {{touchpad: Touchpad}} properties */
export function TouchpadButton({ touchpad }) {
  const pressed = String(useStore(touchpad).isOn);
  return html`<button type="button" class="for-touch" aria-pressed=${pressed} aria-describedby="touch-hint" onClick=${() => touchpad.toggle()}>
    Touchpad
  </button>`;
}

/** @param {{touchpad: Touchpad}} properties */
export function TouchHint({ touchpad }) {
  return html`<p class="small for-touch" id="touch-hint">${useStore(touchpad).isOn ? DRAGGED : DIRECT}</p>`;
}
