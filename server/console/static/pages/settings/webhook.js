/** One webhook: what it is, what was and will be posted to it, and its secret. */

import { html, useMade, useMemo, useState, useStore } from "../../parts/elements.js";
import { Confirm, Secret, usePools } from "../../parts/forms.js";
import { Found, usePages } from "../../parts/listing.js";
import { Dialog, Field, NotFound, textOf, Unread, WorkButton } from "../../parts/pieces.js";
import { Reading } from "../../parts/reading.js";
import { Ago } from "../../parts/time.js";
import { toast } from "../../parts/toasts.js";
import { count } from "../../parts/words.js";
import { call, get, isNowhere, path } from "../../server/api.js";
import { Setting } from "./frame.js";
import { EVENTS, WebhookForm } from "./webhook_form.js";

const BACK = "#/settings/webhooks";
/** Nobody tells when something was posted. */
const EVERY_MILLISECONDS = 2000;

/** @type {[number, string][]} in seconds */
const OVERLAPS = [
  [0, "At once"],
  [3600, "In an hour"],
  [86_400, "In a day"],
  [604_800, "In a week"],
];

/** @type {Record<Delivery["state"], [kind: string, sign: string, word: string]>} */
const STATES = {
  waiting: ["waits", "…", "Waits"],
  delivered: ["good", "✓", "Delivered"],
  failed: ["bad", "✕", "Given up"],
};

export function WebhookPage(/** @type {PageProperties} */ { id, ...page }) {
  const reading = useStore(useMade((signal) => new OneWebhook({ id, ...page, signal })));
  const [secret, show] = useState("");
  const { webhook } = reading;
  if (isNowhere(reading.error) && !webhook) return html`<${NotFound} what="webhook" back=${BACK} name="the webhooks" />`;
  if (!webhook) return html`<${Setting} me=${page.me} title="Webhook"><${Unread} reading=${reading} /><//>`;
  return html`<${Setting} me=${page.me} title=${webhook.description ?? "Webhook"} action=${html`<${Actions} ...${{ reading, webhook, show, me: page.me }} />`}>
    <p class="crumbs"><a href=${BACK}>‹ Webhooks</a></p>
    ${secret && html`<${Secret} key=${secret} title="The new secret" secret=${secret} done=${() => show("")} />`}
    <${About} webhook=${webhook} />
    <h2>Deliveries</h2>
    <${Deliveries} id=${id} ...${page} />
  <//>`;
}

