/** To run an approved trajectory: where, and with which values. */

import { html, useMade, useState } from "../../parts/elements.js";
import { Dialog, Field, textOf } from "../../parts/pieces.js";
import { STATES, stateOf } from "../../parts/words.js";
import { call, listAll, path, wordsOf } from "../../server/api.js";
import { ValueFields, valuesOf } from "./values.js";

/** @param {{trajectory: Trajectory}} properties of the button, and the question behind it */
export function RunButton({ trajectory }) {
  const [isAsked, ask] = useState(false);
  return html`
    <button type="button" onClick=${() => ask(true)}>Run</button>
    ${isAsked && html`<${Start} trajectory=${trajectory} close=${() => ask(false)} />`}`;
}

/** @param {{trajectory: Trajectory, close: () => void}} properties of the form, while it is open */
function Start({ trajectory: { id, machine_id, trajectory_data }, close }) {
  const [machines, learn] = useState(/** @type {Machine[] | null} */ (null));
  const [words, say] = useState("");
  useMade((signal) => {
    /** @type {Promise<Machine[]>} */
    const reading = listAll("v1/machines", signal, { sort: "name" });
    reading.then(learn, (/** @type {unknown} */ error) => say(wordsOf(error)));
  });
  async function submit(/** @type {FormData} */ values) {
    const body = { trajectory_id: id, machine_id: textOf(values, "machine_id"), ...valuesOf(values) };
    /** @type {Answer<RunWithSteps>} */
    const { data } = await call("POST", "v1/runs", { body });
    close();
    location.hash = path`/runs/${data.id}`;
  }
  return html`<${Dialog} title="Run this trajectory?" submit=${submit} close=${close}>
    <p class="small">It waits for its turn on the machine. Others send it nothing meanwhile; where the screen is not what it was, it halts and asks.</p>
    <${Field} label="Machine"><select name="machine_id" required>
      <option value="">Choose one</option>
      ${machines?.map((machine) => html`<option key=${machine.id} value=${machine.id} selected=${machine.id === machine_id}>${machine.name} (${STATES[stateOf(machine)]?.word ?? machine.state})</option>`)}
    </select><//>
    ${words && html`<p class="said" role="alert">${words}</p>`}
    <${ValueFields} steps=${trajectory_data ?? []} />
    <div class="row"><button class="primary">Run</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}
