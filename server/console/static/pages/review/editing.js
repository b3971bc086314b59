/** Steps are edited: each change has a key that asks and a short form, and ends what was decided about the content. */

import { html, useState } from "../../parts/elements.js";
import { useKeys } from "../../parts/keys.js";
import { Dialog, Field, textOf, WorkButton } from "../../parts/pieces.js";
import { toast } from "../../parts/toasts.js";
import { wordsOf } from "../../server/api.js";
import { isOwn, membersOf } from "../steps.js";
import { expectationOf, filledIn, KINDS, proposedOf, taking, wordsFor } from "./expectations.js";
import { Key } from "./key.js";
import { Outdated } from "./one_trajectory.js";

const LONGEST_PAUSE = 86_400_000;
const LONGEST_NAME = 255;
const LONGEST_PARAMETER = 64;

/** The operations whose text may be a parameter or a secret, and where it stands. @type {Record<string, string>} */
const TEXT_FIELDS = { "keyboard.type": "text", "clipboard.write": "text", "element.set_value": "value" };

/** @type {(step: Step) => string} where its text stands; empty where it has none */
const fieldOf = ({ operation }) => TEXT_FIELDS[String(operation)] ?? "";

/** @type {(step: Step) => string} the text as it was typed; empty where that is a template by now */
function typed(step) {
  const text = membersOf(step.body)[fieldOf(step)];
  return typeof text === "string" && !step.parameters ? text : "";
}

/** @type {(values: FormData, name: string) => string} with its spaces, which are part of it */
function exactly(values, name) {
  const value = values.get(name);
  return typeof value === "string" ? value : "";
}

/** @type {Edit[]} */
const EDITS = [
  {
    key: "n", word: "Name", title: "What is this step called?", fits: isOwn,
    fields: (step) => html`<${Field} label="Name"><input name="name" maxlength=${LONGEST_NAME} autocomplete="off" defaultValue=${step.name ?? ""} /><//>`,
    change: (values) => ({ name: textOf(values, "name") || null }),
  },
  {
    key: "w", word: "Wait", title: "How long after the step before?", fits: isOwn,
    fields: (step) => html`<${Field} label="Milliseconds">
      <input name="after_ms" type="number" min="0" max=${LONGEST_PAUSE} autocomplete="off" defaultValue=${step.after_ms ?? ""} />
    <//>`,
    change: (values) => ({ after_ms: textOf(values, "after_ms") ? Number(textOf(values, "after_ms")) : null }),
  },
  {
    key: "e", word: "Expect", title: "What is to be seen after this step?", fits: isOwn,
    fields: (step) => html`<${ExpectationFields} ...${filledIn(step)} />`,
    change: (values, isRemoved) => ({ expect: isRemoved ? null : expectationOf(values) }),
    removes: { word: "Expect nothing", fits: (step) => Boolean(step.expect) },
  },
  {
    key: "m", word: "Parameter", title: "Make it a parameter", fits: (step) => isOwn(step) && Boolean(fieldOf(step)) && !step.secret,
    fields: (step) => html`<${ParameterFields} text=${typed(step)} />`,
    change: (values) => ({
      parameter: {
        name: textOf(values, "parameter.name"),
        text: exactly(values, "parameter.text"),
        type: textOf(values, "parameter.type"),
        example: exactly(values, "parameter.example") || exactly(values, "parameter.text"),
      },
    }),
  },
  {
    key: "s", word: "Secret", title: "Make it a secret", fits: (step) => isOwn(step) && Boolean(fieldOf(step)),
    fields: (step) => html`
      <p class="small">The text goes out of this step, with its parameters and the picture after it, for good. A run gets it under this name.</p>
      <${Field} label="Name of the secret"><input name="secret" required maxlength=${LONGEST_PARAMETER} autocomplete="off" defaultValue=${step.secret ?? ""} /><//>`,
    change: (values) => ({ secret: textOf(values, "secret") }),
  },
  {
    key: "x", word: "Remove", title: "Remove this step?", fits: () => true,
    fields: () => html`<p class="small">The steps behind it move up by one. There is no way back.</p>`,
    change: () => null,
  },
];

/** @type {(about: {reading: EditsProperties["reading"], number: number, shown: Shown, isRemoved: boolean}, change: object | null) => Promise<void>} change a step, and say what that did */
async function done({ reading, number, shown, isRemoved }, change) {
  const wasApproved = reading.trajectory?.review.state === "approved";
  const hasChanged = await reading.edit(number, change, shown);
  if (!hasChanged) toast(`Step ${number} was so already: nothing has changed.`);
  else toast(`Step ${number} was ${isRemoved ? "removed" : "changed"}.${wasApproved ? " The approval ended with that." : ""}`);
}

