/** Pictures as they come from a server: measured before they are decoded, never trusted. */

const MAX_HEADER_BYTES = 8 * 1024;
const MAX_PICTURE_BYTES = 16 * 1024 * 1024;
const MAX_PIXELS = 40_000_000;
const MAX_SIDE = 16_384;
const HEAD_END = "\r\n\r\n";

/**
 * The parts of a multipart/x-mixed-replace body, one after another: {head, bytes}.
 * Throws an Error for what is none, or larger than a picture may be.
 * `heard()` is called for whatever comes, in the middle of a picture too.
 */
export async function* partsOf(/** @type {Response} */ response, /** @type {() => void} */ heard) {
  const type = response.headers.get("Content-Type") ?? "";
  if (!type.startsWith("multipart/") || !response.body) throw new Error("The server sent no stream of pictures.");
  /** @type {ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>} */
  const reader = response.body.getReader();
  /** What has come and is not taken yet. */
  let rest = new Uint8Array();
  /** Wait for more behind the rest; false at the end. */
  const more = async () => {
    const { value, done } = await reader.read();
    if (done) return false;
    heard();
    rest = rest.length ? joined(rest, value) : value;
    return true;
  };
  try {
    for (;;) {
      let head = headIn(rest);
      for (; head === null; head = headIn(rest)) if (!(await more())) return;
      rest = rest.subarray(head.length + HEAD_END.length);
      const bytes = new Uint8Array(lengthIn(head));
      for (let at = 0; at < bytes.length; ) {
        if (!rest.length && !(await more())) return;
        const part = rest.subarray(0, bytes.length - at);
        bytes.set(part, at);
        at += part.length;
        rest = rest.subarray(part.length);
      }
      yield { head, bytes };
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function joined(/** @type {Uint8Array} */ one, /** @type {Uint8Array} */ other) {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** @param {Uint8Array} bytes that a part begins with; null where its header has not come whole */
function headIn(bytes) {
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, MAX_HEADER_BYTES));
  const end = text.indexOf(HEAD_END);
  if (end < 0 && bytes.length >= MAX_HEADER_BYTES) throw new Error("The server sent an endless header.");
  return end < 0 ? null : text.slice(0, end);
}

export const valueIn = (/** @type {string} */ head, /** @type {string} */ name) =>
  new RegExp(`^${name}:(.*)`, "im").exec(head)?.[1]?.trim() ?? "";

function lengthIn(/** @type {string} */ head) {
  const length = Number(valueIn(head, "Content-Length"));
  if (Number.isInteger(length) && length > 0 && length <= MAX_PICTURE_BYTES) return length;
  throw new Error("The server sent a picture without a size, or one that is too large.");
}

/**
 * Decode a PNG or JPEG to an ImageBitmap.  What is neither, or has more pixels than any screen,
 * is an Error before it is decoded: a small file can claim a size that takes all memory.
 */
export async function decoded(/** @type {Uint8Array<ArrayBuffer>} */ bytes) {
  const size = sizeOf(bytes);
  if (!size) throw new Error("This is no picture (PNG or JPEG).");
  const { width, height, type } = size;
  if (!(width > 0 && height > 0) || Math.max(width, height) > MAX_SIDE || width * height > MAX_PIXELS)
    throw new Error(`This picture claims ${width} × ${height} pixels and is not shown.`);
  try {
    return await createImageBitmap(new Blob([bytes], { type }));
  } catch {
    throw new Error("This picture is damaged.");
  }
}

/** @param {Uint8Array} bytes whose first ones say the size of a picture; null where they are no PNG and no JPEG */
function sizeOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length > 24 && view.getUint32(0) === 0x89504e47 && view.getUint32(4) === 0x0d0a1a0a)
    return { width: view.getUint32(16), height: view.getUint32(20), type: "image/png" };
  if (bytes.length < 4 || view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 < bytes.length; ) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7), type: "image/jpeg" };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

/** @param {string} text in base64, or a data: address: its bytes, null where it is none */
export function bytesOf(text) {
  const base64 = text.startsWith("data:") ? text.slice(text.indexOf(",") + 1) : text;
  if (base64.length > MAX_PICTURE_BYTES * 1.4) return null;
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
