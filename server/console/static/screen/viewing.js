/** How a machine's screen is looked at: all of it or one display, fitted or pixel by pixel, full screen. */

import { fill, h, setAttribute, setText } from "../parts/dom.js";
import { labelled } from "../parts/old_pieces.js";
import { Zoom } from "./zoom.js";

/** A row of buttons below the picture; what of the page is `.work` fills the screen. */
export class Viewing {
  display = h("select", { change: () => this.#look() });
  scale = h("button", { type: "button", click: () => this.#rescale() }, "Actual size");
  full = h("button", { type: "button", click: () => void this.#toggleFull() });
  #isActual = false;
  /** @type {Region[]} */
  #displays = [];
  /** Where the pointer took hold of a picture that is larger than its stage. */
  #held = { x: 0, y: 0 };

  /**
   * @param {import("./screen.js").Screen} screen
   * @param {() => boolean} isInControl
   * @param {() => void} changed hears that the picture is drawn elsewhere, or larger
   * @param {AbortSignal} signal
   */
  constructor(screen, isInControl, changed, signal) {
    this.screen = screen;
    this.isInControl = isInControl;
    this.changed = changed;
    this.zoom = new Zoom(screen, { fit: () => this.#fit(), changed: () => this.#moved(), isInControl }, signal);
    this.choice = labelled("Display", this.display, "field inline");
    this.full.hidden = !document.fullscreenEnabled;
    this.element = h("div", { class: "row viewing" }, this.choice, this.zoom.less, this.zoom.more, this.scale, this.full);
    document.addEventListener("fullscreenchange", () => this.#drawFull(), { signal });
    screen.canvas.addEventListener("pointerdown", this.#hold, { signal });
    screen.canvas.addEventListener("pointermove", this.#pan, { signal });
    signal.addEventListener("abort", () => this.#isFull() && void document.exitFullscreen());
    this.update([]);
    this.#drawFull();
  }

  /**
   * The machine has these displays now.
   * @param {Region[]} displays
   */
  update(displays) {
    if (JSON.stringify(displays) === JSON.stringify(this.#displays) && this.display.options.length) return;
    this.#displays = displays;
    const names = displays.map((each, at) => `${at + 1}: ${each.width} × ${each.height}`);
    const options = ["All", ...names].map((name, at) => h("option", { value: at }, name));
    fill(this.display, options);
    this.choice.hidden = displays.length < 2;
    this.#look();
  }

  #rescale() {
    this.#isActual = !this.#isActual && this.zoom.scale === 1;
    this.#look();
  }

  /** Before it is enlarged. */
  #fit() {
    if (!this.#isActual) return;
    this.#isActual = false;
    this.#see();
  }

  #moved() {
    this.#name();
    this.changed();
  }

  #name() {
    setText(this.scale, this.#isActual || (this.zoom?.scale ?? 1) > 1 ? "Fit" : "Actual size");
  }

  #look() {
    this.zoom.reset();
    this.#see();
  }

  #see() {
    const display = this.#displays[Number(this.display.value) - 1] ?? null;
    this.#name();
    this.screen.stage.classList.toggle("actual", this.#isActual);
    this.screen.see(display, this.#isActual);
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
    if (this.#isActual) this.screen.stage.scrollBy(x - clientX, y - clientY);
    else if (this.zoom.scale > 1) this.zoom.pan(clientX - x, clientY - y);
  };

  #isFull() {
    const { fullscreenElement } = document;
    return fullscreenElement?.contains(this.element) ?? false;
  }

  async #toggleFull() {
    if (this.#isFull()) {
      await document.exitFullscreen();
      return;
    }
    await this.element.closest(".work")?.requestFullscreen();
    // Where the browser allows it, its own shortcuts go to the machine as well.
    if (this.isInControl()) await navigator.keyboard?.lock?.().catch(() => {});
  }

  #drawFull() {
    const isFull = this.#isFull();
    setText(this.full, isFull ? "Leave full screen" : "Full screen");
    setAttribute(this.full, "aria-pressed", isFull);
    if (!isFull) navigator.keyboard?.unlock?.();
  }
}
