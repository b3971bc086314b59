/** The picture larger than its stage: by two fingers, by buttons and by keys; what shows is drawn about. */

import { Store } from "../parts/elements.js";

const LARGEST = 8;
const STEP = 1.5;
const KEY_PIXELS = 40;
/** How near to its edge the pointer draws the picture. */
const MARGIN = 40;
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Two fingers are always about the picture.  `fit()` makes it as large as the stage before it is enlarged. */
export class Zoom extends Store {
  scale = 1;
  isPinching = false;
  /** Where the picture is drawn to, from where it would be. */
  #x = 0;
  #y = 0;
  /** Where two fingers were: their middle, and how far apart. */
  #pair = { x: 0, y: 0, apart: 1 };

  /**
   * @param {import("./screen.js").Screen} screen
   * @param {{fit: () => void, isInControl: () => boolean}} how
   */
  constructor(screen, how) {
    super();
    this.screen = screen;
    this.how = how;
  }

  get isLargest() {
    return this.scale >= LARGEST;
  }

  /** Listen to the fingers on the screen's stage, from now on. */
  attach() {
    const { stage, canvas, signal } = this.screen;
    const options = { signal, passive: false };
    for (const type of /** @type {const} */ (["touchstart", "touchend", "touchcancel"]))
      stage.addEventListener(type, this.#touched, options);
    stage.addEventListener("touchmove", this.#pinched, options);
    canvas.addEventListener("keydown", this.#pressed, { signal });
    const watch = new ResizeObserver(() => this.#apply());
    watch.observe(stage);
    signal.addEventListener("abort", () => watch.disconnect());
  }

  reset() {
    if (this.scale === 1) return;
    this.scale = 1;
    this.#settle();
  }

  /** @type {(right: number, down: number) => void} */
  pan(right, down) {
    this.#x += right;
    this.#y += down;
    this.#apply();
  }

  /**
   * Bring a place of the canvas, in parts of its size, into sight.
   * @param {Place} part
   */
  reveal(part) {
    const { stage, canvas } = this.screen;
    const frame = stage.getBoundingClientRect();
    const box = canvas.getBoundingClientRect();
    const right = missing(box.left - frame.left + part.x * box.width, frame.width);
    const down = missing(box.top - frame.top + part.y * box.height, frame.height);
    if (!right && !down) return;
    if (stage.classList.contains("actual")) stage.scrollBy(-right, -down);
    else if (this.scale > 1) this.pan(right, down);
  }

  /** @param {TouchEvent} event */
  #touched = (event) => {
    const pair = pairOf(event);
    const wasPinching = this.isPinching;
    this.isPinching = pair !== null;
    if (pair) {
      keep(event);
      this.#pair = pair;
    } else if (wasPinching) this.#settle();
  };

  /** @param {TouchEvent} event */
  #pinched = (event) => {
    const pair = pairOf(event);
    if (!pair || !this.isPinching) return;
    keep(event);
    const before = this.#pair;
    this.#pair = pair;
    this.#enlarge(pair.apart / before.apart, before);
    this.pan(pair.x - before.x, pair.y - before.y);
  };

  /** @param {KeyboardEvent} event */
  #pressed = (event) => {
    const way = ARROWS[event.key];
    if (!way || this.scale === 1 || this.how.isInControl()) return;
    event.preventDefault();
    this.pan(way[0] * KEY_PIXELS, way[1] * KEY_PIXELS);
  };

  /**
   * A step larger, or smaller.
   * @param {boolean} isLarger
   */
  step(isLarger) {
    const factor = isLarger ? STEP : 1 / STEP;
    const { left, top, width, height } = this.screen.stage.getBoundingClientRect();
    this.#enlarge(factor, { x: left + width / 2, y: top + height / 2 });
    this.#settle();
  }

  /**
   * Enlarge, and keep what is at this place of the window there.
   * @type {(factor: number, at: Place) => void}
   */
  #enlarge(factor, at) {
    const { canvas } = this.screen;
    const before = canvas.getBoundingClientRect();
    this.how.fit();
    const { width, height } = this.#whole();
    if (!width || !height) return;
    const size = (before.width / width) * factor;
    this.scale = size < 1.01 ? 1 : Math.min(size, LARGEST);
    const grown = (this.scale * width) / before.width;
    const after = canvas.getBoundingClientRect();
    this.#x += at.x - (at.x - before.left) * grown - after.left;
    this.#y += at.y - (at.y - before.top) * grown - after.top;
    this.#apply();
  }

  #whole() {
    const { offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height } = this.screen.canvas;
    return { left, top, width, height };
  }

  #settle() {
    this.#apply();
    this.screen.enlarge(this.scale);
  }

  #apply() {
    const { stage, canvas } = this.screen;
    const isLarger = this.scale > 1;
    const { left, top, width, height } = this.#whole();
    this.#x = isLarger ? within(left, this.#x, width * this.scale, stage.clientWidth) : 0;
    this.#y = isLarger ? within(top, this.#y, height * this.scale, stage.clientHeight) : 0;
    stage.classList.toggle("zoomed", isLarger);
    canvas.style.transform = isLarger ? `translate(${this.#x}px, ${this.#y}px) scale(${this.scale})` : "";
    this.tellNow();
  }
}

/**
 * How far a picture may be drawn: no further than its edge, and to the middle where it is smaller.
 * @type {(begin: number, drawn: number, size: number, room: number) => number}
 */
function within(begin, drawn, size, room) {
  const place = size <= room ? (room - size) / 2 : Math.min(0, Math.max(room - size, begin + drawn));
  return place - begin;
}

/**
 * Or the browser would enlarge the page.
 * @param {Event} event
 */
function keep(event) {
  if (event.cancelable) event.preventDefault();
}

/** @type {(place: number, room: number) => number} */
function missing(place, room) {
  const margin = Math.min(MARGIN, room / 4);
  return Math.max(margin - place, 0) + Math.min(room - margin - place, 0);
}

/**
 * The first two fingers on an event's element; null where there is one at most.
 * @param {TouchEvent} event
 */
function pairOf({ targetTouches: [one, other] }) {
  if (!one || !other) return null;
  const apart = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
  return { x: (one.clientX + other.clientX) / 2, y: (one.clientY + other.clientY) / 2, apart: Math.max(apart, 1) };
}
