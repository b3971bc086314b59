/** The steps of a trajectory in a list, each with its picture in small. */

import { html, useLayoutEffect, useMemo, useRef } from "../../parts/elements.js";
import { pictureOf, readStep } from "../steps.js";
import { Small } from "./small.js";

const LISTED = 100;

/** @param {{steps: Step[], size: Size, at: number, go: (at: number) => void}} properties */
export function Film({ steps, size, at, go }) {
  const first = at - (at % LISTED);
  const listed = useMemo(
    () => steps.slice(first, first + LISTED).map((each) => ({ words: readStep(each, size).text, source: pictureOf(each) })),
    [steps, first],
  );
  const hasPictures = listed.some(({ source }) => source);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => keepInSight(list.current), [at]);
  return html`<ol class="steps" start=${first + 1} ref=${list}>
    ${listed.map(({ words, source }, index) => html`<li><button
      type="button" aria-current=${first + index === at ? "step" : null} onClick=${() => go(first + index)}
    ><span class="number">${first + index + 1}</span>${hasPictures && html`<${Small} key=${source} read=${() => Promise.resolve(source)} size=${size} />`}<span>${words}</span></button></li>`)}
  </ol>`;
}

/** @param {HTMLElement | null} list whose current button is brought into sight, without moving the page */
function keepInSight(list) {
  const button = list?.querySelector("[aria-current]");
  if (!list || !button) return;
  const [inside, outside] = [button.getBoundingClientRect(), list.getBoundingClientRect()];
  list.scrollTop += Math.min(inside.top - outside.top, 0) + Math.max(inside.bottom - outside.bottom, 0);
}
