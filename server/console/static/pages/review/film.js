/** The steps of a trajectory in a list, each with its picture in small. */

import { html, useEffect, useLayoutEffect, useMemo, useRef } from "../../parts/elements.js";
import { readPicture } from "../../parts/picture.js";
import { pictureOf, readStep } from "../steps.js";

const LISTED = 100;
/** Pixels of a small picture, for screens with two of them in one of the page's. */
const WIDTH = 144;

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
    ><span class="number">${first + index + 1}</span>${hasPictures && html`<${Small} source=${source} size=${size} />`}<span>${words}</span></button></li>`)}
  </ol>`;
}

/** @type {Promise<unknown>} over once all that was in sight is drawn */
let drawing = Promise.resolve();

/** @param {{source: string, size: Size}} properties of a picture in small, which is read once it is in sight */
function Small({ source, size: { width, height } }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useEffect(() => {
    const leaving = new AbortController();
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting || !source) return;
      observer.disconnect();
      // One after another: the picture that is shown whole goes first, and says what is wrong with it.
      drawing = drawing.then(() => drawSmall(canvas.current, source, leaving.signal)).catch(() => null);
    });
    if (canvas.current) observer.observe(canvas.current);
    return () => {
      observer.disconnect();
      leaving.abort();
    };
  }, [source]);
  return html`<canvas ref=${canvas} class="small-picture" width=${WIDTH} height=${Math.max(1, Math.round((WIDTH * height) / width))} aria-hidden="true"></canvas>`;
}

/** @type {(canvas: HTMLCanvasElement | null, source: string, signal: AbortSignal) => Promise<void>} */
async function drawSmall(canvas, source, signal) {
  if (signal.aborted) return;
  const picture = await readPicture(source, signal);
  const context = canvas?.getContext("2d");
  if (canvas && context && !signal.aborted) {
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  }
  picture.close();
}

/** @param {HTMLElement | null} list whose current button is brought into sight, without moving the page */
function keepInSight(list) {
  const button = list?.querySelector("[aria-current]");
  if (!list || !button) return;
  const [inside, outside] = [button.getBoundingClientRect(), list.getBoundingClientRect()];
  list.scrollTop += Math.min(inside.top - outside.top, 0) + Math.max(inside.bottom - outside.bottom, 0);
}
