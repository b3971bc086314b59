/** Webhooks: addresses that are told what happens to machines. */

import { html, useState } from "../../parts/elements.js";
import { Secret, usePools } from "../../parts/forms.js";
import { Found, usePages } from "../../parts/listing.js";
import { EmptyState } from "../../parts/pieces.js";
import { Ago } from "../../parts/time.js";
import { call, path } from "../../server/api.js";
import { Setting } from "./frame.js";
import { EVENTS, WebhookForm } from "./webhook_form.js";

/** @type {Column<Webhook>[]} */
const COLUMNS = [
  {
    key: "name", label: "Webhook",
    cell: ({ id, url, description }) => [html`<a href="#${path`/settings/webhooks/${id}`}" dir="auto">${description ?? url}</a>`, description && html`<small>${url}</small>`],
    attributes: ({ url }) => ({ title: url }),
  },
  { key: "events", label: "Told when", cell: ({ events }) => events.map((event) => EVENTS[event] ?? event).join(", ") },
  { key: "pools", label: "Machines", cell: ({ pools }) => pools.map(({ name }) => name).join(", ") || "All" },
  { key: "by", label: "Made by", cell: ({ created_by }) => created_by, attributes: () => ({ dir: "auto" }) },
  { key: "since", label: "Made", cell: ({ created_at }) => html`<${Ago} time=${created_at} />` },
];

export function WebhooksPage(/** @type {PageProperties} */ page) {
  /** @type {import("../../parts/listing.js").Pages<Webhook>} */
  const list = usePages(page, { address: "v1/webhooks", kinds: ["webhook"] });
  const pools = usePools(page.me);
  const [isNew, open] = useState(false);
  const [made, show] = useState(/** @type {CreatedWebhook | null} */ (null));
  const make = async (/** @type {object} */ body) => {
    /** @type {Answer<CreatedWebhook>} */
    const { data } = await call("POST", "v1/webhooks", { body });
    show(data);
    await list.read();
  };
  const first = html`<${EmptyState} title="No webhook yet"><p>The server can tell a pager, a chat or a script when a machine has gone, and when it is back.</p><//>`;
  return html`<${Setting} me=${page.me} title="Webhooks" action=${html`<button type="button" class="primary" onClick=${() => open(true)}>New webhook</button>`}>
    ${made && html`<${Secret} key=${made.id} title="The webhook's secret" secret=${made.secret} done=${() => show(null)}>
      <p>With it the receiver checks the signature of what is posted to <bdi>${made.url}</bdi>.</p>
    <//>`}
    <${Found} name="admin webhooks" label="Webhooks" what="webhook" columns=${COLUMNS} list=${list} first=${first} />
    ${isNew && html`<${WebhookForm} pools=${pools} submit=${make} close=${() => open(false)} />`}
  <//>`;
}
