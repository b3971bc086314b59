/** Who did what, to what and when: the organization's audit, newest first, as it grows. */

import { rememberedPlace, useChosen, useSettled } from "../parts/address.js";
import { html, useMade, useStore, useTitle } from "../parts/elements.js";
import { End } from "../parts/end.js";
import { Filters } from "../parts/filters.js";
import { EmptyState, Failure, NothingFits, WorkButton } from "../parts/pieces.js";
import { Reading } from "../parts/reading.js";
import { OutcomeBadge } from "../parts/states.js";
import { Table } from "../parts/table.js";
import { Ago } from "../parts/time.js";
import { actionOf, count, momentOf } from "../parts/words.js";
import { call, path, query, request, wordsOf } from "../server/api.js";

const PART = 100;
const MOST = 1000;
/** Of a table's row; how many were read is told from how far down one was. */
const LEAST_PIXELS = 30;
const NEWS_MILLISECONDS = 500;
const POLL_MILLISECONDS = 5000;
/** A browser may take its time to save a file. */
const SAVED_MILLISECONDS = 60_000;

const USUAL = { machine_id: "", token_name: "", action: "", created_at_from: "", created_at_to: "" };

/** @type {[string, string][]} */
const FAMILIES = [
  ["", "Everything"],
  ["input", "Inputs"],
  ["screen", "Looking at screens"],
  ["clipboard", "Reading clipboards"],
  ["machine", "Machines"],
  ["control", "Control and work by hand"],
  ["trajectory", "Trajectories"],
  ["workflow", "Workflows"],
  ["picture", "Pictures"],
  ["token", "Tokens"],
  ["session", "Signing in and out"],
  ["organization", "Organizations"],
];

/** @type {Filter<keyof typeof USUAL>[]} */
const FILTERS = [
  { name: "machine_id", label: "Machine", hint: "Id of a machine" },
  { name: "token_name", label: "Person or program", hint: "Exact name" },
  { name: "created_at_from", label: "From", type: "date" },
  { name: "created_at_to", label: "To", type: "date" },
  { name: "action", label: "What", options: FAMILIES },
];

/** @type {Column<AuditEntry>[]} */
const COLUMNS = [
  { key: "time", label: "Time", cell: ({ created_at }) => html`<${Ago} time=${created_at} />` },
  { key: "who", label: "Who", cell: ({ token_name }) => token_name ?? "–", attributes: ({ token_name }) => ({ title: token_name, dir: "auto" }) },
  { key: "what", label: "What", cell: ({ action }) => actionOf(action) },
  { key: "target", label: "To what", cell: targetOf, attributes: ({ grant, target_name }) => ({ title: grant?.scopes.join(", ") ?? target_name, dir: "auto" }) },
  { key: "outcome", label: "Outcome", cell: ({ command }) => command && html`<${OutcomeBadge} ...${command} />`, attributes: ({ command }) => ({ title: command?.code }) },
  { key: "note", label: "Note", cell: ({ note }) => note, attributes: ({ note }) => ({ title: note, dir: "auto" }) },
];

/** @param {PageProperties} page */
export function ActivityPage({ events, me }) {
  useTitle("Activity");
  const [chosen, choose] = useChosen("/activity", USUAL);
  const asked = useSettled(chosen);
  return html`<section>
    <div class="head"><h1>Activity</h1><${WorkButton} work=${() => save(chosen)}>Download as CSV<//></div>
    <${Filters} filters=${FILTERS} chosen=${chosen} choose=${choose} />
    <${Found} key=${JSON.stringify(asked)} ...${{ events, me, asked }} clear=${() => choose(USUAL)} />
  </section>`;
}

/** @param {Pick<PageProperties, "events" | "me"> & {asked: typeof USUAL, clear: () => void}} properties */
function Found({ events, me, asked, clear }) {
  const { items, total, isWhole, error, read, readOn } = useStore(useMade((signal) => new Entries(asked, events, me, signal)));
  if (!items) return error ? html`<${Failure} error=${error} again=${read} />` : html`<p class="empty">Reading the activity…</p>`;
  if (!items.length) return Object.values(asked).some(Boolean)
    ? html`<${NothingFits} what="entry" clear=${clear} />`
    : html`<${EmptyState} title="Nothing was done yet"><p>Every input and every change is here once it has happened.</p><//>`;
  return html`
    <p class="small">${count(total, "entry", "entries")}</p>
    <${Table} name="activity" label="Activity" columns=${COLUMNS} items=${items} keyOf=${idOf} row=${rowOf} chosen="" />
    ${error ? html`<p class="said" role="alert">${wordsOf(error)}</p>` : !isWhole && html`<${End} seen=${readOn} />`}
  `;
}

