/** All trajectories in one table: filtered and sorted by the server, and read as far as one looks. */

import { rememberedPlace, useChosen, useSettled } from "../parts/address.js";
import { html, useEffect, useMade, useState, useStore, useTitle } from "../parts/elements.js";
import { End } from "../parts/end.js";
import { Filters } from "../parts/filters.js";
import { CommandLine, EmptyState, Failure, NothingFits } from "../parts/pieces.js";
import { Reading } from "../parts/reading.js";
import { ApprovalBadge } from "../parts/states.js";
import { Table } from "../parts/table.js";
import { Ago } from "../parts/time.js";
import { count, momentOf, number } from "../parts/words.js";
import { call, listAll, path, query, statusOf, wordsOf } from "../server/api.js";

const PART = 1000;
/** Of a table's row; how many were read is told from how far down one was. */
const LEAST_PIXELS = 30;
const NEWS_MILLISECONDS = 1000;

const USUAL = {
  search: "",
  workflow_id: "",
  is_approved: "",
  is_generated: "null",
  created_at_from: "",
  created_at_to: "",
  sort: "-created_at",
};

/** @type {(workflows: [string, string][]) => Filter<keyof typeof USUAL>[]} */
const filtersOf = (workflows) => [
  { name: "search", label: "Search", hint: "Name, description, id" },
  { name: "workflow_id", label: "Workflow", options: [["", "All"], ...workflows] },
  { name: "is_approved", label: "Approval", options: [["", "Any"], ["true", "Approved"], ["false", "Not approved"]] },
  { name: "is_generated", label: "Generation", options: [["null", "Any"], ["true", "Generated"], ["false", "Pending"]] },
  { name: "created_at_from", label: "Created from", type: "date" },
  { name: "created_at_to", label: "Created to", type: "date" },
];

/** @type {Column<ListedTrajectory>[]} */
const COLUMNS = [
  { key: "name", label: "Name", sorts: true, cell: nameOf, attributes: ({ name, description }) => ({ title: [name, description].filter(Boolean).join("\n") }) },
  { key: "approval", label: "Approval", cell: (trajectory) => html`<${ApprovalBadge} ...${trajectory} />` },
  { key: "workflow", label: "Workflow", cell: ({ workflow }) => workflow, attributes: ({ workflow }) => ({ title: workflow, dir: "auto" }) },
  { key: "steps", label: "Steps", numeric: true, cell: ({ step_count }) => number(step_count) },
  { key: "size", label: "Size", numeric: true, cell: ({ dimensions: { width, height } }) => `${width} × ${height}` },
  { key: "updated_at", label: "Updated", sorts: true, falls: true, cell: ({ updated_at }) => html`<${Ago} time=${updated_at} />` },
  { key: "created_at", label: "Created", sorts: true, falls: true, cell: ({ created_at }) => html`<${Ago} time=${created_at} />` },
];

/** @param {PageProperties} page */
export function TrajectoriesPage({ events }) {
  useTitle("Trajectories");
  const [chosen, choose] = useChosen("/trajectories", USUAL);
  const list = useStore(useMade((signal) => new Trajectories(events, signal)));
  const settled = useSettled(chosen);
  useEffect(() => list.ask(settled), [settled]);
  const [workflows, learn] = useState(/** @type {[string, string][]} */ ([]));
  useMade((signal) => {
    /** @type {Promise<Workflow[]>} */
    const reading = listAll("v1/workflows", signal);
    // The list says itself what is wrong, if nothing can be read; names are only pleasant to have.
    reading.then((all) => learn(all.map(({ id, name }) => [id, name])), () => null);
  });
  const { items, total, isWhole, error, isChanged } = list;
  const told = `${isWhole ? "" : `${number(items?.length)} of `}${count(total, "trajectory", "trajectories")}`;
  return html`<section>
    <div class="head"><h1>Trajectories</h1><p class="small" role="status">${items && (error ? wordsOf(error) : told)}</p></div>
    <${Filters} filters=${filtersOf(workflows)} chosen=${chosen} choose=${choose} />
    ${isChanged && items?.length && html`<button type="button" class="news" onClick=${() => void list.readAll()}>There are changes: show them</button>`}
    <${Found} list=${list} chosen=${chosen} choose=${choose} />
    ${items && !isWhole && html`<${End} seen=${list.readOn} />`}
  </section>`;
}

