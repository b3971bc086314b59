/** All runs in one table: those that wait, those that are at work and those that have ended, newest first, as they go on. */

import { useChosen, useSettled } from "../parts/address.js";
import { html, useMade, useMemo, useState, useTitle } from "../parts/elements.js";
import { Filters } from "../parts/filters.js";
import { Found, Pages, useListing } from "../parts/listing.js";
import { EmptyState, WorkButton } from "../parts/pieces.js";
import { save } from "../parts/saving.js";
import { RUNS, RunBadge } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { toast } from "../parts/toasts.js";
import { count } from "../parts/words.js";
import { call, listAll, path } from "../server/api.js";
import { POLL_MILLISECONDS } from "./runs/one_run.js";

const NEWS_MILLISECONDS = 500;
const MOST_SAVED = 1000;

const USUAL = { status: "", machine_id: "", workflow_id: "" };

/** @type {[string, string][]} */
const STATUSES = [["", "Any"], ...Object.entries(RUNS).map(([status, { word }]) => /** @type {[string, string]} */ ([status, word]))];

/** @type {(workflows: [string, string][]) => Filter<keyof typeof USUAL>[]} */
const filtersOf = (workflows) => [
  { name: "status", label: "Status", options: STATUSES },
  { name: "machine_id", label: "Machine", hint: "Id of a machine" },
  { name: "workflow_id", label: "Workflow", options: [["", "All"], ...workflows] },
];

/** @type {(names: Map<string, string>) => Column<Run>[]} */
const columnsOf = (names) => [
  { key: "name", label: "Run", cell: ({ id, workflow_id }) => html`<a href="#${path`/runs/${id}`}" dir="auto">${names.get(workflow_id) || id}</a>`, attributes: ({ id }) => ({ title: id }) },
  { key: "status", label: "Status", cell: (run) => html`<${RunBadge} run=${run} />`, attributes: ({ halted, error }) => ({ title: halted?.detail ?? error }) },
  { key: "machine", label: "Machine", cell: machineOf, attributes: ({ machine_id }) => ({ title: machine_id }) },
  { key: "step", label: "Step", cell: ({ step, step_count }) => `${Math.min(step, step_count)} of ${step_count}` },
  { key: "by", label: "Begun by", cell: ({ by }) => by, attributes: ({ by }) => ({ title: by, dir: "auto" }) },
  { key: "created", label: "Begun", cell: ({ created_at }) => html`<${Ago} time=${created_at} />` },
  { key: "ended", label: "Ended", cell: ({ ended_at }) => html`<${Ago} time=${ended_at} />` },
];

/** @param {Run} run where it works, once that is chosen */
const machineOf = ({ machine_id }) => (machine_id ? html`<a href="#${path`/machines/${machine_id}`}">${machine_id}</a>` : "Any of its pools");

export function RunsPage(/** @type {PageProperties} */ page) {
  useTitle("Runs");
  const [chosen, choose] = useChosen("/runs", USUAL);
  const asked = useSettled(chosen);
  const list = useListing((signal) => new Runs({ ...page, asked, signal }), asked);
  const [workflows, learn] = useState(/** @type {[string, string][]} */ ([]));
  useMade((signal) => {
    /** @type {Promise<Workflow[]>} */
    const reading = listAll("v1/workflows", signal);
    // The list says itself what is wrong, if nothing can be read; names are only pleasant to have.
    reading.then((all) => learn(all.map(({ id, name }) => [id, name])), () => null);
  });
  const columns = useMemo(() => columnsOf(new Map(workflows)), [workflows]);
  const isFiltered = Object.values(list.asked).some(Boolean);
  return html`<section>
    <div class="head">
      <h1>Runs</h1><p class="small" role="status">${list.items && count(list.total, "run")}</p>
      ${list.total > 0 && html`<${WorkButton} work=${() => download(list.asked)}>Export<//>`}
    </div>
    <${Filters} filters=${filtersOf(workflows)} chosen=${chosen} choose=${choose} />
    <${Found}
      name="admin runs" label="Runs" what="run" columns=${columns} list=${list}
      isFiltered=${isFiltered} clear=${() => choose(USUAL)} first=${html`<${FirstRun} />`}
    />
  </section>`;
}

/** @param {typeof USUAL} asked of the runs that are saved, the newest first: each whole, with its steps, in a line */
async function download(asked) {
  /** @type {Run[]} */
  const found = await listAll("v1/runs", null, asked);
  const lines = [];
  for (const { id } of found.slice(0, MOST_SAVED)) {
    /** @type {Answer<Run>} */
    const { data } = await call("GET", path`v1/runs/${id}`);
    lines.push(JSON.stringify(data));
  }
  await save(new Response(`${lines.join("\n")}\n`), "runs.jsonl");
  if (found.length > MOST_SAVED) toast(`The newest ${MOST_SAVED} were saved: choose fewer to have the others.`);
}

const FirstRun = () => html`<${EmptyState} title="No run yet">
  <p>A run does the steps of an approved <a href="#/trajectories?review_state=approved">trajectory</a> once more: its page has the button <i>Run</i>.</p>
<//>`;

/** @augments {Pages<Run>} those that fit what is asked for */
class Runs extends Pages {
  constructor(/** @type {Watched & {asked: typeof USUAL}} */ { asked, ...page }) {
    const isTold = page.me.scopes.includes("machines:read");
    super({ ...page, address: "v1/runs", filter: asked, kinds: [], ...(isTold ? {} : { every: POLL_MILLISECONDS }) });
    this.asked = asked;
    page.events.on("run", () => this.readIn(NEWS_MILLISECONDS), page.signal);
  }
}