/** @param {{reading: OneWebhook, webhook: Webhook, show: (secret: string) => void, me: Session}} properties of what can be done with it */
function Actions({ reading, webhook, show, me }) {
  const [doing, begin] = useState("");
  const pools = usePools(me);
  const close = () => begin("");
  const test = async () => {
    await call("POST", `${reading.address}/test`);
    toast("A test is on its way: see how it goes below.");
  };
  const remove = async () => {
    await call("DELETE", reading.address);
    location.hash = BACK;
  };
  return html`
    <${WorkButton} class="primary" work=${test}>Send test<//>
    <button type="button" onClick=${() => begin("change")}>Change</button>
    <button type="button" onClick=${() => begin("rotate")}>New secret</button>
    <button type="button" onClick=${() => begin("remove")}>Remove</button>
    ${doing === "change" && html`<${WebhookForm} webhook=${webhook} pools=${pools} submit=${reading.change} close=${close} />`}
    ${doing === "rotate" && html`<${Rotate} address=${reading.address} show=${show} close=${close} />`}
    ${doing === "remove" && html`<${Confirm} title="Remove the webhook?" word="Remove" work=${remove} close=${close}>
      <p>Its deliveries go with it, and what waits is not posted any more.</p>
    <//>`}
  `;
}

/** @param {{address: string, show: (secret: string) => void, close: () => void}} properties */
function Rotate({ address, show, close }) {
  const submit = async (/** @type {FormData} */ values) => {
    /** @type {Answer<CreatedWebhook>} */
    const { data } = await call("POST", `${address}/rotate`, { body: { overlap: Number(textOf(values, "overlap")) } });
    show(data.secret);
    close();
  };
  return html`<${Dialog} title="Give it a new secret" submit=${submit} close=${close}>
    <${Field} label="The one before goes"><select name="overlap">
      ${OVERLAPS.map(([seconds, words]) => html`<option value=${seconds} defaultSelected=${seconds === 86_400}>${words}</option>`)}
    </select><//>
    <p class="small">Until then both sign, so that the receiver takes what is posted while you change it there.</p>
    <div class="row"><button class="primary">Make it</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

function About(/** @type {{webhook: Webhook}} */ { webhook }) {
  const { url, events, pools, quiet_hours: quiet, created_by, created_at, dropped } = webhook;
  const facts = {
    Address: url,
    "Told when": events.map((event) => EVENTS[event] ?? event).join(", "),
    Machines: pools.map(({ name }) => name).join(", ") || "All",
    Quiet: quiet ? `${quiet.begin} to ${quiet.end}, ${quiet.time_zone}` : "Never",
    Made: html`<${Ago} time=${created_at} /> by <bdi>${created_by}</bdi>`,
    ...(dropped ? { Lost: `${count(dropped, "delivery", "deliveries")} were given up unsent, because too many waited` } : {}),
  };
  return html`<dl class="facts">${Object.entries(facts).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** @type {(id: string, read: () => Promise<void>) => Column<Delivery>[]} */
const columnsOf = (id, read) => [
  { key: "name", label: "What", cell: ({ event }) => html`<b>${event}</b>`, attributes: (delivery) => ({ title: delivery.id }) },
  {
    key: "state", label: "State",
    cell: ({ state }) => {
      const [kind, sign, word] = STATES[state] ?? ["none", "", state];
      return html`<span class="outcome" data-kind=${kind}><span aria-hidden="true">${sign}</span> ${word}</span>`;
    },
  },
  { key: "reason", label: "Answer", cell: ({ status, error }) => error ?? (status === null ? "–" : `HTTP ${status}`), attributes: ({ error }) => ({ title: error }) },
  { key: "attempts", label: "Tries", numeric: true, cell: ({ attempts }) => attempts },
  { key: "next", label: "Next try", cell: ({ next_attempt_at }) => html`<${Ago} time=${next_attempt_at} />` },
  { key: "since", label: "Made", cell: ({ created_at }) => html`<${Ago} time=${created_at} />` },
  {
    key: "actions", label: "Actions",
    cell: (delivery) => html`<${WorkButton} aria-label=${`Send ${delivery.event} again`} work=${async () => {
      await call("POST", path`v1/webhooks/${id}/deliveries/${delivery.id}/resend`);
      await read();
    }}>Send again<//>`,
  },
];

/** @param {{id: string} & Pick<PageProperties, "events" | "me">} page */
function Deliveries({ id, ...page }) {
  const address = path`v1/webhooks/${id}/deliveries`;
  /** @type {import("../../parts/listing.js").Pages<Delivery>} */
  const list = usePages(page, { address, kinds: ["webhook"], every: EVERY_MILLISECONDS });
  const columns = useMemo(() => columnsOf(id, list.read), []);
  return html`<${Found} name="admin deliveries" label="Deliveries" what="delivery" columns=${columns} list=${list} first=${html`<p class="small">Nothing was posted in the last seven days.</p>`} />`;
}

/** A webhook, and how it is changed. */
class OneWebhook extends Reading {
  webhook = /** @type {Webhook | null} */ (null);

  constructor(/** @type {Watched & {id: string}} */ { id, ...page }) {
    super(page);
    this.address = path`v1/webhooks/${id}`;
    page.events.on("audit", ({ detail }) => detail.target === id && this.read(), page.signal);
  }

  /** @override */ async load() {
    this.webhook = /** @type {Webhook} */ (await get(this.address, this.loading));
  }

  change = async (/** @type {object} */ body) => {
    await call("PATCH", this.address, { body });
    await this.read();
  };
}
