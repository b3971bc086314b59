/** Marks on a machine's picture where programs have clicked, for a moment each. */

import { h } from "../parts/dom.js";

const SHOWN_MILLISECONDS = 1500;
const MOST = 20;

const MARKED = new Set(["mouse.click", "mouse.drag"]);

/** Draws over `screen`'s canvas, in its stage. */
export class Marks {
  /** @param {import("./screen.js").Screen} screen */
  constructor(screen) {
    this.screen = screen;
    this.element = h("div", { class: "marks", "aria-hidden": "true" });
  }

  /**
   * Mark where an input happened, if it was one of the mouse's buttons.
   * @param {CommandEvent} command
   */
  take({ operation, pointer }) {
    const part = pointer && MARKED.has(operation) ? this.screen.partOf(pointer) : null;
    if (!part) return;
    const box = this.screen.canvas.getBoundingClientRect();
    const from = this.element.getBoundingClientRect();
    const mark = h("span", { class: "mark" });
    mark.style.left = `${box.left - from.left + part.x * box.width}px`;
    mark.style.top = `${box.top - from.top + part.y * box.height}px`;
    this.element.append(mark);
    if (this.element.childElementCount > MOST) this.element.firstElementChild?.remove();
    setTimeout(() => mark.remove(), SHOWN_MILLISECONDS);
  }
}
