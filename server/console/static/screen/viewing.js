/** How a machine's screen is looked at: all of it or one display, fitted or pixel by pixel, full screen. */

import { html, useStore } from "../parts/elements.js";
import { Field, Toggle } from "../parts/pieces.js";
import { Zoom } from "./zoom.js";

/** What is chosen; what of the page is `.work` fills the screen. */
export class Viewing extends Zoom {
  /** 0 is all of the desktop, and 1 its first display. */
  display = 0;
  displays = /** @type {Region[]} */ ([]);

  /** @override */
  attach() {
    const { signal } = this.screen;
    super.attach();
    document.addEventListener("fullscreenchange", () => this.#filled(), { signal });
    signal.addEventListener("abort", () => this.isFull && void document.exitFullscreen());
  }

  /** @param {Region[]} displays of the machine, now */
  update(displays) {
    // The same ones stay the same objects: another one is looked at anew.
    if (JSON.stringify(displays) === JSON.stringify(this.displays)) return;
    this.displays = displays;
    this.choose(displays.length > this.display ? this.display : 0);
  }

  /** @param {number} display */
  choose(display) {
    this.display = display;
    this.fit(this.isActual);
  }

  /** @override */
  settled() {
    const { scale, isActual } = this;
    this.screen.see({ display: this.displays[this.display - 1] ?? null, scale, isActual });
    this.tell();
  }

  get isFull() {
    return document.fullscreenElement?.contains(this.screen.stage) ?? false;
  }

  toggleFull = async () => {
    if (this.isFull) return document.exitFullscreen();
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

/** @param {{viewing: Viewing}} properties */
export function ViewingTools({ viewing }) {
  const { displays, display, isFull, isLarger, isLargest } = useStore(viewing);
  /** @param {{currentTarget: HTMLSelectElement}} event */
  const chosen = ({ currentTarget }) => viewing.choose(Number(currentTarget.value));
  return html`<span class="tools">
    ${displays.length > 1 && html`<${Field} label="Display" inline><select onChange=${chosen} value=${display}>
      <option value="0">All</option>
      ${displays.map(({ width, height }, at) => html`<option value=${at + 1}>${at + 1}: ${width} × ${height}</option>`)}
    </select><//>`}
    <button type="button" aria-label="Zoom out" disabled=${!isLarger} onClick=${() => viewing.step(false)}>−</button>
    <button type="button" aria-label="Zoom in" disabled=${isLargest} onClick=${() => viewing.step(true)}>+</button>
    <button type="button" onClick=${() => viewing.fit(!isLarger)}>${isLarger ? "Fit" : "Actual size"}</button>
    ${document.fullscreenEnabled && html`<${Toggle} isOn=${isFull} click=${viewing.toggleFull}>${isFull ? "Leave full screen" : "Full screen"}<//>`}
  </span>`;
}
