/** A trajectory beside what was approved last of its workflow, step by step. */

import { html, useMade, useMemo, useState } from "../../parts/elements.js";
import { useKeys } from "../../parts/keys.js";
import { Toggle } from "../../parts/pieces.js";
import { count } from "../../parts/words.js";
import { get, path, query, wordsOf } from "../../server/api.js";
import { readStep } from "../steps.js";
import { changesIn, differences } from "./differences.js";
import { Key } from "./key.js";

const LOOKED_AT = 100;
const SHOWN = 200;

const SIGNS = { added: "+", removed: "−", changed: "≠" };
const WORDS = { added: "Added", removed: "Removed", changed: "Changed" };

/** @param {ComparisonProperties} properties of a button, and the comparison once that is wanted */
export function Comparison({ trajectory, steps, go }) {
  const [isOn, set] = useState(false);
  const turn = () => set(!isOn);
  useKeys({ c: turn });
  return html`
    <${Toggle} isOn=${isOn} opens click=${turn} aria-keyshortcuts="c">Compare with the last approved <${Key} name="C" /><//>
    ${isOn && html`<${Compared} trajectory=${trajectory} steps=${steps} go=${go} />`}`;
}

/** @param {ComparisonProperties} properties */
function Compared({ trajectory, steps, go }) {
  const [said, say] = useState("Looking for it…");
  const [other, learn] = useState(/** @type {Trajectory | null} */ (null));
  useMade((signal) => {
    lastApproved(trajectory, signal).then(
      (found) => (found ? learn(found) : say("Nothing else of this workflow is approved.")),
      (/** @type {unknown} */ error) => signal.aborted || say(wordsOf(error)),
    );
  });
  const found = useMemo(() => (other ? differences(other.trajectory_data ?? [], steps) : []), [other, steps]);
  if (!other) return html`<p class="small" role="status">${said}</p>`;
  const name = html`<a href="#${path`/trajectories/${other.id}`}" dir="auto">${other.name || "Without a name"}</a>`;
  const size = trajectory.dimensions;
  return html`
    <p class="small" role="status">${found.length ? count(found.length, "difference") : "Every step is the same"}: ${name}${other.is_main && ", the main one"}</p>
    ${found.length > 0 && html`<ol class="steps differences" aria-label="Differences">
      ${found.slice(0, SHOWN).map((each) => html`<li><${Difference} difference=${each} size=${size} go=${go} /></li>`)}
    </ol>`}
    ${found.length > SHOWN && html`<p class="small">The first ${SHOWN} are shown.</p>`}`;
}

/** @param {{difference: import("./differences.js").Difference, size: Size, go: (at: number) => void}} properties of one, which leads to its step */
function Difference({ difference, size, go }) {
  const { kind, before, after } = difference;
  const shown = after ?? before;
  const words = html`<span class="number"><span aria-hidden="true">${SIGNS[kind]}</span> ${shown?.number}</span><span>
    <b>${WORDS[kind]}</b> <span dir="auto">${readStep(shown?.step ?? {}, size).text}</span>
    ${kind === "changed" && changesIn(difference).map((line) => html`<small dir="auto">${line}</small>`)}
  </span>`;
  return after ? html`<button type="button" onClick=${() => go(after.number - 1)}>${words}</button>` : html`<div>${words}</div>`;
}

/** @type {(own: Trajectory, signal: AbortSignal) => Promise<Trajectory | null>} the main one, where that is approved, else what was approved last */
async function lastApproved({ id, workflow_id }, signal) {
  const asked = { workflow_id, review_state: "approved", steps: "false", sort: "-updated_at", limit: LOOKED_AT };
  const { items } = /** @type {Part<Trajectory>} */ (await get(query("v1/trajectories", asked), signal));
  const others = items.filter((each) => each.id !== id);
  const latest = others.toSorted((one, other) => (String(one.review.at) < String(other.review.at) ? 1 : -1));
  const found = latest.find(({ is_main }) => is_main) ?? latest[0];
  return found ? /** @type {Trajectory} */ (await get(path`v1/trajectories/${found.id}`, signal)) : null;
}
