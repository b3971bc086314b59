/** What can be done with a trajectory as a whole: renamed, made the main one, duplicated, saved as a file, deleted. */

import { html, useState } from "../../parts/elements.js";
import { Confirm } from "../../parts/forms.js";
import { Dialog, Field, textOf, WorkButton } from "../../parts/pieces.js";
import { save } from "../../parts/saving.js";
import { toast } from "../../parts/toasts.js";
import { count } from "../../parts/words.js";
import { call, path, request } from "../../server/api.js";
import { addressOf } from "./next.js";

const LONGEST_NAME = 255;
const LONGEST_DESCRIPTION = 100_000;
/** How the server calls a copy that nobody has given a name. */
const COPY = " (copy)";

/** @typedef {"change" | "duplicate" | "delete"} Asked */

/** @param {ManagingProperties} properties of the buttons, for whoever may press them */
export function Managing({ reading, trajectory, mayWrite, back }) {
  const [asked, ask] = useState(/** @type {Asked | null} */ (null));
  const close = () => ask(null);
  const { is_main } = trajectory;
  async function choose() {
    await reading.change({ is_main: !is_main });
    toast(is_main ? "It is not the main one any more: its workflow has none." : "It is the main one of its workflow now.");
  }
  return html`<div class="row" role="group" aria-label="This trajectory">
    ${mayWrite && html`
      <button type="button" onClick=${() => ask("change")}>Rename or describe</button>
      <${WorkButton} work=${choose}>${is_main ? "Not the main one any more" : "Make it the main one"}<//>
      <button type="button" onClick=${() => ask("duplicate")}>Duplicate</button>`}
    <${WorkButton} work=${() => download(trajectory)}>Export<//>
    ${mayWrite && html`<button type="button" onClick=${() => ask("delete")}>Delete</button>`}
    ${asked === "change" && html`<${Change} reading=${reading} trajectory=${trajectory} close=${close} />`}
    ${asked === "duplicate" && html`<${Duplicate} trajectory=${trajectory} close=${close} />`}
    ${asked === "delete" && html`<${Delete} reading=${reading} trajectory=${trajectory} back=${back} close=${close} />`}
  </div>`;
}

/** @param {Trajectory} trajectory which is saved as the server has it now, as a line that can be imported */
async function download({ id, name }) {
  const response = await request("GET", addressOf(id));
  await save(response, `${(name ?? "").replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "") || id}.jsonl`);
}

/** @param {ManagedProperties} properties */
function Change({ reading, trajectory, close }) {
  async function submit(/** @type {FormData} */ values) {
    await reading.change({ name: textOf(values, "name") || null, description: textOf(values, "description") || null });
    close();
  }
  return html`<${Dialog} title="Rename or describe this trajectory" submit=${submit} close=${close}>
    <${Field} label="Name"><input name="name" maxlength=${LONGEST_NAME} autocomplete="off" dir="auto" defaultValue=${trajectory.name ?? ""} /><//>
    <${Field} label="Description"><textarea name="description" rows="4" maxlength=${LONGEST_DESCRIPTION} dir="auto" defaultValue=${trajectory.description ?? ""}></textarea><//>
    <p class="small">Neither is content: an approval stays.</p>
    <div class="row"><button class="primary">Save</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {{trajectory: Trajectory, close: () => void}} properties */
function Duplicate({ trajectory, close }) {
  async function submit(/** @type {FormData} */ values) {
    /** @type {Answer<Trajectory>} */
    const { data } = await call("POST", `${addressOf(trajectory.id)}/duplicate`, { body: { name: textOf(values, "name") || null } });
    close();
    toast("This is the copy.");
    location.hash = path`/trajectories/${data.id}`;
  }
  return html`<${Dialog} title="Duplicate this trajectory" submit=${submit} close=${close}>
    <${Field} label="Name of the copy"><input name="name" maxlength=${LONGEST_NAME} autocomplete="off" dir="auto" defaultValue=${trajectory.name ? (trajectory.name + COPY).slice(0, LONGEST_NAME) : ""} /><//>
    <p class="small">The copy is not approved and not the main one. Its authors are those of the original, and you.</p>
    <div class="row"><button class="primary">Duplicate</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {ManagedProperties & {back: string}} properties of the question, which says what goes */
function Delete({ reading, trajectory, back, close }) {
  const { name, trajectory_data, is_main, review } = trajectory;
  async function work() {
    await reading.remove();
    toast(`${name || "The trajectory"} was deleted.`);
    location.hash = back;
  }
  return html`<${Confirm} title="Delete this trajectory?" word="Delete" work=${work} close=${close}>
    <p><bdi>${name || "It"}</bdi> goes for good, with its ${count(trajectory_data?.length ?? 0, "step")} and what was decided about it. So do its pictures, but for those that another one has.</p>
    ${review.state === "approved" && html`<p><b>It is approved: nobody can run it any more.</b></p>`}
    ${is_main && html`<p><b>It is the main one of its workflow, which has none then.</b></p>`}
  <//>`;
}
