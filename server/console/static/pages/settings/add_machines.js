/** Codes with which machines join: made, shown once, and those that are still good. */

import { html, useState, valueTo } from "../../parts/elements.js";
import { Choices, chosenOf, EndField, endOf, PoolChoices, SHORT_SPANS, tagsOf, usePools } from "../../parts/forms.js";
import { Found, usePages } from "../../parts/listing.js";
import { Field, textOf, WorkForm } from "../../parts/pieces.js";
import { Ago } from "../../parts/time.js";
import { call, path, statusOf, wordsOf } from "../../server/api.js";
import { Setting } from "./frame.js";
import { OneInvitation } from "./invitation.js";

/** @type {Column<Invitation>[]} */
const COLUMNS = [
  { key: "name", label: "What for", cell: ({ id, name }) => html`<a href="#${path`/settings/machines/${id}`}" dir="auto">${name ?? "Without a name"}</a>` },
  { key: "for", label: "For", cell: ({ machine_id, pools }) => machine_id ?? (pools.map(({ name }) => name).join(", ") || "New machines") },
  { key: "used", label: "Used", cell: ({ used, uses }) => `${used} of ${uses}` },
  { key: "expires_at", label: "Ends", cell: ({ expires_at }) => html`<${Ago} time=${expires_at} />` },
  { key: "by", label: "Made by", cell: ({ created_by }) => created_by, attributes: () => ({ dir: "auto" }) },
];

const CHANGES = ["invitation", "join", "machine"];

export function AddMachinesPage(/** @type {PageProperties} */ page) {
  const [made, show] = useState(/** @type {CreatedInvitation | null} */ (null));
  if (made) return html`<${OneInvitation} ...${page} id=${made.id} made=${made} leave=${() => show(null)} />`;
  return html`<${Setting} me=${page.me} title="Add machines">
    <p>A code lets machines join: it is shown once, and is good for a while. A new machine is called as its host calls itself.</p>
    <${NewInvitation} me=${page.me} made=${show} />
    <h2>Codes that are still good</h2>
    <${Invitations} ...${page} />
  <//>`;
}

/** @param {Pick<PageProperties, "events" | "me">} page */
function Invitations(page) {
  /** @type {import("../../parts/listing.js").Pages<Invitation>} */
  const list = usePages(page, { address: "v1/invitations", kinds: CHANGES });
  if (statusOf(list.error) === 403) return html`<p class="small">${wordsOf(list.error)}</p>`;
  return html`<${Found} name="admin invitations" label="Codes that are still good" what="code" columns=${COLUMNS} list=${list} first=${html`<p class="small">There is none.</p>`} />`;
}

/** @param {{me: Session, made: (invitation: CreatedInvitation) => void}} properties */
function NewInvitation({ me, made }) {
  const [kind, choose] = useState("many");
  const pools = usePools(me);
  const isForOne = kind === "one";
  async function submit(/** @type {FormData} */ values) {
    const body = {
      name: textOf(values, "name") || null,
      expires_at: endOf(values),
      approval: chosenOf(values, "approval").length > 0,
      tags: tagsOf(values),
      pool_ids: chosenOf(values, "pool_ids"),
      ...(isForOne ? { machine_id: textOf(values, "machine_id") } : { uses: Number(textOf(values, "uses")) }),
    };
    /** @type {Answer<CreatedInvitation>} */
    const { data } = await call("POST", "v1/invitations", { body });
    made(data);
  }
  return html`<${WorkForm} class="sheet" submit=${submit}>
    <div class="fields">
      <${Field} label="For"><select value=${kind} onChange=${valueTo(choose)}>
        <option value="many">New machines</option>
        ${me.scopes.includes("machines:write") && html`<option value="one">One machine</option>`}
      </select><//>
      ${isForOne
        ? html`<${Field} key="machine_id" label="Its id"><input name="machine_id" required maxlength="128" autocapitalize="off" spellcheck="false" placeholder="such as desk-1" /><//>`
        : html`<${Field} key="uses" label="How many may join"><input name="uses" type="number" required min="1" max="1000" defaultValue="1" /><//>`}
      <${EndField} label="The code is good for" spans=${SHORT_SPANS} />
      <${Field} label="What for (optional)"><input name="name" maxlength="200" dir="auto" placeholder="such as Berlin, second floor" /><//>
      <${Field} label="Tags that they get (optional)"><input name="tags" maxlength="2000" dir="auto" placeholder="words, with spaces between" /><//>
    </div>
    <${PoolChoices} legend="Pools that they are put in" pools=${pools} />
    <${Choices} name="approval" legend="Approval" options=${[["yes", "Each host waits until somebody lets it in here"]]} />
    <div class="row"><button class="primary">Make the code</button></div>
  <//>`;
}
