/** The form for a token, which pages show where one may be made. */

import { html, useState, valueTo } from "../../parts/elements.js";
import { Choices, chosenOf, EndField, endOf, LONG_SPANS, PoolChoices } from "../../parts/forms.js";
import { Dialog, Field, textOf } from "../../parts/pieces.js";
import { call } from "../../server/api.js";

/** @type {Record<Role, string>} */
const ROLES = {
  viewer: "Viewer: only looks",
  operator: "Operator: a person at this console",
  agent: "Agent: a program that works desktops",
  reviewer: "Reviewer: looks through trajectories",
  administrator: "Administrator: everything",
};

const SINGLE = "scopes";

/** @param {NewTokenProperties} properties: of another organization where one is named, whose pools are not known here */
export function NewToken({ me, pools, organization, made, close }) {
  const [role, choose] = useState("operator");
  const submit = async (/** @type {FormData} */ values) => {
    const chosen = chosenOf(values, "pool_ids");
    const body = {
      name: textOf(values, "name"),
      ...(role === SINGLE ? { scopes: chosenOf(values, "scopes") } : { role }),
      ...(chosen.length ? { pool_ids: chosen } : {}),
      ...(organization ? { organization_id: organization.id } : {}),
      expires_at: endOf(values),
    };
    /** @type {Answer<CreatedToken>} */
    const { data } = await call("POST", "v1/tokens", { body });
    made(data);
    close();
  };
  return html`<${Dialog} title=${organization ? `New token for ${organization.name}` : "New token"} submit=${submit} close=${close}>
    <${Field} label="Name"><input name="name" required maxlength="200" dir="auto" placeholder="whom or what it is for" /><//>
    <${Field} label="May"><select name="role" value=${role} onChange=${valueTo(choose)}>
      ${Object.entries(ROLES).map(([value, words]) => html`<option value=${value}>${words}</option>`)}
      <option value=${SINGLE}>What I choose</option>
    </select><//>
    ${role === SINGLE && html`<${Choices} name="scopes" legend="Scopes" options=${me.scopes.map((scope) => [scope, scope])} />`}
    ${!organization && html`<${PoolChoices} legend="Only machines of these pools (none: of all)" pools=${pools} />`}
    <${EndField} label="Ends" spans=${LONG_SPANS} />
    <p class="small">It allows no more than yours, and lasts no longer.</p>
    <div class="row"><button class="primary">Make</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}
