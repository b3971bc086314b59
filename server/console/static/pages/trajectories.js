/** All trajectories in one table: filtered and sorted by the server, and read as far as one looks. */

import { useChosen, useSettled } from "../parts/address.js";
import { html, useMade, useState, useTitle } from "../parts/elements.js";
import { Filters } from "../parts/filters.js";
import { Found, Listing, useListing } from "../parts/listing.js";
import { CommandLine, EmptyState } from "../parts/pieces.js";
import { ApprovalBadge, PicturesGo } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { count, number, present } from "../parts/words.js";
import { get, listAll, path, query } from "../server/api.js";
import { FirstLook } from "./review/first_look.js";
import { TrajectoryTabs } from "./workflows/tabs.js";

const PART = 1000;
const NEWS_MILLISECONDS = 1000;
const SOON_MILLISECONDS = 7 * 24 * 3600 * 1000;

const USUAL = {
  search: "",
  workflow_id: "",
  machine_id: "",
  author_id: "",
  review_state: "",
  created_at_from: "",
  created_at_to: "",
  sort: "-created_at",
};

/** @type {[string, string][]} */
const REVIEW_STATES = [
  ["", "Any"],
  ["open", "Not decided"],
  ["approved", "Approved"],
  ["rejected", "Rejected"],
  ["withdrawn", "No longer approved"],
  ["pending", "Pending"],
];

/** @type {(workflows: [string, string][]) => Filter<keyof typeof USUAL>[]} */
const filtersOf = (workflows) => [
  { name: "search", label: "Search", hint: "Name, description, id" },
  { name: "workflow_id", label: "Workflow", options: [["", "All"], ...workflows] },
  { name: "machine_id", label: "Machine", hint: "Id of a machine" },
  { name: "author_id", label: "Author", hint: "Id of a user or token" },
  { name: "review_state", label: "Review", options: REVIEW_STATES },
  { name: "created_at_from", label: "Created from", type: "date" },
  { name: "created_at_to", label: "Created to", type: "date" },
];

/** Whether the list tells of pictures: they have gone, or go soon. */
const isTold = (/** @type {Trajectory} */ { pictures_until, pictures_expired_at }) =>
  pictures_until ? Date.parse(pictures_until) < present() + SOON_MILLISECONDS : pictures_expired_at !== null;

/** @type {Column<ListedTrajectory>[]} */
const COLUMNS = [
  { key: "look", label: "Begins", cell: (trajectory) => html`<${FirstLook} key=${trajectory.id + trajectory.updated_at} trajectory=${trajectory} />` },
  {
    key: "name", label: "Name", sorts: "up",
    cell: ({ id, name, description }) => [
      html`<a href="#${path`/trajectories/${id}`}" dir="auto">${name || "Without a name"}</a>`,
      description && html`<small dir="auto">${description}</small>`,
    ],
    attributes: ({ name, description }) => ({ title: [name, description].filter(Boolean).join("\n") }),
  },
  { key: "approval", label: "Approval", cell: (trajectory) => html`<${ApprovalBadge} ...${trajectory} />${trajectory.is_main && html`<small>The main one</small>`}` },
  { key: "workflow", label: "Workflow", cell: ({ workflow }) => workflow, attributes: ({ workflow }) => ({ title: workflow, dir: "auto" }) },
  { key: "machine", label: "Machine", cell: ({ machine_id }) => machine_id, attributes: ({ machine_id }) => ({ title: machine_id }) },
  { key: "steps", label: "Steps", numeric: true, cell: ({ step_count }) => number(step_count) },
  { key: "size", label: "Size", numeric: true, cell: ({ dimensions: { width, height } }) => `${width} × ${height}` },
  {
    key: "updated_at", label: "Updated", sorts: "down",
    cell: (trajectory) => [
      html`<${Ago} time=${trajectory.updated_at} />`,
      isTold(trajectory) && html`<small><${PicturesGo} ...${trajectory} /></small>`,
    ],
  },
  { key: "created_at", label: "Created", sorts: "down", cell: ({ created_at }) => html`<${Ago} time=${created_at} />` },
];

