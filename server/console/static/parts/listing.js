/** A list that the server filters: read as far as one looks, and shown as a table. */

import { get, query, statusOf, wordsOf } from "../server/api.js";
import { rememberedPlace } from "./address.js";
import { html, useEffect, useMade, useRef, useStore } from "./elements.js";
import { NothingFits, Unread } from "./pieces.js";
import { Reading } from "./reading.js";
import { Table } from "./table.js";
import { repeat } from "./waiting.js";

/** Of a table's row; how many were read is told from how far down one was. */
const LEAST_PIXELS = 30;
/** What is read at once. */
const PART = 100;
const NEWS_MILLISECONDS = 300;
const NOTHING_ASKED = { created_at_from: "", created_at_to: "" };
/** What comes next is read before one sees the end. */
const AHEAD = "1000px";

/** @template Item what fits what was asked for, as `find(known)` reads it in whatever extends this: behind what is known, or all anew */
export class Listing extends Reading {
  items = /** @type {Item[] | null} until they are read */ (null);
  total = 0;
  isWhole = false;
  /** Whether what follows is wanted. */
  #isOn = false;
  /** How many have to be there for the place to which one comes back. */
  far = Math.ceil(rememberedPlace() / LEAST_PIXELS);

  constructor(/** @type {Watched & {asked: Asked}} */ { asked, ...page }) {
    super(page);
    this.asked = asked;
  }

  readOn = () => {
    if (this.isReading) return;
    this.#isOn = true;
    void this.readMore();
  };

  /** @override */ async load() {
    const known = this.#isOn ? this.items : null;
    this.#isOn = false;
    Object.assign(this, await this.find(known));
  }

  /** @type {(known: Item[] | null) => Promise<{items?: Item[], total?: number, isWhole?: boolean, far?: number}>} */
  find() {
    return Promise.resolve({});
  }

  /** What was asked for, as the server takes it: days as moments of the reader's own calendar. */
  get parameters() {
    const read = ([name = "", value = ""]) => [name, TIMES[name] ? momentOf(value, TIMES[name]) : value.trim()];
    return /** @type {Record<string, string>} */ (Object.fromEntries(Object.entries(this.asked).map(read)));
  }
}

/** @template {{id: string}} Item @augments {Listing<Item>} all that the server lists at an address, newest first, or by name */
export class Pages extends Listing {
  /** @param {Watched & PagesOptions} page read again when something has changed it */
  constructor({ address, filter = {}, kinds, every, ...page }) {
    super({ ...page, asked: NOTHING_ASKED });
    this.address = address;
    this.filter = filter;
    const { events, signal } = page;
    events.on("audit", ({ detail }) => kinds.includes(detail.action.split(".")[0] ?? "") && this.readIn(NEWS_MILLISECONDS), signal);
    if (every) repeat(() => this.keepUp(), every, signal);
  }

  /** @override */ async find(/** @type {Item[] | null} */ known) {
    const found = new Map(known?.map((item) => [item.id, item]));
    for (let skip = found.size; ; ) {
      const { items, total } = /** @type {Part<Item>} */ (await get(query(this.address, { ...this.filter, skip, limit: PART }), this.loading));
      // What was added meanwhile moves the rest by a place: nothing is shown twice.
      for (const item of items) found.set(item.id, item);
      skip += items.length;
      const isWhole = skip >= total || !items.length;
      // Read again, it is as far.
      if (isWhole || skip >= this.far) return { items: [...found.values()], total, isWhole, far: skip };
    }
  }
}

/**
 * @template {{id: string}} Item @param {Pick<PageProperties, "events" | "me">} page @param {PagesOptions} options
 * @returns {Pages<Item>} what the server lists, for as long as the part is there
 */
export const usePages = (page, options) =>
  useStore(useMade((signal) => new Pages({ ...page, ...options, signal }), JSON.stringify(options)));

/** @type {Record<string, string>} at which time of a day each range begins or ends */
const TIMES = { created_at_from: "00:00:00", created_at_to: "23:59:59.999" };

/** @type {(day: string, time: string) => string} when that is by the reader's own clock; what is no day is left for the server to refuse, in words */
function momentOf(day, time) {
  const moment = new Date(`${day}T${time}`);
  return Number.isNaN(moment.getTime()) ? day : moment.toISOString();
}

/**
 * The listing for what is asked; until that is read, the one before.
 * @type {<Kind extends EventTarget & {items: unknown, error: unknown}>(make: (signal: AbortSignal) => Kind, asked: Asked) => Kind}
 */
export function useListing(make, asked) {
  const next = useStore(useMade(make, JSON.stringify(asked)));
  const shown = useRef(next);
  if (next.items || next.error) shown.current = next;
  return shown.current;
}

/** @template {{id: string}} Item @param {FoundProperties<Item>} properties of a table of what was found, or why there is none */
export function Found({ list, what, isFiltered, clear, first, draw, ...table }) {
  const { items, error, isWhole, readOn } = list;
  const words = error && wordsOf(error);
  // An address that somebody has written, or a range that ends before it begins.
  if (statusOf(error) === 422) return html`<${NothingFits} what=${what} clear=${clear}><p role="alert">${words}</p><//>`;
  if (!items) return html`<${Unread} reading=${list} />`;
  if (!items.length) return isFiltered ? html`<${NothingFits} what=${what} clear=${clear} />` : first;
  return html`
    ${draw ? draw(items) : html`<${Table} ...${table} items=${items} chosen=${JSON.stringify(list.asked)} />`}
    ${words ? html`<p class="said" role="alert">${words}</p>` : !isWhole && html`<${End} seen=${readOn} />`}`;
}

/** @param {{seen: () => void}} properties: the end of what was read, and what is done when it is nearly in sight */
function End({ seen }) {
  const end = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && seen(), { rootMargin: AHEAD });
    if (end.current) observer.observe(end.current);
    return () => observer.disconnect();
  });
  return html`<p class="small" ref=${end}>Loading more…</p>`;
}
