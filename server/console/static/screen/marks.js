/** Marks on a machine's picture where programs have clicked, for a moment each. */

import { html, Store, useStore } from "../parts/elements.js";

const SHOWN_MILLISECONDS = 1500;
const MOST = 20;

const MARKED = new Set(["mouse.click", "mouse.drag"]);

export class Marks extends Store {
  /** @type {Place[]} in parts of the picture's size */
  shown = [];

  constructor(/** @type {import("./screen.js").Screen} */ screen) {
    super();
    this.screen = screen;
  }

  /** @param {CommandEvent} command that is marked where it happened, if it was one of the mouse's buttons */
  take({ operation, pointer }) {
    const mark = pointer && MARKED.has(operation) ? this.screen.partOf(pointer) : null;
    if (!mark) return;
    this.shown = [...this.shown, mark].slice(-MOST);
    this.tellNow();
    setTimeout(() => {
      this.shown = this.shown.filter((each) => each !== mark);
      this.tell();
    }, SHOWN_MILLISECONDS);
  }
}

export function MarksOver(/** @type {{marks: Marks}} */ { marks }) {
  const { shown } = useStore(marks);
  return html`<div class="marks" aria-hidden="true">
    ${shown.map((mark) => html`<span key=${mark} class="mark" style=${styleOf(mark)}></span>`)}
  </div>`;
}

/** @param {Place} part of the picture's size: what puts something there that is drawn over it */
export const styleOf = ({ x, y }) => ({ left: `${x * 100}%`, top: `${y * 100}%` });
