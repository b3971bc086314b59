/** How a machine's screen is looked at: all of it or one display, fitted or pixel by pixel, full screen. */

import { html, Store, useStore } from "../parts/elements.js";
import { Field } from "../parts/pieces.js";
import { Zoom } from "./zoom.js";

/** What is chosen; what of the page is `.work` fills the screen. */
export class Viewing extends Store {
  isActual = false;
  /** 0 is all of the desktop, and 1 its first display. */
  display = 0;
  /** @type {Region[]} */
  displays = [];
  /** Where the pointer took hold of a picture that is larger than its stage. */
  #held = { x: 0, y: 0 };

  /**
   * @param {import("./screen.js").Screen} screen
   * @param {() => boolean} isInControl
   */
  constructor(screen, isInControl) {
    super();
    this.screen = screen;
    this.isInControl = isInControl;
    this.zoom = new Zoom(screen, { fit: () => this.#fit(), isInControl });
    this.zoom.addEventListener("change", () => this.tellNow());
  }

  attach() {
    const { canvas, signal } = this.screen;
    this.zoom.attach();
    document.addEventListener("fullscreenchange", () => this.#filled(), { signal });
    canvas.addEventListener("pointerdown", this.#hold, { signal });
    canvas.addEventListener("pointermove", this.#pan, { signal });
    signal.addEventListener("abort", () => this.isFull && void document.exitFullscreen());
  }

  /**
   * The machine has these displays now.
   * @param {Region[]} displays
   */
  update(displays) {
    const before = this.displays;
    this.displays = displays;
    if (before.length === displays.length && displays.every((each, at) => isSame(each, before[at]))) return;
    this.choose(displays.length > this.display ? this.display : 0);
  }

  /** @param {number} display */
  choose(display) {
    this.display = display;
    this.zoom.reset();
    this.#see();
  }

  /** Whether *Fit* would show it smaller. */
  get isEnlarged() {
    return this.isActual || this.zoom.scale > 1;
  }

  rescale() {
    this.isActual = !this.isEnlarged;
    this.zoom.reset();
    this.#see();
  }

  /** Before it is enlarged. */
  #fit() {
    if (!this.isActual) return;
    this.isActual = false;
    this.#see();
  }

  #see() {
    this.screen.stage.classList.toggle("actual", this.isActual);
    this.screen.see(this.displays[this.display - 1] ?? null, this.isActual);
    this.tell();
  }

  /** @param {PointerEvent} event */
  #hold = ({ clientX, clientY, isPrimary }) => {
    if (isPrimary) this.#held = { x: clientX, y: clientY };
  };

  /** @param {PointerEvent} event */
  #pan = ({ buttons, clientX, clientY, isPrimary }) => {
    if (buttons !== 1 || !isPrimary) return;
    const { x, y } = this.#held;
    this.#held = { x: clientX, y: clientY };
    if (this.isInControl() || this.zoom.isPinching) return;
    if (this.isActual) this.screen.stage.scrollBy(x - clientX, y - clientY);
    else if (this.zoom.scale > 1) this.zoom.pan(clientX - x, clientY - y);
  };

  get isFull() {
    return document.fullscreenElement?.contains(this.screen.stage) ?? false;
  }

  toggleFull = async () => {
    if (this.isFull) {
      await document.exitFullscreen();
      return;
    }
    await this.screen.stage.closest(".work")?.requestFullscreen();
    this.screen.canvas.focus();
    // Where the browser allows it, its own shortcuts go to the machine as well.
    if (this.isInControl()) await navigator.keyboard?.lock?.().catch(() => {});
  };

  #filled() {
    if (!this.isFull) navigator.keyboard?.unlock?.();
    this.tell();
  }
}

/** @type {(one: Region, other: Region | undefined) => boolean} */
function isSame(one, other) {
  return one.x === other?.x && one.y === other.y && one.width === other.width && one.height === other.height;
}

/** @param {{viewing: Viewing}} properties */
export function ViewingTools({ viewing }) {
  const { zoom, displays, display, isFull, isEnlarged } = useStore(viewing);
  /** @param {{currentTarget: HTMLSelectElement}} event */
  const chosen = ({ currentTarget }) => viewing.choose(Number(currentTarget.value));
  /** @param {string} id */
  const select = (id) => html`<select id=${id} onChange=${chosen} value=${display}>
    <option value="0">All</option>
    ${displays.map(({ width, height }, at) => html`<option value=${at + 1}>${at + 1}: ${width} × ${height}</option>`)}
  </select>`;
  return html`<span class="tools">
    ${displays.length > 1 && html`<${Field} label="Display" inline make=${select} />`}
    <button type="button" aria-label="Zoom out" disabled=${zoom.scale === 1} onClick=${() => zoom.step(false)}>−</button>
    <button type="button" aria-label="Zoom in" disabled=${zoom.isLargest} onClick=${() => zoom.step(true)}>+</button>
    <button type="button" onClick=${() => viewing.rescale()}>${isEnlarged ? "Fit" : "Actual size"}</button>
    ${document.fullscreenEnabled && html`<button type="button" aria-pressed=${String(isFull)} onClick=${viewing.toggleFull}>
      ${isFull ? "Leave full screen" : "Full screen"}
    </button>`}
  </span>`;
}
