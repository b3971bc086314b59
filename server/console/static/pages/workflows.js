/** Workflows, which trajectories are recordings of: made, renamed, described, removed, and what their runs bring. */

import { html, useMemo, useState, useTitle } from "../parts/elements.js";
import { Confirm } from "../parts/forms.js";
import { Found, usePages } from "../parts/listing.js";
import { Dialog, EmptyState, Field, textOf } from "../parts/pieces.js";
import { Ago } from "../parts/time.js";
import { toast } from "../parts/toasts.js";
import { call, path, query } from "../server/api.js";
import { ParameterFields, parametersIn } from "./workflows/parameters.js";
import { TrajectoryTabs } from "./workflows/tabs.js";

/** @typedef {{workflow?: Workflow, what: "name" | "parameters" | "remove"}} Doing what is asked, and of which; a new one is none yet */

/** @type {(mayWrite: boolean, ask: (doing: Doing) => void) => Column<Workflow>[]} */
const columnsOf = (mayWrite, ask) => [
  {
    key: "name", label: "Name",
    cell: ({ id, name, description }) => [
      html`<a href=${query("#/trajectories", { workflow_id: id })} dir="auto">${name}</a>`,
      description && html`<small dir="auto">${description}</small>`,
    ],
    attributes: ({ name, description }) => ({ title: [name, description].filter(Boolean).join("\n") }),
  },
  { key: "parameters", label: "Parameters", cell: ({ input_schema }) => Object.keys(input_schema ?? {}).join(", ") || "as its steps say", attributes: () => ({ dir: "auto" }) },
  { key: "updated_at", label: "Updated", cell: ({ updated_at }) => html`<${Ago} time=${updated_at} />` },
  ...(mayWrite ? [{ key: "actions", label: "Actions", cell: (/** @type {Workflow} */ workflow) => html`<span class="row">
    <button type="button" aria-label=${`Change ${workflow.name}`} onClick=${() => ask({ workflow, what: "name" })}>Change</button>
    <button type="button" aria-label=${`Parameters of ${workflow.name}`} onClick=${() => ask({ workflow, what: "parameters" })}>Parameters</button>
    <button type="button" aria-label=${`Remove ${workflow.name}`} onClick=${() => ask({ workflow, what: "remove" })}>Remove</button>
  </span>` }] : []),
];

export function WorkflowsPage(/** @type {PageProperties} */ page) {
  useTitle("Workflows");
  /** @type {import("../parts/listing.js").Pages<Workflow>} */
  const list = usePages(page, { address: "v1/workflows", kinds: ["workflow"] });
  const [doing, ask] = useState(/** @type {Doing | null} */ (null));
  const mayWrite = page.me.scopes.includes("trajectories:write");
  const columns = useMemo(() => columnsOf(mayWrite, ask), [mayWrite]);
  const first = html`<${EmptyState} title="No workflow yet"><p>A workflow is a piece of work, and its trajectories are recordings of it. Recording a machine makes one as well.</p><//>`;
  const asked = { changed: list.read, close: () => ask(null) };
  return html`<section>
    <${TrajectoryTabs} />
    <div class="head"><h1>Workflows</h1>${mayWrite && html`<button type="button" class="primary" onClick=${() => ask({ what: "name" })}>New workflow</button>`}</div>
    <${Found} name="admin workflows" label="Workflows" what="workflow" columns=${columns} list=${list} first=${first} />
    ${doing?.what === "name" && html`<${Change} workflow=${doing.workflow} ...${asked} />`}
    ${doing?.what === "parameters" && doing.workflow && html`<${Parameters} workflow=${doing.workflow} ...${asked} />`}
    ${doing?.what === "remove" && doing.workflow && html`<${Remove} workflow=${doing.workflow} ...${asked} />`}
  </section>`;
}

/** @param {{workflow?: Workflow, changed: () => Promise<void>, close: () => void}} properties of one that is changed, or made */
function Change({ workflow, changed, close }) {
  const submit = async (/** @type {FormData} */ values) => {
    const body = { name: textOf(values, "name"), description: textOf(values, "description") || null };
    await call(workflow ? "PATCH" : "POST", workflow ? path`v1/workflows/${workflow.id}` : "v1/workflows", { body });
    await changed();
    close();
  };
  return html`<${Dialog} title=${workflow ? "Change the workflow" : "New workflow"} submit=${submit} close=${close}>
    <${Field} label="Name"><input name="name" required maxlength="255" autocomplete="off" dir="auto" defaultValue=${workflow?.name ?? ""} /><//>
    <${Field} label="Description (optional)"><textarea name="description" rows="3" dir="auto" defaultValue=${workflow?.description ?? ""}></textarea><//>
    <div class="row"><button class="primary">${workflow ? "Save" : "Make"}</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {{workflow: Workflow, changed: () => Promise<void>, close: () => void}} properties */
function Parameters({ workflow, changed, close }) {
  const submit = async (/** @type {FormData} */ values) => {
    await call("PATCH", path`v1/workflows/${workflow.id}`, { body: { input_schema: parametersIn(values) } });
    await changed();
    close();
  };
  return html`<${Dialog} title=${`Parameters of ${workflow.name}`} submit=${submit} close=${close}>
    <${ParameterFields} schema=${workflow.input_schema} />
    <div class="row"><button class="primary">Save</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {{workflow: Workflow, changed: () => Promise<void>, close: () => void}} properties */
function Remove({ workflow, changed, close }) {
  const work = async () => {
    await call("DELETE", path`v1/workflows/${workflow.id}`);
    await changed();
    toast(`${workflow.name} was removed.`);
  };
  const parameters = Object.keys(workflow.input_schema ?? {});
  return html`<${Confirm} title="Remove the workflow?" word="Remove" work=${work} close=${close}>
    <p><bdi>${workflow.name}</bdi> goes, with its description${parameters.length > 0 && html` and what it says of <bdi>${parameters.join(", ")}</bdi>`}. There is no way back.</p>
    <p class="small">Only one that has no trajectory, also none that is pending, can be removed.</p>
  <//>`;
}