/** @param {AuditEntry} entry */
const idOf = ({ id }) => id;

/**
 * Of those that lead nowhere, too, the keyboard finds each.
 * @param {AuditEntry} entry
 */
const rowOf = ({ request_id }) => ({ title: `Request ${request_id}`, tabindex: -1 });

/**
 * What it was done to: by its name, as an id says little, and of a token with what it allowed.
 * @param {AuditEntry} entry
 */
function targetOf({ action, machine_id, target, target_name, grant }) {
  if (machine_id) return html`<a href="#${path`/machines/${machine_id}`}">${machine_id}</a>`;
  if (target && action.startsWith("trajectory.")) return html`<a href="#${path`/trajectories/${target}`}">${target}</a>`;
  return html`<bdi>${target_name ?? target}</bdi>${grant && ` (${grant.role ?? grant.scopes.join(", ")})`}`;
}

/** @param {typeof USUAL} chosen */
function parametersOf({ created_at_from, created_at_to, machine_id, token_name, action }) {
  return {
    action,
    machine_id: machine_id.trim(),
    token_name: token_name.trim(),
    created_at_from: momentOf(created_at_from, "00:00:00"),
    created_at_to: momentOf(created_at_to, "23:59:59.999"),
  };
}

/**
 * Save what is chosen as a file.  It is read first, so that an error is said here and not in the file.
 * @param {typeof USUAL} chosen
 */
async function save(chosen) {
  const response = await request("GET", query("v1/audit/export", parametersOf(chosen)));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = "audit.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MILLISECONDS);
}

/** What the audit has of what is asked for: read as far as one looks, and again when there is news. */
class Entries extends Reading {
  /** @type {AuditEntry[] | null} until they are read */
  items = null;
  total = 0;
  isWhole = false;
  /** Whether older ones are wanted, and not the latest. */
  #older = false;

  /**
   * @param {typeof USUAL} asked
   * @param {PageProperties["events"]} events
   * @param {Session} me
   * @param {AbortSignal} signal
   */
  constructor(asked, events, me, signal) {
    super(signal);
    this.parameters = parametersOf(asked);
    const news = () => this.readIn(NEWS_MILLISECONDS);
    for (const type of /** @type {const} */ (["reset", "audit", "command"])) events.on(type, news, signal);
    // A stretch that goes on may stand below what is read again.
    events.on("audit", ({ detail }) => {
      this.items = this.items?.map((entry) => (entry.id === detail.id ? detail : entry)) ?? null;
    }, signal);
    // Events are for whoever may see machines.
    const polling = me.scopes.includes("machines:read") ? 0 : setInterval(news, POLL_MILLISECONDS);
    signal.addEventListener("abort", () => clearInterval(polling));
    void this.read();
  }

  readOn = () => {
    if (this.isReading) return;
    this.#older = true;
    void this.read();
  };

  /**
   * @override
   * @param {AbortSignal} signal
   */
  async load(signal) {
    const shown = this.items ?? [];
    const oldest = this.#older ? shown.at(-1)?.created_at : undefined;
    this.#older = false;
    // As many as have the oldest's time are passed over, and not all: what comes meanwhile moves nothing.
    const part = oldest
      ? { created_at_to: oldest, skip: shown.filter(({ created_at }) => created_at === oldest).length, limit: PART }
      : { limit: this.items ? PART : Math.min(MOST, PART + Math.ceil(rememberedPlace() / LEAST_PIXELS)) };
    /** @type {Answer<Part<AuditEntry>>} */
    const { data } = await call("GET", query("v1/audit", { ...this.parameters, ...part }), { signal });
    const known = new Map(shown.map((entry) => [entry.id, entry]));
    const goesOn = oldest || data.items.some(({ id }) => known.has(id));
    const all = new Map([...(goesOn ? known : []), ...data.items.map((entry) => /** @type {const} */ ([entry.id, entry]))]);
    this.items = [...all.values()].toSorted(newestFirst);
    if (oldest || !goesOn) this.isWhole = data.items.length < part.limit;
    if (!oldest) this.total = data.total;
  }
}

/** @type {(one: AuditEntry, other: AuditEntry) => number} */
function newestFirst(one, other) {
  return one.created_at === other.created_at ? (one.id < other.id ? 1 : -1) : one.created_at < other.created_at ? 1 : -1;
}
