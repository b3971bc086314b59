/** What became of each step of a run: how it was found, what was expected of it, and how that was seen. */

import { html, useMemo } from "../../parts/elements.js";
import { Table } from "../../parts/table.js";
import { number, span } from "../../parts/words.js";
import { wordsFor } from "../review/expectations.js";
import { membersOf, readStep } from "../steps.js";

/** @typedef {{id: string, text: string, expected: string, state: string, result: StepResult | null}} Shown */

const KINDS = /** @type {const} */ ({ done: ["good", "✓", "Done"], skipped: ["none", "○", "Skipped"], halted: ["bad", "!", "Halted"], now: ["waits", "…", "At it"], later: ["none", "", "–"] });

/** @type {Column<Shown>[]} */
const COLUMNS = [
  { key: "name", label: "Step", cell: ({ id, text }) => html`<b>${id}</b> <span dir="auto">${text}</span>`, attributes: ({ text }) => ({ title: text }) },
  { key: "result", label: "Result", cell: ({ state }) => html`<${Result} state=${state} />` },
  { key: "how", label: "Found by", cell: ({ result }) => result?.how ?? "–", attributes: ({ result }) => ({ title: result?.how }) },
  { key: "score", label: "Score", cell: ({ result }) => result?.score?.toFixed(2) ?? "–" },
  { key: "expected", label: "Expected", cell: ({ expected }) => expected || "–", attributes: ({ expected }) => ({ title: expected, dir: "auto" }) },
  { key: "seen", label: "Seen", cell: ({ result }) => result?.verified ?? "–" },
  { key: "tries", label: "Tries", cell: ({ result }) => number(result?.attempts) },
  { key: "time", label: "Time", cell: ({ result }) => span(result && Date.parse(result.ended_at) - Date.parse(result.began_at)) },
];

function Result(/** @type {{state: string}} */ { state }) {
  const [kind, sign, word] = KINDS[/** @type {keyof typeof KINDS} */ (state)];
  return html`<span class="outcome" data-kind=${kind}><span aria-hidden="true">${sign}</span> ${word}</span>`;
}

/** @param {{run: RunWithSteps, steps: Step[], size: Size}} properties; of a trajectory that has changed no step is known */
export function Results({ run, steps, size }) {
  const items = useMemo(() => shownOf(run, steps, size), [run, steps]);
  return html`<${Table} name="admin results" label="Steps" columns=${COLUMNS} items=${items} chosen=${run.id} />`;
}

/** @type {(run: RunWithSteps, steps: Step[], size: Size) => Shown[]} */
function shownOf(run, steps, size) {
  const results = new Map(run.steps.map((each) => [each.number, each]));
  return Array.from({ length: run.step_count }, (_, at) => {
    const step = steps[at];
    const result = results.get(at + 1) ?? null;
    return {
      id: String(at + 1),
      text: step ? readStep(step, size).text : "",
      expected: step ? expectedOf(step) : "",
      state: result?.status ?? stateAt(run, at + 1),
      result,
    };
  });
}

/** @type {(run: Run, number: number) => string} of a step that is not behind it */
function stateAt({ step, halted, ended_at, started_at }, at) {
  if (step !== at || ended_at || !started_at) return "later";
  return halted ? "halted" : "now";
}

/** @type {(step: Step) => string} what is to be seen once it is done, in words */
function expectedOf({ expect }) {
  const { any } = membersOf(expect);
  const conditions = Array.isArray(any) ? any.map(membersOf) : [];
  return conditions.map((each) => wordsFor(each) || ("changed" in each ? "anything has changed" : (Object.keys(each)[0] ?? ""))).join(", or ");
}
