/** What the table of machines has of each. */

import { html } from "../parts/elements.js";
import { StateBadge } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { capital, displays, number, span, stateOf, whyOf } from "../parts/words.js";
import { path } from "../server/api.js";
import { Tick } from "./selection.js";

/** @type {Column<Machine>[]} */
const COLUMNS = [
  { key: "state", label: "State", sorts: "up", cell: (machine) => html`<${StateBadge} state=${stateOf(machine)} />` },
  {
    key: "name", label: "Machine", sorts: "up",
    cell: ({ id, name }) => html`<a href="#${path`/machines/${id}`}" dir="auto">${name}</a>${id !== name && html`<small>${id}</small>`}`,
  },
  { key: "reason", label: "Why", cell: reasonOf, attributes: ({ reason }) => ({ title: reason }) },
  { key: "since", label: "Since", cell: ({ since }) => html`<${Ago} time=${since} />` },
  {
    key: "labels", label: "Pools and tags", cell: (machine) => html`<${Labels} ...${machine} />`,
    attributes: ({ pools, tags }) => ({ title: [...pools.map(({ name }) => name), ...tags].join(", ") }),
  },
  { key: "round_trip", label: "Round trip", numeric: true, cell: ({ round_trip_ms }) => span(round_trip_ms) },
  { key: "display", label: "Display", cell: (machine) => displays(machine.displays) },
  { key: "version", label: "Version", sorts: "up", cell: (machine) => html`<${Version} ...${machine} />`, attributes: ({ platform }) => ({ title: platform }) },
  { key: "inputs", label: "Inputs", numeric: true, cell: ({ inputs }) => number(inputs.completed) },
  {
    key: "failed", label: "Failed", numeric: true,
    cell: ({ inputs }) => number(inputs.failed), attributes: ({ inputs }) => ({ "data-some": inputs.failed > 0 || null }),
  },
];

/** @type {(selection: import("./selection.js").Selection | null, head: import("../vendor/preact.js").Children) => Column<Machine>[]} with boxes to choose rows, for whom there is something to do with them */
export const columnsFor = (selection, head) => selection
  ? [{ key: "tick", label: "Chosen", head, cell: (machine) => html`<${Tick} selection=${selection} machine=${machine} />` }, ...COLUMNS]
  : COLUMNS;

/** @param {Machine} machine why it is as it is, who has control of it and who watches */
function reasonOf(machine) {
  const { control, viewers } = machine;
  return html`<span>${capital(whyOf(machine))}</span>
    ${control && html` <small class="holder">${control.by} has ${control.private ? "private " : ""}control, taken <${Ago} time=${control.since} /></small>`}
    ${viewers.length > 0 && html` <small>Watched by ${viewers.join(", ")}.</small>`}`;
}

/** @param {Pick<Machine, "pools" | "tags">} machine its pools by their names, and its tags */
export const Labels = ({ pools, tags }) => html`<span class="labels">
  ${pools.map(({ id, name }) => html`<span key=${id} class="label pool" dir="auto">${name}</span>`)}
  ${tags.map((tag) => html`<span key=${tag} class="label" dir="auto">${tag}</span>`)}
</span>`;

/** @param {Pick<Machine, "client_version" | "outdated">} machine the version of its client, with a mark where the server's is newer */
export const Version = ({ client_version, outdated }) => outdated
  ? html`<span class="outdated">${client_version} <small>outdated</small></span>`
  : (client_version ?? "–");
