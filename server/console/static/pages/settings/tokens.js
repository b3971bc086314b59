/** Tokens: who may do what, made, shown once, and revoked. */

import { useChosen } from "../../parts/address.js";
import { html, useMemo, useState } from "../../parts/elements.js";
import { Confirm, Secret, usePools } from "../../parts/forms.js";
import { Filters } from "../../parts/filters.js";
import { Found, usePages } from "../../parts/listing.js";
import { Ago } from "../../parts/time.js";
import { call, path } from "../../server/api.js";
import { Setting } from "./frame.js";
import { NewToken } from "./new_token.js";

const USUAL = { of_machines: "" };

/** @type {Filter<keyof typeof USUAL>[]} */
const FILTERS = [{ name: "of_machines", label: "Of whom", options: [["", "People and programs"], ["true", "Machines"]] }];

/** @type {(names: Map<string, string>, ask: (token: Token) => void) => Column<Token>[]} */
const columnsOf = (names, ask) => [
  { key: "name", label: "Token", cell: ({ name }) => html`<b dir="auto">${name}</b>`, attributes: ({ id }) => ({ title: id }) },
  { key: "may", label: "May", cell: mayOf, attributes: ({ scopes }) => ({ title: scopes.join(", ") }) },
  { key: "pools", label: "Machines", cell: ({ machine_id, pool_ids }) => machine_id ?? (pool_ids ? pool_ids.map((id) => names.get(id) ?? "a pool that is gone").join(", ") : "All") },
  { key: "used", label: "Last used", cell: ({ last_used_at }) => html`<${Ago} time=${last_used_at} />` },
  { key: "expires_at", label: "Ends", cell: ({ expires_at }) => (expires_at ? html`<${Ago} time=${expires_at} />` : "Never") },
  { key: "actions", label: "Actions", cell: (token) => html`<button type="button" aria-label=${`Revoke ${token.name}`} onClick=${() => ask(token)}>Revoke</button>` },
];

/** @param {Token} token its role, or its scopes one by one */
const mayOf = ({ role, scopes, machine_id }) => (machine_id ? "Be this machine" : (role ?? scopes.join(", ")));

export function TokensPage(/** @type {PageProperties} */ page) {
  const { me } = page;
  const [chosen, choose] = useChosen("/settings/tokens", USUAL);
  /** @type {import("../../parts/listing.js").Pages<Token>} */
  const list = usePages(page, { address: "v1/tokens", kinds: ["token", "machine"], filter: { of_machines: chosen.of_machines || "false" } });
  const pools = usePools(me);
  const [isNew, open] = useState(false);
  const [made, show] = useState(/** @type {CreatedToken | null} */ (null));
  const [revoked, ask] = useState(/** @type {Token | null} */ (null));
  const columns = useMemo(() => columnsOf(new Map(pools?.map(({ id, name }) => [id, name])), ask), [pools]);
  const take = (/** @type {CreatedToken} */ token) => {
    show(token);
    void list.read();
  };
  return html`<${Setting} me=${me} title="Tokens" action=${html`<button type="button" class="primary" onClick=${() => open(true)}>New token</button>`}>
    <p>Give each person and each program a token of their own, that can be revoked alone.</p>
    ${made && html`<${Secret} key=${made.id} title=${`The token ${made.name}`} secret=${made.token} done=${() => show(null)} />`}
    <${Filters} filters=${FILTERS} chosen=${chosen} choose=${choose} />
    <${Found} name="admin tokens" label="Tokens" what="token" columns=${columns} list=${list} />
    ${isNew && html`<${NewToken} me=${me} pools=${pools} made=${take} close=${() => open(false)} />`}
    ${revoked && html`<${Revoke} token=${revoked} read=${list.read} close=${() => ask(null)} />`}
  <//>`;
}

/** @param {{token: Token, read: () => Promise<void>, close: () => void}} properties */
function Revoke({ token, read, close }) {
  const work = async () => {
    await call("DELETE", path`v1/tokens/${token.id}`);
    await read();
  };
  return html`<${Confirm} title="Revoke the token?" word="Revoke" work=${work} close=${close}>
    <p><bdi>${token.name}</bdi> works nowhere any more within a second or two, and open links with it end. That cannot be taken back.</p>
    ${token.machine_id && html`<p>The machine ${token.machine_id} needs another one to come back.</p>`}
  <//>`;
}
