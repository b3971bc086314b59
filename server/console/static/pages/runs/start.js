/** To run an approved trajectory: where, and with which values. */

import { html, useMade, useState } from "../../parts/elements.js";
import { chosenOf, PoolChoices, SHORT_SPANS, usePools } from "../../parts/forms.js";
import { Dialog, Field, textOf } from "../../parts/pieces.js";
import { STATES, stateOf } from "../../parts/words.js";
import { call, listAll, path, wordsOf } from "../../server/api.js";
import { ValueFields, valuesOf } from "./values.js";

const HIGHEST = 9;
const USUAL = 5;
const HOUR = 3600;

/** @type {[number, string][]} in seconds */
const KEPT = [[0, "Not at all"], ...SHORT_SPANS];

/** @param {{trajectory: Trajectory, me: Session}} properties of the button, and the question behind it */
export function RunButton({ trajectory, me }) {
  const [isAsked, ask] = useState(false);
  return html`
    <button type="button" onClick=${() => ask(true)}>Run</button>
    ${isAsked && html`<${Start} trajectory=${trajectory} me=${me} close=${() => ask(false)} />`}`;
}

/** @param {{trajectory: Trajectory, me: Session, close: () => void}} properties of the form, while it is open */
function Start({ trajectory: { id, machine_id, trajectory_data }, me, close }) {
  const pools = usePools(me);
  const [machines, learn] = useState(/** @type {Machine[] | null} */ (null));
  const [words, say] = useState("");
  useMade((signal) => {
    /** @type {Promise<Machine[]>} */
    const reading = listAll("v1/machines", signal, { sort: "name" });
    reading.then(learn, (/** @type {unknown} */ error) => say(wordsOf(error)));
  });
  async function submit(/** @type {FormData} */ values) {
    const body = { trajectory_id: id, ...placeOf(values), ...valuesOf(values), priority: Number(textOf(values, "priority")), halt_timeout: Number(textOf(values, "halt_timeout")) };
    /** @type {Answer<RunWithSteps>} */
    const { data } = await call("POST", "v1/runs", { body });
    close();
    location.hash = path`/runs/${data.id}`;
  }
  return html`<${Dialog} title="Run this trajectory?" submit=${submit} close=${close}>
    <p class="small">It waits for its turn on the machine. Others send it nothing meanwhile; where the screen is not what it was, it halts and asks.</p>
    <${Field} label="Machine"><select name="machine_id" required=${!pools?.length}>
      <option value="">${pools?.length ? "Whichever of the pools is free first" : "Choose one"}</option>
      ${machines?.map((machine) => html`<option key=${machine.id} value=${machine.id} selected=${machine.id === machine_id}>${machine.name} (${STATES[stateOf(machine)]?.word ?? machine.state})</option>`)}
    </select><//>
    <${PoolChoices} legend="Pools, where no machine is chosen" pools=${pools} />
    ${words && html`<p class="said" role="alert">${words}</p>`}
    <${ValueFields} steps=${trajectory_data ?? []} />
    <${Field} label="Priority"><input name="priority" type="number" min="0" max=${HIGHEST} defaultValue=${USUAL} required /><//>
    <${Field} label="While it is halted, others are kept away"><select name="halt_timeout">
      ${KEPT.map(([seconds, said]) => html`<option key=${seconds} value=${seconds} selected=${seconds === HOUR}>${said}</option>`)}
    </select><//>
    <div class="row"><button class="primary">Run</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @type {(values: FormData) => object} where it is to run: on one machine, else on any of some pools */
function placeOf(values) {
  const machine = textOf(values, "machine_id");
  const pools = chosenOf(values, "pool_ids");
  return machine || !pools.length ? { machine_id: machine } : { pool_ids: pools };
}
