/** An answer to what a program asks: which, why, and Enter. */

import { html } from "../parts/elements.js";
import { Dialog, Field, textOf } from "../parts/pieces.js";
import { Ago } from "../parts/time.js";
import { toast } from "../parts/toasts.js";
import { path } from "../server/api.js";

const MOST_CHARACTERS = 1000;

/** What each kind may be answered, by the words on its buttons. @type {Record<HelpRequest["kind"], [string, string][]>} */
export const ANSWERS = {
  help: [["done", "Done"], ["cannot", "Cannot be done"]],
  approval: [["approve", "Approve"], ["deny", "Deny"]],
};

/** @param {{asked: HelpRequest}} properties of what is asked, by whom, and since when */
export const WhatIsAsked = ({ asked: { kind, reason, run_id, by, created_at, expires_at } }) => html`
  <p class="reason" dir="auto"><b>${kind === "help" ? "Help" : "Approval"}:</b> ${reason}</p>
  <p class="small"><span dir="auto">${by}</span> asked <${Ago} time=${created_at} />; it ends <${Ago} time=${expires_at} />${run_id && html` · <a href="#${path`/runs/${run_id}`}">Its run</a>`}</p>`;

/** @param {AnsweringProperties} properties of the question that is open while it is drawn */
export function Answering({ helps, asked, answer, close, done }) {
  const words = ANSWERS[asked.kind].find(([value]) => value === answer)?.[1] ?? answer;
  async function submit(/** @type {FormData} */ values) {
    await helps.answer(asked, answer, textOf(values, "comment"));
    close();
    done?.();
    toast(`${words}: ${asked.by} was told.`);
  }
  return html`<${Dialog} title=${`${words}?`} submit=${submit} close=${close}>
    <${WhatIsAsked} asked=${asked} />
    <${Field} label="Comment"><input name="comment" maxlength=${MOST_CHARACTERS} autocomplete="off" dir="auto" placeholder="For the program, and for others to read" /><//>
    <div class="row"><button class="primary">${words}</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {AnswerButtonsProperties} properties of a button for each answer, for whoever may answer */
export const AnswerButtons = ({ asked, choose }) => html`${ANSWERS[asked.kind].map(([value, words], at) => html`<button
  key=${value} type="button" class=${at || asked.kind === "help" ? "" : "primary"} onClick=${() => choose(value)}
>${words}</button>`)}`;