/** @param {{list: Trajectories, chosen: typeof USUAL, choose: (change: Partial<typeof USUAL>) => void}} properties */
function Found({ list: { items, error, answered, readAll }, chosen, choose }) {
  const clear = () => choose({ ...USUAL, sort: chosen.sort });
  // An address that somebody has written, or a range that ends before it begins.
  if (statusOf(error) === 422) return html`<${NothingFits} what="trajectory" clear=${() => choose(USUAL)}><p>${wordsOf(error)}</p><//>`;
  if (error && (!items || answered !== chosen)) return html`<${Failure} error=${error} again=${readAll} />`;
  if (items?.length === 0) return isFiltered(answered) ? html`<${NothingFits} what="trajectory" clear=${clear} />` : html`<${FirstTrajectory} />`;
  return html`<${Table}
    name="trajectories" label="Trajectories" columns=${COLUMNS} items=${items ?? []} keyOf=${idOf}
    order=${chosen.sort} sort=${(/** @type {string} */ sort) => choose({ sort })} chosen=${Object.values(answered).join("\n")}
  />
  ${!items && html`<p class="empty">Reading the trajectories…</p>`}`;
}

function FirstTrajectory() {
  return html`<${EmptyState} title="No trajectory yet">
    <p>A trajectory is a recorded sequence of steps. Bring in those that you have, one JSON object a line:</p>
    <${CommandLine} text="farhand trajectory import FILE" />
    <p>Or send one with POST /v1/trajectories. It appears here by itself.</p>
  <//>`;
}

/** @param {typeof USUAL} chosen */
function isFiltered(chosen) {
  return Object.entries({ ...chosen, sort: USUAL.sort }).join() !== Object.entries(USUAL).join();
}

/** @param {ListedTrajectory} trajectory */
const idOf = ({ id }) => id;

/** @param {ListedTrajectory} trajectory */
function nameOf({ id, name, description }) {
  return html`<a href="#${path`/trajectories/${id}`}" dir="auto">${name || "Without a name"}</a>${description && html`<small dir="auto">${description}</small>`}`;
}

/** @param {typeof USUAL} chosen */
function parametersOf({ search, created_at_from, created_at_to, ...rest }) {
  return {
    ...rest,
    search: search.trim(),
    created_at_from: momentOf(created_at_from, "00:00:00"),
    created_at_to: momentOf(created_at_to, "23:59:59.999"),
    include: "workflow",
    steps: "false",
  };
}

/** The trajectories that fit what is chosen, in the server's order. */
class Trajectories extends Reading {
  /** @type {ListedTrajectory[] | null} until they are read */
  items = null;
  total = 0;
  isWhole = false;
  /** Whether one was made, changed or deleted since they were read. */
  isChanged = false;
  /** What was chosen when they were read. */
  answered = USUAL;
  /** @type {typeof USUAL | null} until it is known */
  #chosen = null;
  /** How many were read, or have to be for the place to which one comes back. */
  #far = rememberedPlace() / LEAST_PIXELS;
  /** From where on the next are read. */
  #first = 0;

  /**
   * @param {PageProperties["events"]} events
   * @param {AbortSignal} signal
   */
  constructor(events, signal) {
    super(signal);
    events.on("reset", () => this.#chosen && this.readAll(), signal);
    events.on("trajectory", this.#heard, signal);
  }

  /** @param {typeof USUAL} chosen */
  ask(chosen) {
    if (this.#chosen) this.#far = 0;
    this.#chosen = chosen;
    void this.readAll();
  }

  /** Read from the first one on, as far as was read before. */
  readAll = () => {
    this.#first = 0;
    return this.read();
  };

  readOn = () => {
    if (this.isReading) return;
    this.#first = this.#far;
    void this.read();
  };

  #heard = () => {
    this.isChanged = true;
    // From an empty list nothing can be pushed away.
    if (this.items?.length === 0) this.readIn(NEWS_MILLISECONDS);
    this.tell();
  };

  /**
   * @override
   * @param {AbortSignal} signal
   */
  async load(signal) {
    const chosen = this.#chosen ?? USUAL;
    let skip = this.#first;
    if (!skip) this.isChanged = false;
    /** @type {Map<string, ListedTrajectory>} */
    const found = new Map(skip ? this.items?.map((item) => [item.id, item]) : []);
    do {
      /** @type {Answer<TrajectoryPart>} */
      const { data } = await call("GET", query("v1/trajectories", { ...parametersOf(chosen), skip, limit: PART }), { signal });
      const names = new Map(data.included?.map(({ id, name }) => [id, name]));
      // What was added meanwhile moves the rest by a place: nothing is shown twice.
      for (const item of data.items) found.set(item.id, { ...item, workflow: names.get(item.workflow_id) ?? "" });
      skip += data.items.length;
      this.total = data.total;
      this.isWhole = skip >= data.total || !data.items.length;
    } while (!this.isWhole && skip < this.#far);
    Object.assign(this, { items: [...found.values()], answered: chosen });
    this.#far = skip;
  }
}
