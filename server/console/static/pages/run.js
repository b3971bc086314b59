/** One run: how far it is, what became of each step, why it is halted, and what can be done with it. */

import { backTo } from "../parts/address.js";
import { html, useMade, useState, useStore, useTitle } from "../parts/elements.js";
import { Confirm } from "../parts/forms.js";
import { Dialog, NotFound, Unread, WorkButton } from "../parts/pieces.js";
import { RunBadge } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { isNowhere, path, sentence } from "../server/api.js";
import { Halt } from "./runs/halt.js";
import { OneRun } from "./runs/one_run.js";
import { Results } from "./runs/results.js";
import { SecretFields, valuesOf } from "./runs/values.js";

export function RunPage(/** @type {PageProperties} */ { id, ...page }) {
  const reading = useStore(useMade((signal) => new OneRun({ id, ...page, signal })));
  const { run, trajectory, steps } = reading;
  const name = trajectory?.name || "Run";
  useTitle(name);
  const back = backTo("/runs");
  if (isNowhere(reading.error) && !run) return html`<${NotFound} what="run" back=${back} name="the runs" />`;
  if (!run) return html`<${Unread} reading=${reading} />`;
  const mayWrite = page.me.scopes.includes("runs:write");
  const size = trajectory?.dimensions ?? { width: 1, height: 1 };
  return html`<section>
    <p class="crumbs"><a href=${back}>‹ Runs</a></p>
    <div class="head">
      <h1 dir="auto">${name}</h1>
      <span class="row"><${RunBadge} run=${run} />${mayWrite && html`<${Ending} key=${run.ended_at ? "again" : "end"} reading=${reading} run=${run} />`}</span>
    </div>
    ${run.error && html`<p class="lead" dir="auto">${sentence(run.error)}</p>`}
    <${Facts} run=${run} name=${trajectory?.name || run.trajectory_id} />
    ${run.halted && html`<${Halt} key=${run.halted.at} reading=${reading} halted=${run.halted} mayWrite=${mayWrite} />`}
    <h2>Steps</h2>
    ${!steps.length && html`<p class="small">What the steps say is not known here: the trajectory is another one by now, or you may not see it.</p>`}
    <${Results} run=${run} steps=${steps} size=${size} />
  </section>`;
}

/** @param {{run: Run, name: string}} properties of what is run, where, by whom and with which values */
function Facts({ run, name }) {
  const { machine_id, trajectory_id, by, created_at, started_at, ended_at, retry_of, input_values, secrets, repairs, proposal_id } = run;
  const values = Object.entries(input_values);
  return html`<dl class="facts">
    <dt>Machine</dt><dd>${machine_id ? html`<a href="#${path`/machines/${machine_id}`}">${machine_id}</a>` : "Whichever of its pools is free first"}</dd>
    <dt>Trajectory</dt><dd><a href="#${path`/trajectories/${trajectory_id}`}" dir="auto">${name}</a></dd>
    <dt>Begun</dt><dd><${Ago} time=${created_at} /> by <bdi>${by}</bdi>${started_at && html`, at work <${Ago} time=${started_at} />`}${ended_at && html`, ended <${Ago} time=${ended_at} />`}</dd>
    ${retry_of && html`<dt>Retry of</dt><dd><a href="#${path`/runs/${retry_of}`}">${retry_of}</a></dd>`}
    ${proposal_id && html`<dt>Repairs</dt><dd>${repairs.map(said).join(", ")}: <a href="#${path`/trajectories/${proposal_id}`}">the proposed version</a></dd>`}
    ${values.map(([key, value]) => html`<dt key=${key} dir="auto">${key}</dt><dd dir="auto">${value}</dd>`)}
    ${secrets.map((key) => html`<dt key=${key} dir="auto">${key}</dt><dd>(secret)</dd>`)}
  </dl>`;
}

/** @type {(repair: Repair) => string} */
const said = ({ number, kind, by }) => `step ${number} ${kind === "pointed" ? "pointed at" : "done by hand"} by ${by}`;

/** @param {{reading: OneRun, run: Run}} properties of what ends a run, or begins it once more */
function Ending({ reading, run: { ended_at, secrets } }) {
  const [isAsked, ask] = useState(false);
  const close = () => ask(false);
  if (!ended_at) return html`
    <button type="button" onClick=${() => ask(true)}>Cancel</button>
    ${isAsked && html`<${Confirm} title="Cancel this run?" word="Cancel the run" work=${() => reading.act("cancel")} close=${close}>
      <p class="small">What it does is interrupted, and what it holds on the machine is released. What was done stays done.</p>
    <//>`}`;
  return html`
    <${WorkButton} work=${() => (secrets.length ? Promise.resolve(ask(true)) : reading.retry({}))}>Retry<//>
    ${isAsked && html`<${Dialog} title="Run it once more?" submit=${(/** @type {FormData} */ values) => reading.retry(valuesOf(values).sensitive_input_values)} close=${close}>
      <p class="small">Its secrets were erased as it ended.</p>
      <${SecretFields} names=${secrets} />
      <div class="row"><button class="primary">Run</button><button type="button" onClick=${close}>Cancel</button></div>
    <//>`}`;
}
