/** Times as "3 min ago", which go on by themselves; the exact moment is the title. */

import { html } from "./elements.js";
import { ago, exactly } from "./words.js";

export const Ago = (/** @type {{time: string | null}} */ { time }) => time
  ? html`<time data-ago datetime=${time} title=${exactly(time)}>${ago(time)}</time>`
  : html`<time>–</time>`;

/** Bring every time on the page up to date; called every few seconds. */
export function tickTimes() {
  /** @type {NodeListOf<HTMLTimeElement>} */
  const times = document.querySelectorAll("time[data-ago]");
  for (const { firstChild, dateTime } of times) {
    const text = ago(dateTime);
    if (firstChild && firstChild.nodeValue !== text) firstChild.nodeValue = text;
  }
}
