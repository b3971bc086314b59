/** The server's API as the console calls it: with the session's cookie, and errors in words. */

import { capital, learnTime } from "../parts/words.js";

/** Where the server is: one above the console, whatever a proxy puts before it. */
export const HOME = new URL("..", document.baseURI);

const CALL_SECONDS = 100;
const MOST_LISTED = 10_000;

/** What went wrong, in words for a person; status 0 is no answer at all. */
export class Problem extends Error {
  members = /** @type {ProblemMembers} */ ({});

  constructor(/** @type {number} */ status, /** @type {string} */ words) {
    super(words);
    this.status = status;
  }

  /** Its name; empty where it has none. */
  get problem() {
    return this.members.type?.replace("/problems/", "") ?? "";
  }
}

/** @param {unknown} error the status of the answer that it is of; undefined where it is of none */
export const statusOf = (error) => (error instanceof Problem ? error.status : undefined);

/** @param {unknown} error whether it says that there is nothing with such an address */
export const isNowhere = (error) => [404, 422].includes(statusOf(error) ?? 0);

/** @param {unknown} error */
export const wordsOf = (error) => (error instanceof Error ? error.message : String(error));

export const nameOf = (/** @type {unknown} */ error) => (error instanceof Error ? error.name : "");

const NO_ANSWER =
  "The server does not answer. Check that it runs and that this computer reaches it; " +
  "the console goes on trying.";

/** Told when a request finds that nobody is signed in any more. */
export const session = new EventTarget();

/**
 * Send a request and return {headers, data}; data is null where there is no JSON.
 * Throws a Problem for every answer that is no success, and an AbortError when the signal says so.
 * @template Data @param {string} method @param {string} address @param {RequestOptions<unknown>} [options] @returns {Promise<Answer<Data>>}
 */
export async function call(method, address, { body, headers = {}, signal } = {}) {
  const response = await request(method, address, {
    body: body === undefined ? null : JSON.stringify(body),
    headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
    signal: AbortSignal.any([AbortSignal.timeout(CALL_SECONDS * 1000), ...(signal ? [signal] : [])]),
  });
  try {
    const text = await response.text();
    return { headers: response.headers, data: /** @type {Data} */ (text ? JSON.parse(text) : null) };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, NO_ANSWER);
  }
}

/** @type {(address: string, signal?: AbortSignal | null) => Promise<unknown>} what is there: whoever asks for it knows what that is */
export async function get(address, signal = null) {
  /** @type {Answer<unknown>} */
  const { data } = await call("GET", address, { signal });
  return data;
}

/** @type {(method: string, address: string, options?: RequestOptions<string>) => Promise<Response>} with its body unread, for streams */
export async function request(method, address, { body = null, headers = {}, signal = null, keepalive = false } = {}) {
  let response;
  try {
    response = await fetch(new URL(address.replace(/^\//, ""), HOME), {
      method,
      body,
      signal,
      keepalive,
      headers: method === "GET" ? headers : { "Farhand-Console": "1", ...headers },
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted && nameOf(signal.reason) !== "TimeoutError") throw error;
    throw new Problem(0, NO_ANSWER);
  }
  learnTime(response.headers.get("Date"));
  if (response.ok || response.status === 304) return response;
  if (response.status === 401) session.dispatchEvent(new Event("ended"));
  // A proxy's own page is no JSON: then the status has to do.
  const members = /** @type {ProblemMembers | null} */ (await response.json().catch(() => null)) ?? {};
  throw Object.assign(new Problem(response.status, wordsFor(response.status, members)), { members });
}

function wordsFor(/** @type {number} */ status, /** @type {ProblemMembers} */ content) {
  if (Array.isArray(content.detail)) {
    const places = content.detail.map(({ loc, msg }) => {
      const place = (loc ?? []).filter((part) => part !== "body").join(".");
      return place ? `${place}: ${msg}` : msg;
    });
    return `That cannot be sent: ${places.join("; ")}.`;
  }
  if (status === 403 && content.scope)
    return `Your token lacks the scope ${content.scope}. Sign out, and in again with a token that has it.`;
  if (content.detail) return sentence(String(content.detail));
  if (status === 502 || status === 503 || status === 504)
    return `The server cannot be reached through the proxy (HTTP ${status}). Check that farhand serve runs.`;
  return `The server answered HTTP ${status} without saying why. Its log says more.`;
}

/** @param {string} text with a capital at its beginning and a stop at its end */
export function sentence(text) {
  const trimmed = text.trim();
  const stop = !trimmed || /[.!?…]$/.test(trimmed) ? "" : ".";
  return capital(trimmed) + stop;
}

/** @type {(strings: TemplateStringsArray, ...parts: string[]) => string} a path with its parts encoded: path`/v1/machines/${id}` */
export function path(strings, ...parts) {
  return strings.reduce((text, piece, at) => text + encodeURIComponent(parts[at - 1] ?? "") + piece);
}

/** @type {(address: string, parameters: Record<string, string | number>) => string} with a query; empty values are left out */
export function query(address, parameters) {
  const kept = Object.entries(parameters).flatMap(([name, value]) => (value === "" ? [] : [[name, String(value)]]));
  return kept.length ? `${address}?${new URLSearchParams(kept)}` : address;
}

/**
 * All pages of a list, read one after another.
 * @template Item @param {string} address @param {AbortSignal | null} signal @param {Record<string, string>} [parameters] @returns {Promise<Item[]>}
 */
export async function listAll(address, signal, parameters = {}) {
  for (const all = /** @type {Item[]} */ ([]); ; ) {
    const next = query(address, { ...parameters, skip: all.length, limit: 1000 });
    const { items, total } = /** @type {Part<Item>} */ (await get(next, signal));
    all.push(...items);
    if (!items.length || all.length >= Math.min(total, MOST_LISTED)) return all;
  }
}
