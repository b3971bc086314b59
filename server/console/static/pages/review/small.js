/** Pictures in small, each read once it is in sight. */

import { html, useEffect, useRef } from "../../parts/elements.js";
import { untilPrepared } from "../../parts/kept_pictures.js";
import { readPicture } from "../../parts/picture.js";

/** Pixels of a small picture, for screens with two of them in one of the page's. */
const WIDTH = 144;

/** @type {Promise<unknown>} over once all that was in sight is drawn */
let drawing = Promise.resolve();

/** @param {SmallProperties} properties of a picture in small; `read` tells where it is, once that is asked */
export function Small({ read, size: { width, height } }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useEffect(() => {
    const leaving = new AbortController();
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      observer.disconnect();
      // One after another: the picture that is shown whole goes first, and says what is wrong with it.
      drawing = drawing.then(() => drawSmall(canvas.current, read, leaving.signal)).catch(() => null);
    });
    if (canvas.current) observer.observe(canvas.current);
    return () => {
      observer.disconnect();
      leaving.abort();
    };
  }, []);
  return html`<canvas ref=${canvas} class="small-picture" width=${WIDTH} height=${Math.max(1, Math.round((WIDTH * height) / width))} aria-hidden="true"></canvas>`;
}

/** @type {(canvas: HTMLCanvasElement | null, read: SmallProperties["read"], signal: AbortSignal) => Promise<void>} */
async function drawSmall(canvas, read, signal) {
  await untilPrepared();
  const source = signal.aborted ? "" : await read(signal);
  if (!source) return;
  const picture = await readPicture(source, signal);
  const context = canvas?.getContext("2d");
  if (canvas && context && !signal.aborted) {
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  }
  picture.close();
}
