/** A picture with marks over it: where a click was, and the way of a drag. */

import { path, request, wordsOf } from "../server/api.js";
import { bytesOf, decoded } from "../screen/pictures.js";
import { html, useEffect, useRef, useState } from "./elements.js";

export const isPictureId = (/** @type {string} */ text) => /^[0-9a-f]{64}$/.test(text);

export function Picture(/** @type {PictureProperties} */ { source, size, places, label }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const [drawn, say] = useState({ source: "", words: "" });
  useEffect(() => {
    const leaving = new AbortController();
    const said = (words = "") => leaving.signal.aborted || say({ source, words });
    if (source) draw(canvas.current, source, leaving.signal).then(() => said(), (/** @type {unknown} */ error) => said(wordsOf(error)));
    return () => leaving.abort();
  }, [source]);
  const isDone = source && drawn.source === source;
  return html`<div class="viewer" style=${{ "--ratio": size.width / size.height }}>
    <canvas ref=${canvas} hidden=${!isDone || drawn.words}></canvas>
    ${isDone && drawn.words && html`<p class="said" data-kind="bad" role="status">${drawn.words}</p>`}
    <svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label=${label}><${Marks} places=${places} size=${size} /></svg>
  </div>`;
}

/** @type {(canvas: HTMLCanvasElement | null, source: string, signal: AbortSignal) => Promise<void>} */
async function draw(canvas, source, signal) {
  const kept = isPictureId(source) && (await request("GET", path`/v1/pictures/${source}`, { signal }));
  const bytes = kept ? new Uint8Array(await kept.arrayBuffer()) : bytesOf(source);
  if (!bytes) throw new Error("This step's picture cannot be read: it is not base64.");
  const picture = await decoded(bytes);
  if (canvas && !signal.aborted) {
    Object.assign(canvas, { width: picture.width, height: picture.height });
    canvas.getContext("2d")?.drawImage(picture, 0, 0);
  }
  picture.close();
}

/** @param {{places: Place[], size: Size}} properties */
function Marks({ places: [first, last], size: { width, height } }) {
  if (!first) return null;
  const { x, y } = first;
  const r = Math.max(width, height) / 60;
  const ring = ["halo", "ring", "dot"].map((kind) => html`<circle class=${kind} cx=${x} cy=${y} r=${kind === "dot" ? r / 5 : r} />`);
  if (!last) return ring;
  const angle = Math.atan2(last.y - y, last.x - x);
  /** @param {number} turn */
  const wing = (turn) => `${last.x - 1.6 * r * Math.cos(angle + turn)},${last.y - 1.6 * r * Math.sin(angle + turn)}`;
  const way = `M${x},${y}L${last.x},${last.y}M${wing(0.5)}L${last.x},${last.y}L${wing(-0.5)}`;
  return html`<path class="halo" d=${way} />${ring}<path class="travel" d=${way} />`;
}
