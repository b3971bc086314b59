/** The picture larger than its stage, which scrolls then: by two fingers, by buttons, pixel by pixel. */

import { Store } from "../parts/elements.js";

const LARGEST = 8;
const STEP = 1.5;
/** The page's pixels by which a picture that scrolls is beside where it was put. */
const ROUNDED = 2;
/** What is hardly larger is as large as the stage. */
const HARDLY = 1.01;
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-40, 0], ArrowRight: [40, 0], ArrowUp: [0, -40], ArrowDown: [0, 40] };

/**
 * Two fingers are always about the picture; one pointer draws it about where nobody is in control.
 * Whatever extends this does in `settled()` what is to be done with another size.
 */
export class Zoom extends Store {
  /** How much larger than the stage. */
  scale = 1;
  /** Whether a pixel of the desktop is one of the page instead. */
  isActual = false;
  /** @type {Grip | null} of two fingers */
  #grip = null;
  /** Where the pointer was. */
  #held = { x: 0, y: 0 };

  /** @param {{screen: import("./screen.js").Screen, isInControl: () => boolean}} parts */
  constructor({ screen, isInControl }) {
    super();
    this.screen = screen;
    this.isInControl = isInControl;
  }

  settled() {}

  get isLarger() {
    return this.isActual || this.scale > 1;
  }

  get isLargest() {
    return this.scale >= LARGEST;
  }

  /** Listen to the fingers on the screen's stage, from now on. */
  attach() {
    const { stage, canvas, signal } = this.screen;
    for (const type of /** @type {const} */ (["touchstart", "touchmove", "touchend", "touchcancel"]))
      stage.addEventListener(type, this.#touched, { signal, passive: false });
    canvas.addEventListener("pointerdown", this.#drawn, { signal });
    canvas.addEventListener("pointermove", this.#drawn, { signal });
    canvas.addEventListener("keydown", this.#pressed, { signal });
  }

  /** As large as the stage, or pixel by pixel. */
  fit(isActual = false) {
    this.#draw(1, isActual);
    this.settled();
  }

  /** @param {boolean} isLarger by a step, or smaller */
  step(isLarger) {
    const { left, top, width, height } = this.screen.stage.getBoundingClientRect();
    const middle = { x: left + width / 2, y: top + height / 2 };
    const part = this.#partAt(middle);
    this.#enlarge(part.width * (isLarger ? STEP : 1 / STEP), part, middle);
    this.#settle();
  }

  /** @param {TouchEvent} event */
  #touched = (event) => {
    const pair = pairOf(event);
    if (!pair) {
      if (this.#grip) this.#settle();
      this.#grip = null;
      return;
    }
    // Or the browser would enlarge the page.
    if (event.cancelable) event.preventDefault();
    const grip = event.type === "touchmove" ? this.#grip : null;
    const width = grip ? (grip.width * pair.apart) / grip.apart : 0;
    if (grip) this.#enlarge(width, grip, pair);
    const now = this.#partAt(pair);
    const isBeside = !grip || Math.hypot(now.x - grip.x, now.y - grip.y) * now.width > ROUNDED;
    // What the picture could not follow need not be taken back first.
    if (isBeside || Math.abs(now.width - width) > ROUNDED) this.#grip = { ...now, apart: pair.apart };
  };

  /** @param {PointerEvent} event */
  #drawn = ({ type, buttons, clientX, clientY, isPrimary }) => {
    if (!isPrimary) return;
    const { x, y } = this.#held;
    this.#held = { x: clientX, y: clientY };
    if (type === "pointerdown" || buttons !== 1 || this.#grip || this.isInControl()) return;
    this.screen.stage.scrollBy(x - clientX, y - clientY);
  };

  /** @param {KeyboardEvent} event */
  #pressed = (event) => {
    const way = ARROWS[event.key];
    if (!way || !this.isLarger) return;
    event.preventDefault();
    this.screen.stage.scrollBy(...way);
  };

  /** @param {Place} place of the window: which part of the picture is there, and how wide all of it is */
  #partAt({ x, y }) {
    const { left, top, width, height } = this.screen.canvas.getBoundingClientRect();
    return { x: (x - left) / width, y: (y - top) / height, width };
  }

  /** @type {(width: number, part: Place, at: Place) => void} so wide, and a part of it at this place of the window */
  #enlarge(width, part, at) {
    const { stage, canvas } = this.screen;
    if (this.isActual) this.#draw(1);
    const fitted = canvas.getBoundingClientRect().width / this.scale;
    this.#draw(Math.min(Math.max(width / fitted, 1), LARGEST));
    const box = canvas.getBoundingClientRect();
    stage.scrollBy(box.left + part.x * box.width - at.x, box.top + part.y * box.height - at.y);
  }

  #settle() {
    this.#draw(this.scale < HARDLY ? 1 : this.scale, this.isActual);
    this.settled();
  }

  /** @param {number} scale */
  #draw(scale, isActual = false) {
    this.scale = scale;
    this.isActual = isActual;
    const { classList, style } = this.screen.stage;
    classList.toggle("larger", this.isLarger);
    classList.toggle("actual", isActual);
    style.setProperty("--zoom", String(scale));
    this.tellNow();
  }
}

/** @param {TouchEvent} event of two fingers at least: their middle, and how far apart they are */
function pairOf({ targetTouches: [one, other] }) {
  if (!one || !other) return null;
  const apart = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
  return { x: (one.clientX + other.clientX) / 2, y: (one.clientY + other.clientY) / 2, apart: Math.max(apart, 1) };
}
