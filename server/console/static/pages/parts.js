/** All parts of the console on one page, for who builds with them and for the test of their accessibility. */

import { html, useState, useTitle } from "../parts/elements.js";
import { Picture, readPicture } from "../parts/picture.js";
import { Chips, Filters } from "../parts/filters.js";
import { CommandLine, Dialog, EmptyState, Failure, Field, NothingFits, WorkButton } from "../parts/pieces.js";
import { ApprovalBadge, OutcomeBadge, StateBadge } from "../parts/states.js";
import { Table } from "../parts/table.js";
import { Ago } from "../parts/time.js";
import { toast } from "../parts/toasts.js";
import { OUTCOMES, STATES } from "../parts/words.js";

/** @type {Column<{id: string, count: number}>[]} */
const COLUMNS = [
  { key: "name", label: "Name", sorts: "up", cell: ({ id }) => html`<a href="#/parts">${id}</a>` },
  { key: "count", label: "Count", sorts: "up", numeric: true, cell: ({ count }) => count },
];

const ITEMS = ["Rose", "Lily", "Iris"].map((id, count) => ({ id, count }));

/** @type {Filter<"q" | "kind">[]} */
const FILTERS = [
  { name: "q", label: "Filter", hint: "Words" },
  { name: "kind", label: "Kind", options: [["", "Any"], ["bulb", "Bulb"]] },
];

export function PartsPage() {
  useTitle("Parts");
  const [state, choose] = useState("");
  const [order, sort] = useState("name");
  const [isOpen, open] = useState(false);
  const [filters, filter] = useState({ q: "", kind: "" });
  const chips = ["", ...Object.keys(STATES)].map((value, count) => ({ value, word: STATES[value]?.word ?? "All", count, isState: true }));
  return html`<section class="parts">
    <h1>Parts</h1>
    <h2>Table</h2>
    <${Table} name="plain" label="Flowers" columns=${COLUMNS} items=${ITEMS} order=${order} sort=${sort} chosen="" />
    <h2>Filter and chips</h2>
    <${Filters} filters=${FILTERS} chosen=${filters} choose=${(/** @type {Partial<typeof filters>} */ change) => filter({ ...filters, ...change })} />
    <${Chips} label="Show only" chips=${chips} chosen=${state} choose=${choose} />
    <h2>States and outcomes</h2>
    <p class="row">${Object.keys(STATES).map((name) => html`<${StateBadge} state=${name} />`)}</p>
    <p class="row">${Object.keys(OUTCOMES).map((name) => html`<${OutcomeBadge} outcome=${name} code="some-code" />`)}</p>
    <p class="row">
      <${ApprovalBadge} is_generated=${false} review=${{ state: "open" }} />
      ${["open", "approved", "rejected", "withdrawn"].map((review) => html`<${ApprovalBadge} is_generated is_approved=${review === "approved"} review=${{ state: review }} />`)}
      <${ApprovalBadge} is_generated is_approved review=${{ state: "open" }} />
    </p>
    <h2>Time</h2>
    <p><${Ago} time=${new Date().toISOString()} /></p>
    <h2>Buttons and toasts</h2>
    <div class="row">
      <${WorkButton} work=${() => Promise.resolve(toast("It is done."))}>Do it<//>
      <${WorkButton} class="primary" work=${() => Promise.reject(new Error("It went wrong."))}>Fail<//>
    </div>
    <h2>Dialog</h2>
    <button type="button" onClick=${() => open(true)}>Ask something</button>
    ${isOpen && html`<${Dialog} title="Which flower?" submit=${() => Promise.reject(new Error("There is none."))} close=${() => open(false)}>
      <${Field} label="Name"><input name="flower" /><//>
      <div class="row"><button class="primary">Choose</button></div>
    <//>`}
    <h2>Picture</h2>
    <${Picture} source="" read=${readPicture} size=${{ width: 320, height: 200 }} places=${[{ x: 80, y: 60 }, { x: 240, y: 120 }]} label="Drag" />
    <h2>Command</h2>
    <${CommandLine} text="farhand machine list" />
    <h2>Empty states</h2>
    <${EmptyState} title="Nothing yet"><p>What that means, and the next step.</p><//>
    <${NothingFits} what="flower" clear=${() => choose("")} />
    <${Failure} error=${new Error("The server does not answer.")} again=${() => null} />
  </section>`;
}
