/** Who did what, to what and when: the organization's audit, newest first, as it grows. */

import { useChosen, useSettled } from "../parts/address.js";
import { html, useTitle } from "../parts/elements.js";
import { Filters } from "../parts/filters.js";
import { Found, Listing, useListing } from "../parts/listing.js";
import { EmptyState, WorkButton } from "../parts/pieces.js";
import { OutcomeBadge } from "../parts/states.js";
import { save } from "../parts/saving.js";
import { Ago } from "../parts/time.js";
import { actionOf, count } from "../parts/words.js";
import { get, path, query, request } from "../server/api.js";

const PART = 100;
const MOST = 1000;
const NEWS_MILLISECONDS = 500;
const POLL_MILLISECONDS = 5000;
/** A browser may take its time to save a file. */

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
  ["pool", "Pools"],
  ["invitation", "Invitations"],
  ["join", "Letting hosts in"],
  ["webhook", "Webhooks"],
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

export function ActivityPage(/** @type {PageProperties} */ page) {
  useTitle("Activity");
  const [chosen, choose] = useChosen("/activity", USUAL);
  const asked = useSettled(chosen);
  const list = useListing((signal) => new Entries({ ...page, asked, signal }), asked);
  const isFiltered = Object.values(list.asked).some(Boolean);
  const clear = () => choose(USUAL);
  const first = html`<${EmptyState} title="Nothing was done yet"><p>Every input and every change is here once it has happened.</p><//>`;
  return html`<section>
    <div class="head"><h1>Activity</h1><${WorkButton} work=${() => download(list)}>Download as CSV<//></div>
    <${Filters} filters=${FILTERS} chosen=${chosen} choose=${choose} />
    ${list.items?.length && html`<p class="small">${count(list.total, "entry", "entries")}</p>`}
    <${Found} name="activity" label="Activity" what="entry" columns=${COLUMNS} row=${rowOf} ...${{ list, isFiltered, clear, first }} />
  </section>`;
}

/** @param {AuditEntry} entry which the keyboard finds, though it may lead nowhere */
const rowOf = ({ request_id }) => ({ title: `Request ${request_id}`, tabindex: -1 });

/** @param {AuditEntry} entry what it was done to: by its name, as an id says little, and of a token with what it allowed */
function targetOf({ action, machine_id, target, target_name, grant }) {
  if (machine_id) return html`<a href="#${path`/machines/${machine_id}`}">${machine_id}</a>`;
  if (target && action.startsWith("trajectory.")) return html`<a href="#${path`/trajectories/${target}`}">${target}</a>`;
  return html`<bdi>${target_name ?? target}</bdi>${grant && ` (${grant.role ?? grant.scopes.join(", ")})`}`;
}

/** @param {Entries} list to be saved as a file */
async function download({ parameters }) {
  const response = await request("GET", query("v1/audit/export", parameters));
  await save(response, "audit.csv");
}

/** @augments {Listing<AuditEntry>} what the audit has of what is asked for, and again when there is news */
class Entries extends Listing {
  constructor(/** @type {Watched & {asked: typeof USUAL}} */ page) {
    super(page);
    const { events, me, signal } = page;
    events.on("command", () => this.reset(), signal);
    events.on("audit", ({ detail }) => this.#renew(detail), signal);
    // Events are for whoever may see machines.
    const polling = me.scopes.includes("machines:read") ? 0 : setInterval(() => this.reset(), POLL_MILLISECONDS);
    signal.addEventListener("abort", () => clearInterval(polling));
  }

  /** @override */ reset() {
    this.readIn(NEWS_MILLISECONDS);
  }

  /** @param {AuditEntry} fresh which may stand below what is read again: a stretch that goes on */
  #renew(fresh) {
    const items = this.items?.map((entry) => (entry.id === fresh.id ? fresh : entry));
    Object.assign(this, items && { items });
    this.reset();
  }

  /** @override */ async find(/** @type {AuditEntry[] | null} */ before) {
    const shown = this.items ?? [];
    const oldest = before?.at(-1)?.created_at;
    // As many as have the oldest's time are passed over, and not all: what comes meanwhile moves nothing.
    const part = oldest
      ? { created_at_to: oldest, skip: shown.filter(({ created_at }) => created_at === oldest).length, limit: PART }
      : { limit: this.items ? PART : Math.min(MOST, PART + this.far) };
    const found = /** @type {Part<AuditEntry>} */ (await get(query("v1/audit", { ...this.parameters, ...part }), this.loading));
    const known = new Map(shown.map((entry) => [entry.id, entry]));
    const goesOn = oldest || found.items.some(({ id }) => known.has(id));
    const all = new Map([...(goesOn ? known : []), ...found.items.map((entry) => /** @type {const} */ ([entry.id, entry]))]);
    return {
      items: [...all.values()].toSorted(newestFirst),
      total: oldest ? this.total : found.total,
      isWhole: oldest || !goesOn ? found.items.length < part.limit : this.isWhole,
    };
  }
}

/** @type {(one: AuditEntry, other: AuditEntry) => number} */
const newestFirst = (one, other) => (one.created_at + one.id < other.created_at + other.id ? 1 : -1);
