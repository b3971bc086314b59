/** One code: how it is used, and the hosts that came with it, as they come. */

import { html, useMade, useMemo, useState, useStore } from "../../parts/elements.js";
import { Confirm } from "../../parts/forms.js";
import { Found, usePages } from "../../parts/listing.js";
import { CommandLine, NotFound, Unread, WorkButton } from "../../parts/pieces.js";
import { Reading } from "../../parts/reading.js";
import { Ago } from "../../parts/time.js";
import { toast } from "../../parts/toasts.js";
import { repeat } from "../../parts/waiting.js";
import { call, get, HOME, isNowhere, path, statusOf, wordsOf } from "../../server/api.js";
import { Setting } from "./frame.js";

const BACK = "#/settings/machines";
/** Somebody stands before a desktop and waits for it to be here. */
const EVERY_MILLISECONDS = 2000;

/** @type {Record<Join["state"], [kind: string, sign: string, word: string]>} */
const STATES = {
  waiting: ["waits", "…", "Waits"],
  joined: ["good", "✓", "Joined"],
  refused: ["bad", "✕", "Refused"],
};

/** @param {PageProperties & {made?: CreatedInvitation, leave?: () => void}} properties: with its code where it was made just now, and the way back from there */
export function OneInvitation({ id, made, leave, ...page }) {
  const reading = useStore(useMade((signal) => new Using({ id, made, ...page, signal })));
  const [isAsked, ask] = useState(false);
  const { invitation } = reading;
  if (isNowhere(reading.error) && !invitation) return html`<${NotFound} what="code" back=${BACK} name="the codes" />`;
  if (!invitation) return html`<${Setting} me=${page.me} title="Add machines"><${Unread} reading=${reading} /><//>`;
  const revoke = async () => {
    await call("DELETE", path`v1/invitations/${id}`);
    toast("Nobody else joins with that code.");
    if (leave) leave();
    else location.hash = BACK;
  };
  return html`<${Setting} me=${page.me} title=${invitation.name ?? "Add machines"} action=${html`<button type="button" onClick=${() => ask(true)}>Revoke</button>`}>
    <p class="crumbs">${leave ? html`<button type="button" onClick=${leave}>Make another code</button>` : html`<a href=${BACK}>‹ Add machines</a>`}</p>
    ${made && html`<${Code} code=${made.code} />`}
    <${About} invitation=${invitation} />
    <h2>Hosts that came with it</h2>
    <${Joins} id=${id} ...${page} />
    ${isAsked && html`<${Confirm} title="Revoke the code?" word="Revoke" work=${revoke} close=${() => ask(false)}>
      <p>Nobody else joins with it. Machines that have joined stay.</p>
    <//>`}
  <//>`;
}

/** @param {{code: string}} properties of what only this answer of the server has */
function Code({ code }) {
  const server = HOME.href.replace(/\/$/, "");
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(HOME.hostname);
  return html`<section class="secret" aria-label="The code">
    <h2>The code</h2>
    <p>On each desktop, with the machine client installed:</p>
    <${CommandLine} text=${`farhand-machine join --server ${server} --code ${code}`} />
    <p><code>install</code> in the place of <code>join</code> keeps it running. <b>Copy it now: the code is not shown again.</b></p>
    ${isHere && html`<p>The address is that by which your browser reaches the server, from the server's own computer. On another one, put the server's name in its place.</p>`}
  </section>`;
}

function About(/** @type {{invitation: Invitation}} */ { invitation }) {
  const { machine_id, used, uses, expires_at, approval, tags, pools, created_by } = invitation;
  const facts = {
    For: machine_id ?? "New machines",
    Used: `${used} of ${uses}`,
    Ends: html`<${Ago} time=${expires_at} />`,
    Approval: approval ? "Each host waits until it is let in" : "None",
    Pools: pools.map(({ name }) => name).join(", ") || "–",
    Tags: tags.join(" ") || "–",
    "Made by": created_by,
  };
  return html`<dl class="facts">${Object.entries(facts).map(([name, value]) => html`<dt>${name}</dt><dd dir="auto">${value}</dd>`)}</dl>`;
}

/** @type {(id: string, read: () => Promise<void>) => Column<Join>[]} */
const columnsOf = (id, read) => [
  { key: "name", label: "Host", cell: ({ host }) => host, attributes: () => ({ dir: "auto" }) },
  {
    key: "state", label: "State",
    cell: ({ state }) => {
      const [kind, sign, word] = STATES[state] ?? ["none", "", state];
      return html`<span class="outcome" data-kind=${kind}><span aria-hidden="true">${sign}</span> ${word}</span>`;
    },
  },
  { key: "machine", label: "Machine", cell: ({ machine_id }) => machine_id && html`<a href="#${path`/machines/${machine_id}`}">${machine_id}</a>` },
  { key: "address", label: "Came from", cell: ({ address }) => address },
  { key: "since", label: "When", cell: ({ created_at }) => html`<${Ago} time=${created_at} />` },
  { key: "actions", label: "Actions", cell: (join) => join.state === "waiting" && html`<${Decision} invitation=${id} join=${join} read=${read} />` },
];

/** @param {{invitation: string, join: Join, read: () => Promise<void>}} properties of whether a host is let in */
function Decision({ invitation, join, read }) {
  const decide = async (/** @type {boolean} */ approved) => {
    await call("PATCH", path`v1/invitations/${invitation}/joins/${join.id}`, { body: { approved } });
    await read();
  };
  return html`<span class="row">
    <${WorkButton} class="primary" aria-label=${`Let ${join.host} in`} work=${() => decide(true)}>Let in<//>
    <${WorkButton} aria-label=${`Refuse ${join.host}`} work=${() => decide(false)}>Refuse<//>
  </span>`;
}

/** @param {{id: string} & Pick<PageProperties, "events" | "me">} page */
function Joins({ id, ...page }) {
  const address = path`v1/invitations/${id}/joins`;
  /** @type {import("../../parts/listing.js").Pages<Join>} */
  const list = usePages(page, { address, kinds: ["machine", "join"], every: EVERY_MILLISECONDS });
  const columns = useMemo(() => columnsOf(id, list.read), []);
  if (statusOf(list.error) === 403) return html`<p class="small">${wordsOf(list.error)}</p>`;
  return html`<${Found} name="admin joins" label="Hosts that came with it" what="host" columns=${columns} list=${list} first=${html`<p class="small" role="status">None yet. It appears here by itself.</p>`} />`;
}

/** An invitation as it is used up. */
class Using extends Reading {
  /** @param {Watched & {id: string, made: CreatedInvitation | undefined}} page: what was made is there, whoever may read it again */
  constructor({ id, made, ...page }) {
    super(page);
    this.invitation = /** @type {Invitation | null} */ (made ?? null);
    this.address = path`v1/invitations/${id}`;
    repeat(() => this.keepUp(), EVERY_MILLISECONDS, page.signal);
  }

  /** @override */ async load() {
    this.invitation = /** @type {Invitation} */ (await get(this.address, this.loading));
  }
}
