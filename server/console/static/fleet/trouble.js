/** What was wrong with a machine in the last 30 days. */

import { html, useMade, useStore } from "../parts/elements.js";
import { Reading } from "../parts/reading.js";
import { StateShape } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { capital, count, lasting } from "../parts/words.js";
import { get, path, query, wordsOf } from "../server/api.js";

const SHOWN = 101;

/** @type {Record<Trouble["kind"], string>} */
const KINDS = { offline: "Offline", no_input: "No input", no_screen: "No screen" };

/** @param {{machineId: string} & Pick<PageProperties, "events" | "me">} page */
export function TroubleList({ machineId, ...page }) {
  const { items, error } = useStore(useMade((signal) => new Troubles({ machineId, ...page, signal })));
  if (!items) return html`<p class="small">${error ? wordsOf(error) : "Reading…"}</p>`;
  if (!items.length) return html`<p class="small">None.</p>`;
  const seconds = items.reduce((sum, each) => sum + each.seconds, 0);
  return html`
    <p class="small">${count(items.length, "time")}, ${lasting(seconds)} in all.</p>
    <ol class="troubles" tabindex="0" aria-label="Trouble in the last 30 days">${items.map(({ kind, reason, since, until, seconds: long }) => html`
      <li key=${since + kind} data-state=${kind === "offline" ? kind : "no_input"}>
        <b class="state"><${StateShape} state=${kind === "offline" ? kind : "no_input"} />${KINDS[kind]}</b>
        <span>${until ? lasting(long) : "Still"}</span><${Ago} time=${since} />
        <small>${capital(reason)}</small>
      </li>`)}</ol>
  `;
}

class Troubles extends Reading {
  items = /** @type {Trouble[] | null} until they are read */ (null);
  /** How the machine was when they were read last. */
  #state = "";

  constructor(/** @type {Watched & {machineId: string}} */ { machineId, ...page }) {
    super(page);
    this.address = query(path`v1/machines/${machineId}/trouble`, { limit: SHOWN });
    page.events.on("machine", ({ detail }) => detail.id === machineId && this.#look(detail), page.signal);
  }

  /** @override */ async load() {
    const { items } = /** @type {Part<Trouble>} */ (await get(this.address, this.loading));
    this.items = items;
  }

  /** Whatever begins or ends changes how the machine is. */
  #look(/** @type {Machine} */ { state, since, screen }) {
    const now = `${state} ${since} ${screen.available}`;
    if (this.#state !== now) this.readIn(SETTLED_MILLISECONDS);
    this.#state = now;
  }
}

/** What ended is noted a moment later. */
const SETTLED_MILLISECONDS = 1000;
