/** Marks on a machine's picture where programs have clicked, for a moment each. */

import { html, Store, useStore } from "../parts/elements.js";

const SHOWN_MILLISECONDS = 1500;
const MOST = 20;

const MARKED = new Set(["mouse.click", "mouse.drag"]);

/** Where to draw them over `screen`'s canvas, in its stage. */
export class Marks extends Store {
  /** @type {Place[]} */
  shown = [];

  /** @param {import("./screen.js").Screen} screen */
  constructor(screen) {
    super();
    this.screen = screen;
  }

  /**
   * Mark where an input happened, if it was one of the mouse's buttons.
   * @param {CommandEvent} command
   */
  take({ operation, pointer }) {
    const mark = pointer && MARKED.has(operation) ? this.screen.onStage(pointer) : null;
    if (!mark) return;
    this.shown = [...this.shown, mark].slice(-MOST);
    this.tellNow();
    setTimeout(() => {
      this.shown = this.shown.filter((each) => each !== mark);
      this.tell();
    }, SHOWN_MILLISECONDS);
  }
}

/** @param {{marks: Marks}} properties */
export function MarksOver({ marks }) {
  const { shown } = useStore(marks);
  return html`<div class="marks" aria-hidden="true">
    ${shown.map((mark) => html`<span key=${mark} class="mark" style=${{ left: `${mark.x}px`, top: `${mark.y}px` }}></span>`)}
  </div>`;
}
