/** What is decided about a trajectory: by two keys, one that asks and Enter, and then the next one is there. */

import { html, useRef, useState } from "../../parts/elements.js";
import { useKeys } from "../../parts/keys.js";
import { Dialog, Field, textOf, WorkButton } from "../../parts/pieces.js";
import { Ago } from "../../parts/time.js";
import { toast } from "../../parts/toasts.js";
import { path, wordsOf } from "../../server/api.js";
import { Key } from "./key.js";
import { Next } from "./next.js";
import { Outdated } from "./one_trajectory.js";

const MOST_CHARACTERS = 2000;

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
  const next = useRef(/** @type {Next | null} */ (null));
  const shown = useRef(reading.shown);
  function begin(/** @type {"approve" | "reject"} */ decision) {
    next.current = new Next(trajectory);
    shown.current = reading.shown;
    ask(decision);
  }
  const approve = () => begin("approve");
  const reject = () => begin("reject");
  const mayReject = state === "open" || state === "withdrawn";
  useKeys(isApproved ? {} : { a: approve, ...(mayReject && { r: reject }) });
  async function decide(/** @type {"approve" | "reject"} */ decision, /** @type {FormData} */ values) {
    try {
      await reading.decide(decision, textOf(values, "comment"), shown.current);
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
      // What is behind the question now is not what it was about.
      ask(null);
      toast(wordsOf(error), "bad");
      return;
    }
    ask(null);
    await goOn(next.current ?? new Next(trajectory), QUESTIONS[decision].past, reading.signal);
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

/** @type {(next: Next, past: string, signal: AbortSignal) => Promise<void>} open the next one that waits, or say that none does */
async function goOn(next, past, signal) {
  const said = `${past}: ${next.decided.name || "without a name"}.`;
  const id = await next.open();
  if (signal.aborted) return;
  toast(id ? said : `${said} No other trajectory waits for a review.`);
  if (id) location.hash = path`/trajectories/${id}`;
}
