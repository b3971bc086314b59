/** A picture with marks over it: where a click was, and the way of a drag. */

import { wordsOf } from "../server/api.js";
import { bytesOf, decoded } from "../screen/pictures.js";
import { html, useLayoutEffect, useRef, useState } from "./elements.js";
import { bytesWithId } from "./picture_bytes.js";

export const isPictureId = (/** @type {string} */ text) => /^[0-9a-f]{64}$/.test(text);

export function Picture(/** @type {PictureProperties} */ { source, read, size, places, box, marks = [], label, click }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const [drawn, say] = useState({ source: "", words: "" });
  // Before the browser draws: what is there already is seen at once.
  useLayoutEffect(() => {
    let isLeft = false;
    const said = (words = "") => isLeft || say({ source, words });
    const draw = (/** @type {ImageBitmap} */ picture) => {
      if (isLeft || !canvas.current) return;
      Object.assign(canvas.current, { width: picture.width, height: picture.height });
      canvas.current.getContext("2d")?.drawImage(picture, 0, 0);
      said();
    };
    if (source) read(source).then(draw).catch((/** @type {unknown} */ error) => said(wordsOf(error)));
    return () => {
      isLeft = true;
    };
  }, [source]);
  const isDone = source && drawn.source === source;
  return html`<div class="viewer" style=${{ "--ratio": size.width / size.height }}>
    <canvas ref=${canvas} hidden=${!isDone || drawn.words}></canvas>
    ${isDone && drawn.words && html`<p class="said" data-kind="bad" role="status">${drawn.words}</p>`}
    <svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label=${label} class=${click ? "pointed" : null} onClick=${click && ((/** @type {MouseEvent} */ event) => click(placeIn(event, size)))}>
      ${box && html`<${Box} ...${box} />`}
      ${marks.map((mark) => html`<${Marked} ...${mark} size=${size} />`)}
      <${Marks} places=${places} size=${size} />
    </svg>
  </div>`;
}

/** @type {(event: MouseEvent, size: Size) => Place} where in a picture that is shown somebody has clicked */
function placeIn({ clientX, clientY, currentTarget }, { width, height }) {
  const shown = /** @type {Element} */ (currentTarget).getBoundingClientRect();
  return { x: Math.floor(((clientX - shown.left) / shown.width) * width), y: Math.floor(((clientY - shown.top) / shown.height) * height) };
}

/** @type {(source: string, signal?: AbortSignal | null) => Promise<ImageBitmap>} the picture with an id, or in base64; throws an Error in words for people */
export async function readPicture(source, signal = null) {
  const bytes = isPictureId(source) ? await bytesWithId(source, signal) : bytesOf(source);
  signal?.throwIfAborted();
  if (!bytes) throw new Error("This step's picture cannot be read: it is not base64.");
  return decoded(bytes);
}

/** @param {Place & Size} area where that is which something was done to */
const Box = ({ x, y, width, height }) =>
  ["halo", "ring"].map((kind) => html`<rect class=${kind} x=${x} y=${y} width=${width} height=${height} rx="3" />`);

/** @param {Mark & {size: Size}} properties of a box with words at it, within the picture */
const Marked = ({ words, size, ...area }) => {
  const letter = Math.max(size.width, size.height) / 50;
  return html`<${Box} ...${area} /><text x=${area.x} y=${Math.max(area.y - letter / 3, letter)} font-size=${letter}>${words}</text>`;
};

/** @param {{places: Place[], size: Size}} properties */
function Marks({ places, size: { width, height } }) {
  const [first] = places;
  if (!first) return null;
  const r = Math.max(width, height) / 60;
  const ring = ["halo", "ring", "dot"].map((kind) => html`<circle class=${kind} cx=${first.x} cy=${first.y} r=${kind === "dot" ? r / 5 : r} />`);
  const [before, last] = places.slice(-2);
  if (!before || !last) return ring;
  const angle = Math.atan2(last.y - before.y, last.x - before.x);
  /** @param {number} turn */
  const wing = (turn) => `${last.x - 1.6 * r * Math.cos(angle + turn)},${last.y - 1.6 * r * Math.sin(angle + turn)}`;
  const passed = places.map(({ x, y }) => `${x},${y}`).join("L");
  const way = `M${passed}M${wing(0.5)}L${last.x},${last.y}L${wing(-0.5)}`;
  return html`<path class="halo" d=${way} />${ring}<path class="travel" d=${way} />`;
}