export function TrajectoriesPage(/** @type {PageProperties} */ page) {
  useTitle("Trajectories");
  const [chosen, choose] = useChosen("/trajectories", USUAL);
  const asked = useSettled(chosen);
  const list = useListing((signal) => new Trajectories({ ...page, asked, signal }), asked);
  const [workflows, learn] = useState(/** @type {[string, string][]} */ ([]));
  useMade((signal) => {
    /** @type {Promise<Workflow[]>} */
    const reading = listAll("v1/workflows", signal);
    // The list says itself what is wrong, if nothing can be read; names are only pleasant to have.
    reading.then((all) => learn(all.map(({ id, name }) => [id, name])), () => null);
  });
  const { items, total, isWhole, isChanged } = list;
  const told = `${isWhole ? "" : `${number(items?.length)} of `}${count(total, "trajectory", "trajectories")}`;
  // What was wrong may be the order.
  const clear = () => choose(list.error ? USUAL : { ...USUAL, sort: chosen.sort });
  return html`<section>
    <${TrajectoryTabs} />
    <div class="head"><h1>Trajectories</h1><p class="small" role="status">${items && told}</p></div>
    <${Filters} filters=${filtersOf(workflows)} chosen=${chosen} choose=${choose} />
    ${isChanged && items?.length && html`<button type="button" class="news" onClick=${list.read}>There are changes: show them</button>`}
    <${Found}
      name="trajectories" label="Trajectories" what="trajectory" columns=${COLUMNS} list=${list}
      order=${chosen.sort} sort=${(/** @type {string} */ sort) => choose({ sort })}
      isFiltered=${isFiltered(list.asked)} clear=${clear} first=${html`<${FirstTrajectory} />`}
    />
  </section>`;
}

const FirstTrajectory = () => html`<${EmptyState} title="No trajectory yet">
  <p>A trajectory is a recorded sequence of steps. Bring in those that you have, one JSON object a line:</p>
  <${CommandLine} text="farhand trajectory import FILE" />
  <p>Or send one with POST /v1/trajectories. It appears here by itself.</p>
<//>`;

/** @param {Asked} asked */
const isFiltered = (asked) => Object.entries({ ...asked, sort: USUAL.sort }).join() !== Object.entries(USUAL).join();

/** @augments {Listing<ListedTrajectory>} those that fit what is asked for, in the server's order */
class Trajectories extends Listing {
  /** Whether one was made, changed or deleted since they were read. */
  isChanged = false;

  constructor(/** @type {Watched & {asked: typeof USUAL}} */ page) {
    super(page);
    page.events.on("trajectory", () => this.#heard(), page.signal);
  }

  #heard() {
    this.isChanged = true;
    // From an empty list nothing can be pushed away.
    if (this.items?.length === 0) this.readIn(NEWS_MILLISECONDS);
    this.tell();
  }

  /** @override */ async find(/** @type {ListedTrajectory[] | null} */ known) {
    if (!known) this.isChanged = false;
    const found = new Map(known?.map((item) => [item.id, item]));
    for (let skip = found.size; ; ) {
      const part = { ...this.parameters, is_generated: "null", include: "workflow", steps: "false", skip, limit: PART };
      const { items, included, total } = /** @type {TrajectoryPart} */ (await get(query("v1/trajectories", part), this.loading));
      const names = new Map(included?.map(({ id, name }) => [id, name]));
      // What was added meanwhile moves the rest by a place: nothing is shown twice.
      for (const item of items) found.set(item.id, { ...item, workflow: names.get(item.workflow_id) ?? "" });
      skip += items.length;
      const isWhole = skip >= total || !items.length;
      // Read again, it is as far.
      if (isWhole || skip >= this.far) return { items: [...found.values()], total, isWhole, far: skip };
    }
  }
}
