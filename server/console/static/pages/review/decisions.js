/** What is decided about a trajectory: by two keys, one that asks and Enter, and then the next one is there. */

import { backTo } from "../../parts/address.js";
import { html, useState } from "../../parts/elements.js";
import { useKeys } from "../../parts/keys.js";
import { Dialog, Field, textOf, WorkButton } from "../../parts/pieces.js";
import { Ago } from "../../parts/time.js";
import { toast } from "../../parts/toasts.js";
import { get, path, query, wordsOf } from "../../server/api.js";
import { Key } from "./key.js";
import { Outdated } from "./one_trajectory.js";

const MOST_CHARACTERS = 2000;
/** Of those that wait: one may be what was decided about, as it was a moment ago. */
const TWO = 2;

const STATES = { open: "", approved: "Approved", rejected: "Rejected", withdrawn: "Approval ended" };

/** @param {{review: Review}} properties that somebody has decided */
export function Decided({ review: { state, by, at, comment } }) {
  return html`<p class="small" dir="auto">${STATES[state]} by ${by?.token_name} <${Ago} time=${at} />${comment && html`: ${comment}`}</p>`;
}

const QUESTIONS = /** @type {const} */ ({
  approve: { word: "Approve", past: "Approved", means: "It may be run, exactly as it is now." },
  reject: { word: "Reject", past: "Rejected", means: "It stays, and cannot be run." },
});

/** @param {DecisionsProperties} properties of the buttons, for whoever may press them */
export function Decisions({ reading, trajectory }) {
  const [asked, ask] = useState(/** @type {"approve" | "reject" | null} */ (null));
  const { state } = trajectory.review;
  const isApproved = state === "approved";
  const approve = () => ask("approve");
  const reject = () => ask("reject");
  const mayReject = state === "open" || state === "withdrawn";
  useKeys(isApproved ? {} : { a: approve, ...(mayReject && { r: reject }) });
  async function decide(/** @type {"approve" | "reject"} */ decision, /** @type {FormData} */ values) {
    try {
      await reading.decide(decision, textOf(values, "comment"));
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
      // What is behind the question now is not what it was about.
      ask(null);
      toast(wordsOf(error), "bad");
      return;
    }
    ask(null);
    await goOn(trajectory, QUESTIONS[decision].past, reading.signal);
  }
  const { word, means } = QUESTIONS[asked ?? "approve"];
  return html`
    <${WorkButton}
      class=${isApproved ? "" : "primary"} aria-keyshortcuts=${isApproved ? null : "a"}
      work=${() => (isApproved ? reading.decide("withdraw") : Promise.resolve(approve()))}
    >${isApproved ? "Withdraw approval" : html`Approve <${Key} name="A" />`}<//>
    ${mayReject && html`<button type="button" aria-keyshortcuts="r" onClick=${reject}>Reject <${Key} name="R" /></button>`}
    ${asked && html`<${Dialog} title="${word} this trajectory?" submit=${(/** @type {FormData} */ values) => decide(asked, values)} close=${() => ask(null)}>
      <p class="small">${means}</p>
      <${Field} label="Comment"><input name="comment" maxlength=${MOST_CHARACTERS} autocomplete="off" placeholder="Why, for others to read" /><//>
      <div class="row"><button class="primary">${word} <${Key} name="Enter" /></button><button type="button" onClick=${() => ask(null)}>Cancel</button></div>
    <//>`}
  `;
}

/** @type {(decided: Trajectory, past: string, signal: AbortSignal) => Promise<void>} open the next one that waits, or say that none does */
async function goOn(decided, past, signal) {
  const said = `${past}: ${decided.name || "without a name"}.`;
  const next = await nextOpen(decided, signal).catch(() => null);
  if (signal.aborted) return;
  toast(next ? said : `${said} No other trajectory waits for a review.`);
  if (next) location.hash = path`/trajectories/${next.id}`;
}

/**
 * The next newer one that nobody has decided about, of the workflow and the search that the list was left with; behind the newest comes the oldest.
 * @type {(decided: Trajectory, signal: AbortSignal) => Promise<Trajectory | null>}
 */
async function nextOpen({ id, created_at }, signal) {
  const left = new URLSearchParams(backTo("/trajectories").split("?")[1]);
  const narrowed = { workflow_id: left.get("workflow_id") ?? "", search: left.get("search") ?? "" };
  const asked = { ...narrowed, review_state: "open", is_approved: "false", steps: "false", sort: "created_at", limit: TWO };
  for (const range of [{ created_at_from: created_at }, { created_at_to: created_at }]) {
    const { items } = /** @type {Part<Trajectory>} */ (await get(query("v1/trajectories", { ...asked, ...range }), signal));
    const found = items.find((each) => each.id !== id);
    if (found) return found;
  }
  return null;
}
