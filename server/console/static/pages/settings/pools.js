/** Pools: made, renamed, watched over, and removed. */

import { html, useMade, useMemo, useState } from "../../parts/elements.js";
import { Confirm } from "../../parts/forms.js";
import { Found, usePages } from "../../parts/listing.js";
import { Dialog, EmptyState, Field, textOf } from "../../parts/pieces.js";
import { count, number } from "../../parts/words.js";
import { call, listAll, path, query } from "../../server/api.js";
import { Setting } from "./frame.js";

/** @typedef {{pool?: Pool, removes?: boolean}} Doing what is asked: a pool to change or to remove, or what a new one is like */

/** @type {(ask: (doing: Doing) => void) => Column<Pool>[]} */
const columnsOf = (ask) => [
  {
    key: "name", label: "Pool",
    cell: ({ name, description }) => [html`<b dir="auto">${name}</b>`, description && html`<small dir="auto">${description}</small>`],
  },
  { key: "machines", label: "Machines", cell: ({ name, machines }) => html`<a href=${query("#/machines", { pool: name })} aria-label=${`${count(machines, "machine")} of ${name}`}>${number(machines)}</a>` },
  { key: "offline_after", label: "Told when away for", cell: ({ offline_after }) => (offline_after === null ? "as the server has it" : `${number(offline_after)} s`) },
  { key: "by", label: "Made by", cell: ({ created_by }) => created_by, attributes: () => ({ dir: "auto" }) },
  {
    key: "actions", label: "Actions",
    cell: (pool) => html`<span class="row">
      <button type="button" aria-label=${`Change ${pool.name}`} onClick=${() => ask({ pool })}>Change</button>
      <button type="button" aria-label=${`Remove ${pool.name}`} onClick=${() => ask({ pool, removes: true })}>Remove</button>
    </span>`,
  },
];

export function PoolsPage(/** @type {PageProperties} */ page) {
  /** @type {import("../../parts/listing.js").Pages<Pool>} */
  const list = usePages(page, { address: "v1/pools", kinds: ["pool", "machine"] });
  const [doing, ask] = useState(/** @type {Doing | null} */ (null));
  const columns = useMemo(() => columnsOf(ask), []);
  const close = () => ask(null);
  const first = html`<${EmptyState} title="No pool yet"><p>A pool has machines that are looked after together: those of a place, or of a kind. Tokens and webhooks can be bound to it.</p><//>`;
  return html`<${Setting} me=${page.me} title="Pools" action=${html`<button type="button" class="primary" onClick=${() => ask({})}>New pool</button>`}>
    <${Found} name="admin pools" label="Pools" what="pool" columns=${columns} list=${list} first=${first} />
    ${doing && (doing.pool && doing.removes
      ? html`<${Remove} pool=${doing.pool} me=${page.me} removed=${list.read} close=${close} />`
      : html`<${Change} pool=${doing.pool} changed=${list.read} close=${close} />`)}
  <//>`;
}

/** @param {{pool?: Pool, changed: () => Promise<void>, close: () => void}} properties of a pool that is changed, or made */
function Change({ pool, changed, close }) {
  const submit = async (/** @type {FormData} */ values) => {
    const seconds = textOf(values, "offline_after");
    const body = { name: textOf(values, "name"), description: textOf(values, "description") || null, offline_after: seconds ? Number(seconds) : null };
    await call(pool ? "PATCH" : "POST", pool ? path`v1/pools/${pool.id}` : "v1/pools", { body });
    await changed();
    close();
  };
  return html`<${Dialog} title=${pool ? "Change the pool" : "New pool"} submit=${submit} close=${close}>
    <${Field} label="Name"><input name="name" required maxlength="64" dir="auto" defaultValue=${pool?.name ?? ""} /><//>
    <${Field} label="Description (optional)"><input name="description" maxlength="1000" dir="auto" defaultValue=${pool?.description ?? ""} /><//>
    <${Field} label="Seconds that a machine may be away before somebody is told">
      <input name="offline_after" type="number" min="1" max="86400" placeholder="as the server has it" defaultValue=${pool?.offline_after ?? ""} />
    <//>
    <p class="small">With a number here its machines must be there: webhooks are told after so long, and <code>/metrics</code> counts them as missing.</p>
    <div class="row"><button class="primary">${pool ? "Save" : "Make"}</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {{pool: Pool, me: Session, removed: () => Promise<void>, close: () => void}} properties */
function Remove({ pool, me, removed, close }) {
  const bound = useBound(pool, me);
  const work = async () => {
    await call("DELETE", path`v1/pools/${pool.id}`);
    await removed();
  };
  return html`<${Confirm} title="Remove the pool?" word="Remove" work=${work} close=${close}>
    <p><bdi>${pool.name}</bdi> goes; its ${count(pool.machines, "machine")} ${pool.machines === 1 ? "stays" : "stay"}.</p>
    <p>Tokens that are bound to it stay bound to what is gone: they see its machines no more, and nothing at all where it was their only pool. A new pool of the same name is another one.</p>
    ${bound.length > 0 && html`<p><b>Bound to it: ${bound.map(({ name }, at) => html`${at ? ", " : ""}<bdi>${name}</bdi>`)}</b></p>`}
  <//>`;
}

/** @type {(pool: Pool, me: Session) => Token[]} the tokens that are bound to a pool, as far as this one sees tokens */
function useBound({ id }, { scopes }) {
  const [bound, learn] = useState(/** @type {Token[]} */ ([]));
  useMade((signal) => {
    if (!scopes.includes("tokens:write")) return;
    /** @type {Promise<Token[]>} */
    const reading = listAll("v1/tokens", signal);
    // The words above say what becomes of them, whoever they are.
    reading.then((all) => learn(all.filter(({ pool_ids }) => pool_ids?.includes(id))), () => null);
  });
  return bound;
}
