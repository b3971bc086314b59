/** Organizations: one's own and those that were made from it. */

import { html, useMemo, useState } from "../../parts/elements.js";
import { Secret } from "../../parts/forms.js";
import { Found, usePages } from "../../parts/listing.js";
import { Dialog, Field, textOf } from "../../parts/pieces.js";
import { Ago } from "../../parts/time.js";
import { call } from "../../server/api.js";
import { Setting } from "./frame.js";
import { NewToken } from "./new_token.js";

/** @type {(me: Session, ask: (organization: Organization) => void) => Column<Organization>[]} */
const columnsOf = (me, ask) => [
  { key: "name", label: "Organization", cell: ({ id, name }) => [html`<b dir="auto">${name}</b>`, id === me.organization_id && html`<small>yours</small>`] },
  { key: "id", label: "Id", cell: ({ id }) => html`<code>${id}</code>` },
  { key: "since", label: "Added", cell: ({ created_at }) => html`<${Ago} time=${created_at} />` },
  {
    key: "actions", label: "Actions",
    cell: (organization) => me.scopes.includes("tokens:write") && organization.id !== me.organization_id &&
      html`<button type="button" aria-label=${`New token for ${organization.name}`} onClick=${() => ask(organization)}>New token</button>`,
  },
];

export function OrganizationsPage(/** @type {PageProperties} */ page) {
  const { me } = page;
  /** @type {import("../../parts/listing.js").Pages<Organization>} */
  const list = usePages(page, { address: "v1/organizations", kinds: ["organization"] });
  const [isNew, open] = useState(false);
  const [chosen, ask] = useState(/** @type {Organization | null} */ (null));
  const [made, show] = useState(/** @type {CreatedToken | null} */ (null));
  const columns = useMemo(() => columnsOf(me, ask), []);
  return html`<${Setting} me=${me} title="Organizations" action=${html`<button type="button" class="primary" onClick=${() => open(true)}>Add an organization</button>`}>
    <p>Each has machines, tokens and everything else of its own, and sees nothing of the others. Somebody gets into a new one with a token that is made here.</p>
    ${made && html`<${Secret} key=${made.id} title=${`The token ${made.name}`} secret=${made.token} done=${() => show(null)} />`}
    <${Found} name="admin organizations" label="Organizations" what="organization" columns=${columns} list=${list} />
    ${isNew && html`<${Add} added=${list.read} close=${() => open(false)} />`}
    ${chosen && html`<${NewToken} me=${me} pools=${null} organization=${chosen} made=${show} close=${() => ask(null)} />`}
  <//>`;
}

/** @param {{added: () => Promise<void>, close: () => void}} properties */
function Add({ added, close }) {
  const submit = async (/** @type {FormData} */ values) => {
    await call("POST", "v1/organizations", { body: { name: textOf(values, "name") } });
    await added();
    close();
  };
  return html`<${Dialog} title="Add an organization" submit=${submit} close=${close}>
    <${Field} label="Name"><input name="name" required maxlength="200" dir="auto" /><//>
    <div class="row"><button class="primary">Add</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}
