/** The server's API as the console calls it: with the session's cookie, and errors in words. */

import { learnTime } from "../parts/words.js";

/** Where the server is: one above the console, whatever a proxy puts before it. */
export const HOME = new URL("..", document.baseURI);

const CALL_SECONDS = 100;

/** What went wrong, in words for a person; status 0 is no answer at all. */
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {string} words
   * @param {{name?: string, retryAfter?: number, members?: ProblemMembers}} [more]
   */
  constructor(status, words, { name = "", retryAfter = 0, members = {} } = {}) {
    super(words);
    this.status = status;
    this.problem = name;
    this.retryAfter = retryAfter;
    this.members = members;
  }
}

/**
 * The status of the answer that an error is of; undefined where it is of none.
 * @param {unknown} error
 */
export function statusOf(error) {
  return error instanceof Problem ? error.status : undefined;
}

/** @param {unknown} error */
export function wordsOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {unknown} error */
export function nameOf(error) {
  return error instanceof Error ? error.name : "";
}

const NO_ANSWER =
  "The server does not answer. Check that it runs and that this computer reaches it; " +
  "the console goes on trying.";

/** Told when a request finds that nobody is signed in any more. */
export const session = new EventTarget();

/**
 * Send a request and return {status, headers, data}; data is null where there is no JSON.
 * Throws a Problem for every answer that is no success, and an AbortError when the signal says so.
 * @template Data
 * @param {string} method
 * @param {string} address
 * @param {RequestOptions<unknown>} [options]
 * @returns {Promise<Answer<Data>>}
 */
export async function call(method, address, { body, headers = {}, signal } = {}) {
  const response = await request(method, address, {
    body: body === undefined ? null : JSON.stringify(body),
    headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
    signal: within(CALL_SECONDS, signal),
  });
  try {
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      data: /** @type {Data} */ (text ? JSON.parse(text) : null),
    };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, NO_ANSWER);
  }
}

/**
 * Send a request and return the Response with its body unread, for streams.
 * @type {(method: string, address: string, options?: RequestOptions<string>) => Promise<Response>}
 */
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
  const problem = await problemOf(response);
  if (problem.status === 401) session.dispatchEvent(new Event("ended"));
  throw problem;
}

/** @type {(seconds: number, signal: AbortSignal | null | undefined) => AbortSignal} */
function within(seconds, signal) {
  const limit = AbortSignal.timeout(seconds * 1000);
  return signal ? AbortSignal.any([signal, limit]) : limit;
}

/** @param {Response} response */
async function problemOf(response) {
  /** @type {ProblemMembers} */
  let content = {};
  try {
    content = /** @type {ProblemMembers | null} */ (await response.json()) ?? {};
  } catch {
    // A proxy's own page: the status has to do.
  }
  return new Problem(response.status, wordsFor(response.status, content), {
    name: String(content.type ?? "").replace("/problems/", ""),
    retryAfter: Number(response.headers.get("Retry-After")) || 0,
    members: content,
  });
}

/** @type {(status: number, content: ProblemMembers) => string} */
function wordsFor(status, content) {
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

/**
 * With a capital at its beginning and a stop at its end.
 * @param {string} text
 */
export function sentence(text) {
  const trimmed = text.trim();
  const stop = !trimmed || /[.!?…]$/.test(trimmed) ? "" : ".";
  return capital(trimmed) + stop;
}

/** @param {string} text */
export function capital(text) {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("");
}

/**
 * A path with its parts encoded: path`/v1/machines/${id}`.
 * @param {TemplateStringsArray} strings
 * @param {string[]} parts
 */
export function path(strings, ...parts) {
  return strings.reduce((text, piece, at) => text + encodeURIComponent(parts[at - 1] ?? "") + piece);
}

/**
 * A path with a query; null and empty values are left out.
 * @type {(address: string, parameters: Record<string, string | number | null>) => string}
 */
export function query(address, parameters) {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== "") kept.append(name, String(value));
  return kept.size ? `${address}?${kept}` : address;
}

/**
 * All pages of a list, read one after another.
 * @template Item
 * @param {string} address
 * @param {AbortSignal} signal
 * @returns {Promise<Item[]>}
 */
export async function listAll(address, signal, most = 10_000) {
  /** @type {Item[]} */
  const items = [];
  for (;;) {
    /** @type {Answer<Part<Item>>} */
    const { data } = await call("GET", query(address, { skip: items.length, limit: 1000 }), {
      signal,
    });
    items.push(...data.items);
    if (!data.items.length || items.length >= Math.min(data.total, most)) return items;
  }
}
