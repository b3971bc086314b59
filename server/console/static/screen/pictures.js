/** Pictures as they come from a server: measured before they are decoded, never trusted. */

const MAX_HEADER_BYTES = 8 * 1024;
const MAX_PICTURE_BYTES = 16 * 1024 * 1024;
const MAX_PIXELS = 40_000_000;
const MAX_SIDE = 16_384;

/**
 * The parts of a multipart/x-mixed-replace body, one after another: {headers, bytes}.
 * Throws an Error for what is none, or larger than a picture may be.
 * `heard()` is called for whatever comes, in the middle of a picture too.
 * @param {Response} response
 * @param {() => void} heard
 */
export async function* partsOf(response, heard) {
  const type = response.headers.get("Content-Type") ?? "";
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (!boundary || !response.body) throw new Error("The server sent no stream of pictures.");
  const bytes = new Incoming(response.body.getReader(), heard);
  try {
    for (;;) {
      const head = await bytes.until("\r\n\r\n");
      if (head === null) return;
      const headers = headersIn(head);
      const length = Number(headers.get("content-length"));
      if (!(length > 0 && length <= MAX_PICTURE_BYTES))
        throw new Error("The server sent a picture without a size, or one that is too large.");
      const content = await bytes.exactly(length);
      if (content === null) return;
      yield { headers, bytes: content };
    }
  } finally {
    bytes.cancel();
  }
}

/** @param {string} text */
function headersIn(text) {
  /** @type {Map<string, string>} */
  const headers = new Map();
  for (const line of text.split("\r\n")) {
    const at = line.indexOf(":");
    if (at > 0) headers.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return headers;
}

/** What a reader brings, taken in the amounts that are asked for. */
class Incoming {
  #reader;
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #chunks = [];
  #length = 0;

  /**
   * @param {ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>} reader
   * @param {() => void} heard
   */
  constructor(reader, heard) {
    this.#reader = reader;
    this.heard = heard;
  }

  cancel() {
    this.#reader.cancel().catch(() => {});
  }

  /**
   * So many bytes, or null at the end.
   * @param {number} length
   */
  async exactly(length) {
    while (this.#length < length) if (!(await this.#more())) return null;
    const all = this.#joined();
    this.#keep(all.subarray(length));
    return all.subarray(0, length);
  }

  /**
   * The text before a mark, which is left out; null at the end.
   * @param {string} mark
   */
  async until(mark) {
    for (;;) {
      const all = this.#joined();
      const text = new TextDecoder("latin1").decode(all.subarray(0, MAX_HEADER_BYTES));
      const at = text.indexOf(mark);
      if (at >= 0) {
        this.#keep(all.subarray(at + mark.length));
        return text.slice(0, at);
      }
      if (all.length >= MAX_HEADER_BYTES) throw new Error("The server sent an endless header.");
      if (!(await this.#more())) return null;
    }
  }

  async #more() {
    const { value, done } = await this.#reader.read();
    if (done) return false;
    this.heard();
    this.#chunks.push(value);
    this.#length += value.length;
    return true;
  }

  #joined() {
    const [first, ...others] = this.#chunks;
    if (first && !others.length) return first;
    const all = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [all];
    return all;
  }

  /** @param {Uint8Array<ArrayBuffer>} rest */
  #keep(rest) {
    this.#chunks = [rest];
    this.#length = rest.length;
  }
}

/**
 * Decode a PNG or JPEG to an ImageBitmap.  What is neither, or has more pixels than any screen,
 * is an Error before it is decoded: a small file can claim a size that takes all memory.
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
export async function decoded(bytes) {
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

/**
 * What a picture's first bytes say of its size; null where it is no PNG and no JPEG.
 * @param {Uint8Array} bytes
 */
export function sizeOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length > 24 && view.getUint32(0) === 0x89504e47 && view.getUint32(4) === 0x0d0a1a0a)
    return { width: view.getUint32(16), height: view.getUint32(20), type: "image/png" };
  if (bytes.length < 4 || view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 < bytes.length; ) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7), type: "image/jpeg" };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

/**
 * The bytes of a base64 text, or of a data: address; null where it is none.
 * @param {string} text
 */
export function bytesOf(text) {
  const base64 = text.startsWith("data:") ? text.slice(text.indexOf(",") + 1) : text;
  if (base64.length > MAX_PICTURE_BYTES * 1.4) return null;
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
