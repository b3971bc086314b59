/** Pictures as the server sent them lately: what is shown small and large, or soon will be, is sent once. */

import { path, request } from "../server/api.js";

const MOST_BYTES = 32 * 1024 * 1024;

/** @typedef {{bytes: Promise<Uint8Array<ArrayBuffer>>, size: number, readers: number, leaving: AbortController}} Sent */

/** @type {Map<string, Sent>} by their ids, the latest last; of what is on its way the size is 0 */
const kept = new Map();

/** Whoever is signed in now may not see what another one saw. */
export const forgetPictures = () => kept.clear();

/** @type {(id: string, signal: AbortSignal | null) => Promise<Uint8Array<ArrayBuffer>>} which nobody may change */
export async function bytesWithId(id, signal) {
  signal?.throwIfAborted();
  const sent = kept.get(id) ?? begun(id);
  kept.delete(id);
  kept.set(id, sent);
  sent.readers += 1;
  function leave() {
    sent.readers -= 1;
    if (sent.readers || sent.size) return;
    // Nobody waits for it any more.
    sent.leaving.abort();
    forget(id, sent);
  }
  signal?.addEventListener("abort", leave);
  try {
    return await sent.bytes;
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

/** @type {(id: string) => Sent} */
function begun(id) {
  const leaving = new AbortController();
  const sent = { bytes: read(id, leaving.signal), size: 0, readers: 0, leaving };
  const came = (/** @type {Uint8Array} */ { length }) => {
    sent.size = length;
    forgetOldest();
  };
  sent.bytes.then(came, () => forget(id, sent));
  return sent;
}

/** @type {(id: string, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>} */
async function read(id, signal) {
  const answer = await request("GET", path`/v1/pictures/${id}`, { signal });
  return new Uint8Array(await answer.arrayBuffer());
}

/** @type {(id: string, sent: Sent) => void} */
function forget(id, sent) {
  if (kept.get(id) === sent) kept.delete(id);
}

function forgetOldest() {
  let total = [...kept.values()].reduce((sum, { size }) => sum + size, 0);
  for (const [id, { size }] of kept) {
    if (total <= MOST_BYTES) return;
    total -= size;
    kept.delete(id);
  }
}
