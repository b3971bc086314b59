/** One thing that is done with many machines: asked about, done, and answered machine by machine. */

import { html, useMemo, useState } from "../parts/elements.js";
import { tagsOf } from "../parts/forms.js";
import { Dialog, Field, textOf } from "../parts/pieces.js";
import { count } from "../parts/words.js";
import { changeEach, changeMany, expectOffline, expectOnline, momentOf } from "./changes.js";
import { PoolField } from "./pool_field.js";

/** @typedef {{ids: string[], values: FormData, told: (items: BulkItem[]) => void}} Doing */

/** @type {(change: (values: FormData) => object) => (doing: Doing) => Promise<void>} */
const inParts = (change) => ({ ids, values, told }) => changeMany(ids, change(values), told);

/** @type {(name: string) => unknown} as the server calls it: what it says of it stands below */
const reason = (name) => html`<${Field} label="Reason"><input name=${name} maxlength="200" placeholder="such as: the move" /><//>`;

/** @type {(add: string, remove: string) => unknown} */
const addOrRemove = (add, remove) => html`<${Field} label="What to do"><select name="action">
  <option value=${add}>Add</option><option value=${remove}>Take away</option>
</select><//>`;

/** @type {Record<string, ManyChange>} by their names */
export const CHANGES = {
  pause: {
    word: "Pause", done: "Paused",
    fields: () => html`<p>Until they are resumed, only somebody in control can send them input. What programs do there ends.</p>
      ${reason("pause_reason")}
      <${Field} label="Until (optional; otherwise until somebody resumes them)"><input name="pause_until" type="datetime-local" /><//>`,
    run: inParts((values) => ({
      action: "pause",
      pause_reason: textOf(values, "pause_reason") || null,
      pause_until: textOf(values, "pause_until") ? momentOf(textOf(values, "pause_until")) : null,
    })),
  },
  resume: {
    word: "Resume", done: "Resumed",
    fields: () => html`<p>Programs can send them input again.</p>`,
    run: inParts(() => ({ action: "resume" })),
  },
  tag: {
    word: "Tags", title: "Change the tags of", done: "Changed", scope: "pools:write",
    fields: () => html`${addOrRemove("tag", "untag")}
      <${Field} label="Tags, with spaces between"><input name="tags" required placeholder="till floor-2" dir="auto" autocapitalize="off" /><//>`,
    run: inParts((values) => ({ action: textOf(values, "action"), tags: tagsOf(values) })),
  },
  pool: {
    word: "Pools", title: "Change the pools of", done: "Changed", scope: "pools:write",
    fields: () => html`${addOrRemove("add_to_pool", "remove_from_pool")}<${PoolField} />`,
    run: inParts((values) => ({ action: textOf(values, "action"), pool_id: textOf(values, "pool_id") })),
  },
  expect: {
    word: "Expect offline", title: "Expect to be offline:", done: "Noted for",
    fields: () => html`<p>Until then nobody is told where one of them is away. Leave the time empty to take that back.</p>
      <${Field} label="Until, at most 30 days from now"><input name="until" type="datetime-local" /><//>${reason("reason")}`,
    run: ({ ids, values, told }) => {
      const until = textOf(values, "until");
      return changeEach(ids, (id) => (until ? expectOffline(id, until, textOf(values, "reason")) : expectOnline(id)), told);
    },
  },
  rotate: {
    word: "Rotate tokens", title: "Rotate the tokens of", done: "Told to change its token:",
    fields: () => html`<p>Each makes itself a new token and comes back with it; then its old ones fall.
      What runs there is interrupted. One that is not connected cannot be told.</p>`,
    run: inParts(() => ({ action: "rotate" })),
  },
  remove: {
    word: "Remove", done: "Removed", isGrave: true,
    fields: (machines) => html`<p>Their tokens end with them: each has to join anew. This cannot be taken back.</p>
      <${Confirmation} machines=${machines} />`,
    run: inParts(() => ({ action: "remove" })),
  },
};

/** @param {{machines: Map<string, string>}} properties of a field that takes nothing but what says that one has read how much it is about */
function Confirmation({ machines }) {
  const [only] = machines.values();
  const wanted = machines.size === 1 && only ? only : String(machines.size);
  const check = (/** @type {{currentTarget: HTMLInputElement}} */ { currentTarget }) =>
    currentTarget.setCustomValidity(currentTarget.value.trim() === wanted ? "" : `Type ${wanted} to go on.`);
  const label = machines.size === 1 ? `Type its name, ${wanted}, to go on` : `Type how many that are, ${wanted}, to go on`;
  return html`<${Field} label=${label}><input required autocomplete="off" onInput=${check} dir="auto" /><//>`;
}

/** @param {{change: ManyChange, machines: Map<string, string>, close: () => void}} properties: the machines' names by their ids */
export function Change({ change, machines, close }) {
  const [ended, end] = useState(/** @type {BulkItem[] | null} */ (null));
  const [reached, reach] = useState(0);
  const what = machines.size === 1 ? [...machines.values()].join("") : count(machines.size, "machine");
  async function submit(/** @type {FormData} */ values) {
    /** @type {BulkItem[]} */
    const items = [];
    const told = (/** @type {BulkItem[]} */ some) => {
      items.push(...some);
      reach(items.length);
    };
    await change.run({ ids: [...machines.keys()], values, told });
    end(items);
  }
  if (ended) return html`<${Dialog} title=${titleOf(change, ended)} submit=${close} close=${close}>
    <${Answers} items=${ended} names=${machines} />
    <div class="row"><button class="primary">Close</button></div>
  <//>`;
  return html`<${Dialog} title=${`${change.title ?? change.word} ${what}`} submit=${submit} close=${close}>
    ${change.fields(machines)}
    ${reached > 0 && html`<p role="status">${reached} of ${count(machines.size, "machine")}…</p>`}
    <div class="row"><button class=${change.isGrave ? "grave" : "primary"}>${change.word}</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @type {(change: ManyChange, items: BulkItem[]) => string} */
function titleOf({ done }, items) {
  const good = items.filter(({ status }) => status === "done").length;
  return good === items.length ? `${done} ${count(good, "machine")}` : `${done} ${good} of ${count(items.length, "machine")}`;
}

/** @param {{items: BulkItem[], names: Map<string, string>}} properties of what became of each, what went wrong first */
function Answers({ items, names }) {
  const sorted = useMemo(() => items.toSorted((one, other) => Number(one.status === "done") - Number(other.status === "done")), [items]);
  return html`<ul class="answers" tabindex="0" aria-label="What became of each">
    ${sorted.map(({ machine_id, status, detail }) => html`<li key=${machine_id} data-kind=${status === "done" ? "good" : "bad"}>
      <b dir="auto">${names.get(machine_id) ?? machine_id}</b>
      <span class="outcome" data-kind=${status === "done" ? "good" : "bad"}>
        <span aria-hidden="true">${status === "done" ? "✓" : "✕"}</span> ${status === "done" ? "Done" : status === "not_found" ? "Not there any more" : "Failed"}
      </span>
      ${detail && html`<small>${detail}</small>`}
    </li>`)}
  </ul>`;
}