/** @param {EditsProperties} properties of the buttons, for whoever may change what is shown */
export function Edits({ reading, step, number }) {
  // What is asked stays about the step that it was asked of.
  const [asked, ask] = useState(/** @type {EditAsked | null} */ (null));
  const possible = EDITS.filter(({ fits }) => fits(step));
  const { shown } = reading;
  const asking = (/** @type {Edit} */ edit) => () => ask({ edit, step, number, shown });
  const proposed = proposedOf(step);
  const [first] = proposed;
  const take = (/** @type {Step} */ condition) => done({ reading, number, shown, isRemoved: false }, taking(condition));
  useKeys({
    ...Object.fromEntries(possible.map((edit) => [edit.key, asking(edit)])),
    ...(first && { t: ({ repeat }) => void (repeat || take(first).catch((/** @type {unknown} */ error) => toast(wordsOf(error), "bad"))) }),
  });
  return html`${proposed.length > 0 && html`<div class="row" role="group" aria-label="Proposed to expect">
    <span class="small">Expect that</span>
    ${proposed.map((each) => html`<${WorkButton} work=${() => take(each)} aria-keyshortcuts=${each === first ? "t" : null}>
      <span dir="auto">${wordsFor(each)}</span> ${each === first && html`<${Key} name="T" />`}
    <//>`)}
  </div>`}<div class="row" role="group" aria-label="Change this step">
    ${possible.map((edit) => html`<button
      key=${edit.key} type="button" aria-keyshortcuts=${edit.key} onClick=${asking(edit)}
    >${edit.word} <${Key} name=${edit.key.toUpperCase()} /></button>`)}
    ${asked && html`<${Question} reading=${reading} asked=${asked} close=${() => ask((now) => (now === asked ? null : now))} />`}
  </div>`;
}

/** @param {QuestionProperties} properties of the form of one change */
function Question({ reading, asked: { edit, step, number, shown }, close }) {
  const isApproved = reading.trajectory?.review.state === "approved";
  async function submit(/** @type {FormData} */ values, isRemoved = false) {
    try {
      await done({ reading, number, shown, isRemoved: edit.key === "x" }, edit.change(values, isRemoved));
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
      // What is behind the question now is not what it was about.
      close();
      toast(wordsOf(error), "bad");
      return;
    }
    close();
  }
  const removes = edit.removes?.fits(step) ? edit.removes : null;
  const title = `Step ${number}: ${edit.title}`;
  return html`<${Dialog} title=${title} submit=${(/** @type {FormData} */ values) => submit(values, values.get("removes") === "on")} close=${close}>
    ${edit.fields(step)}
    ${removes && html`<label><input type="checkbox" name="removes" /> ${removes.word}</label>`}
    <p class="small">${isApproved && html`<b>This ends the approval.</b> `}Whoever changes a step is an author: somebody else has to approve it then, unless the server lets authors do so.</p>
    <div class="row"><button class="primary">${edit.key === "x" ? "Remove" : "Save"} <${Key} name="Enter" /></button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {import("./expectations.js").Filled} properties of what was expected before */
const ExpectationFields = ({ kind, said, role, seconds }) => html`
  <${Field} label="What"><select name="kind">${KINDS.map(([value, words]) => html`<option key=${value} value=${value} selected=${value === kind}>${words}</option>`)}</select><//>
  <${Field} label="Text, or the element's name"><input name="expect" autocomplete="off" dir="auto" defaultValue=${said} /><//>
  <${Field} label="The element's role"><input name="role" autocomplete="off" placeholder="push button, label; any where it is empty" defaultValue=${role} /><//>
  <${Field} label="Within seconds"><input name="timeout" type="number" required min="0.1" max="120" step="any" defaultValue=${seconds} /><//>`;

/** @param {{text: string}} properties of what was typed */
const ParameterFields = ({ text }) => html`
  <p class="small" dir="auto">A run brings a value of its own in the place of the text.</p>
  <${Field} label="Text in this step"><input name="parameter.text" required autocomplete="off" dir="auto" defaultValue=${text} /><//>
  <${Field} label="Name"><input name="parameter.name" required maxlength=${LONGEST_PARAMETER} autocomplete="off" placeholder="order" /><//>
  <${Field} label="Type"><select name="parameter.type"><option value="text">Text</option><option value="integer">Integer</option><option value="number">Number</option></select><//>
  <${Field} label="Example"><input name="parameter.example" autocomplete="off" dir="auto" placeholder="The text, where it is empty" /><//>`;
