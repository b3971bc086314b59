/** How a machine's screen is looked at: all of it or one display, larger than its stage, full screen. */

import { html, Store, useStore, valueTo } from "../parts/elements.js";
import { Field, Toggle } from "../parts/pieces.js";

const LARGEST = 8;
const STEP = 1.5;
/** The page's pixels by which a picture that scrolls is beside where it was put. */
const ROUNDED = 2;
/** What is hardly larger is as large as the stage. */
const HARDLY = 1.01;

/** Two fingers are always about the picture; one pointer draws it about where nobody is in control. */
export class Viewing extends Store {
  /** 0 is all of the desktop, and 1 its first display. */
  display = 0;
  displays = /** @type {Region[]} */ ([]);
  /** How much larger than the stage, which scrolls then. */
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

  get isLarger() {
    return this.isActual || this.scale > 1;
  }

  get isFull() {
    return document.fullscreenElement?.contains(this.screen.stage) ?? false;
  }

  /** Listen to the screen's stage, from now on. */
  attach() {
    const { stage, canvas, signal } = this.screen;
    for (const type of /** @type {const} */ (["touchstart", "touchmove", "touchend", "touchcancel"]))
      stage.addEventListener(type, this.#touched, { signal, passive: false });
    canvas.addEventListener("pointerdown", this.#drawn, { signal });
    canvas.addEventListener("pointermove", this.#drawn, { signal });
    document.addEventListener("fullscreenchange", this.#filled, { signal });
    signal.addEventListener("abort", () => this.isFull && void document.exitFullscreen());
  }

  /** @param {Region[]} displays of the machine, now */
  update(displays) {
    // The same ones stay the same objects: another one is looked at anew.
    if (JSON.stringify(displays) === JSON.stringify(this.displays)) return;
    this.displays = displays;
    this.choose(displays.length > this.display ? this.display : 0);
  }

  choose(/** @type {number} */ display) {
    this.display = display;
    this.fit(this.isActual);
  }

  /** As large as the stage, or pixel by pixel. */
  fit(isActual = false) {
    this.#draw(1, isActual);
    this.#settle();
  }

  /** @param {boolean} isLarger by a step, or smaller */
  step(isLarger) {
    const { left, top, width, height } = this.screen.stage.getBoundingClientRect();
    const middle = { x: left + width / 2, y: top + height / 2 };
    const part = this.#partAt(middle);
    this.#enlarge(part.width * (isLarger ? STEP : 1 / STEP), part, middle);
    this.#settle();
  }

  /** What of the page is `.work` fills the screen. */
  toggleFull = async () => {
    if (this.isFull) return document.exitFullscreen();
    await this.screen.stage.closest(".work")?.requestFullscreen();
    this.screen.canvas.focus();
    // Where the browser allows it, its own shortcuts go to the machine as well.
    if (this.isInControl()) await navigator.keyboard?.lock?.().catch(() => {});
  };

  #filled = () => {
    if (!this.isFull) navigator.keyboard?.unlock?.();
    this.tell();
  };

  #touched = (/** @type {TouchEvent} */ event) => {
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

  #drawn = (/** @type {PointerEvent} */ { type, buttons, clientX, clientY, isPrimary }) => {
    if (!isPrimary) return;
    const { x, y } = this.#held;
    this.#held = { x: clientX, y: clientY };
    if (type === "pointerdown" || buttons !== 1 || this.#grip || this.isInControl()) return;
    this.screen.stage.scrollBy(x - clientX, y - clientY);
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

  /** The picture is as large as it will be: that is asked for. */
  #settle() {
    this.#draw(this.scale < HARDLY ? 1 : this.scale, this.isActual);
    const { scale, isActual } = this;
    this.screen.see({ display: this.displays[this.display - 1] ?? null, scale, isActual });
  }

  #draw(/** @type {number} */ scale, isActual = false) {
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

export function ViewingTools(/** @type {{viewing: Viewing}} */ { viewing }) {
  const { displays, display, isFull, isLarger, scale } = useStore(viewing);
  return html`<span class="tools">
    ${displays.length > 1 && html`<${Field} label="Display" inline><select
      value=${display} onChange=${valueTo((value) => viewing.choose(Number(value)))}
    >
      <option value="0">All</option>
      ${displays.map(({ width, height }, at) => html`<option value=${at + 1}>${at + 1}: ${width} × ${height}</option>`)}
    </select><//>`}
    <button type="button" aria-label="Zoom out" disabled=${!isLarger} onClick=${() => viewing.step(false)}>−</button>
    <button type="button" aria-label="Zoom in" disabled=${scale >= LARGEST} onClick=${() => viewing.step(true)}>+</button>
    <button type="button" onClick=${() => viewing.fit(!isLarger)}>${isLarger ? "Fit" : "Actual size"}</button>
    ${document.fullscreenEnabled && html`<${Toggle} isOn=${isFull} click=${viewing.toggleFull}>${isFull ? "Leave full screen" : "Full screen"}<//>`}
  </span>`;
}
