/** What a machine is, what it is found by, and what its owner can change of that. */

import { html, useMade, useState, useStore } from "../parts/elements.js";
import { chosenOf, Confirm, PoolChoices, tagsOf, usePools } from "../parts/forms.js";
import { Dialog, Field, textOf, WorkButton } from "../parts/pieces.js";
import { Reading } from "../parts/reading.js";
import { Ago } from "../parts/time.js";
import { toast } from "../parts/toasts.js";
import { displays, exactly, number, span } from "../parts/words.js";
import { call, get, isNowhere, path } from "../server/api.js";
import { changeMany, expectOffline, expectOnline } from "./changes.js";
import { Labels, Version } from "./columns.js";

/** @param {{machine: Machine, read: () => Promise<void>} & Pick<PageProperties, "events" | "me">} properties */
export function About({ machine, read, ...page }) {
  const [doing, begin] = useState("");
  const expected = useStore(useMade((signal) => new Expected({ id: machine.id, ...page, signal })));
  const mayChange = page.me.scopes.includes("machines:write");
  const mayLabel = mayChange && page.me.scopes.includes("pools:write");
  const close = () => begin("");
  const { until } = expected;
  return html`
    <${Facts} machine=${machine} expected=${until} />
    ${mayChange && html`<div class="row about-buttons">
      ${mayLabel && html`<button type="button" onClick=${() => begin("labels")}>Pools and tags</button>`}
      ${until
        ? html`<${WorkButton} work=${() => expectOnline(machine.id).then(expected.read)}>Expect it online<//>`
        : html`<button type="button" onClick=${() => begin("expect")}>Expect offline</button>`}
      <button type="button" onClick=${() => begin("rotate")}>Rotate token</button>
    </div>`}
    ${doing === "labels" && html`<${EditLabels} me=${page.me} machine=${machine} read=${read} close=${close} />`}
    ${doing === "expect" && html`<${Expect} machine=${machine} read=${expected.read} close=${close} />`}
    ${doing === "rotate" && html`<${Rotate} machine=${machine} close=${close} />`}
  `;
}

/** @param {{machine: Machine, expected: ExpectedOffline | null}} properties */
function Facts({ machine, expected }) {
  const { elements, inputs, invitation, viewers } = machine;
  const facts = {
    Id: machine.id,
    "Pools and tags": machine.pools.length || machine.tags.length ? html`<${Labels} ...${machine} />` : "–",
    ...(expected && { "Expected offline": html`<bdi>until ${exactly(expected.until)}, says ${expected.by}${expected.reason && `: ${expected.reason}`}</bdi>` }),
    Platform: machine.platform ?? "–",
    Desktop: machine.desktop ?? "–",
    Version: html`<${Version} ...${machine} />`,
    Displays: displays(machine.displays),
    Node: machine.node ?? "–",
    Elements: elements.available ? "Told by its programs" : (elements.reason ?? "–"),
    "Watched by": viewers.length ? viewers.join(", ") : "–",
    "Round trip": span(machine.round_trip_ms),
    Inputs: `${number(inputs.completed)} completed, ${number(inputs.failed)} failed`,
    "Last input": html`<${Ago} time=${machine.last_input_at} />`,
    Added: html`<${Ago} time=${machine.created_at} />`,
    "Joined by": invitation ? html`<bdi title=${invitation.id}>invitation ${invitation.name ?? invitation.id}</bdi>` : "a token of its own",
  };
  return html`<dl class="facts">${Object.entries(facts).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Until when the machine is expected to be away, if it is. */
class Expected extends Reading {
  until = /** @type {ExpectedOffline | null} */ (null);

  constructor(/** @type {Watched & {id: string}} */ { id, ...page }) {
    super(page);
    this.address = path`/v1/machines/${id}/expected-offline`;
  }

  /** @override */ async load() {
    try {
      this.until = /** @type {ExpectedOffline} */ (await get(this.address, this.loading));
    } catch (error) {
      if (!isNowhere(error)) throw error;
      this.until = null;
    }
  }
}

/** @param {{me: Session, machine: Machine, read: () => Promise<void>, close: () => void}} properties of all that the machine is found by, to be changed at once */
function EditLabels({ me, machine: { id, tags, pools }, read, close }) {
  const all = usePools(me);
  const isIn = (/** @type {string} */ pool) => pools.some((each) => each.id === pool);
  async function submit(/** @type {FormData} */ values) {
    const wanted = new Set(chosenOf(values, "pool_ids"));
    await call("PATCH", path`/v1/machines/${id}`, { body: { tags: tagsOf(values) } });
    for (const { id: pool_id, name } of all ?? []) {
      if (wanted.has(pool_id) === isIn(pool_id)) continue;
      const action = wanted.has(pool_id) ? "add_to_pool" : "remove_from_pool";
      await changeMany([id], { action, pool_id }, ([item]) => {
        if (item?.detail) throw new Error(`${name}: ${item.detail}`);
      });
    }
    await read();
    close();
  }
  return html`<${Dialog} title="Pools and tags" submit=${submit} close=${close}>
    <${Field} label="Tags, with spaces between"><input name="tags" defaultValue=${tags.join(" ")} dir="auto" autocapitalize="off" /><//>
    <${PoolChoices} legend="Pools" pools=${all} chosen=${pools.map((each) => each.id)} />
    <div class="row"><button class="primary">Save</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {{machine: Machine, read: () => Promise<void>, close: () => void}} properties */
function Expect({ machine, read, close }) {
  const submit = async (/** @type {FormData} */ values) => {
    await expectOffline(machine.id, textOf(values, "until"), textOf(values, "reason"));
    await read();
    close();
  };
  return html`<${Dialog} title="Expect offline" submit=${submit} close=${close}>
    <p>Until then nobody is told where the machine is away.</p>
    <${Field} label="Until, at most 30 days from now"><input name="until" type="datetime-local" required /><//>
    <${Field} label="Reason"><input name="reason" maxlength="200" placeholder="such as: the move" /><//>
    <div class="row"><button class="primary">Save</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {{machine: Machine, close: () => void}} properties */
function Rotate({ machine, close }) {
  const work = async () => {
    await call("POST", path`/v1/machines/${machine.id}/rotate`);
    toast("The machine was told to change its token. It comes back in a moment.");
  };
  return html`<${Confirm} title="Rotate the token" word="Rotate token" work=${work} close=${close}>
    <p>The machine makes itself a new token and comes back with it; then its old ones fall. What runs there is interrupted.</p>
  <//>`;
}
