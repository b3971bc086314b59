/** Sessions: browsers that are signed in to the console, and ending that. */

import { giveAllBack } from "../../control/lease.js";
import { html, useMemo, useState } from "../../parts/elements.js";
import { Confirm } from "../../parts/forms.js";
import { Found, usePages } from "../../parts/listing.js";
import { Ago } from "../../parts/time.js";
import { call, path } from "../../server/api.js";
import { Setting } from "./frame.js";

/** @type {[RegExp, string][]} how each calls itself; those come first that call themselves others as well */
const BROWSERS = [[/Edg\w*\//, "Edge"], [/OPR\//, "Opera"], [/Firefox\//, "Firefox"], [/Chrome\//, "Chrome"], [/Version\/.*Safari\//, "Safari"]];
/** @type {[RegExp, string][]} */
const SYSTEMS = [[/Android/, "Android"], [/iPhone|iPad/, "iOS"], [/Windows/, "Windows"], [/Mac OS X/, "macOS"], [/CrOS/, "ChromeOS"], [/Linux/, "Linux"]];

/** @type {(text: string, known: [RegExp, string][]) => string | undefined} */
const nameIn = (text, known) => known.find(([pattern]) => pattern.test(text))?.[1];

/** @param {string} said what a browser calls itself; where that is unknown, all of it @returns {string} */
function browserOf(said) {
  const browser = nameIn(said, BROWSERS);
  const system = nameIn(said, SYSTEMS);
  return browser && system ? `${browser} on ${system}` : said;
}

/** @type {(ask: (session: ConsoleSession) => void) => Column<ConsoleSession>[]} */
const columnsOf = (ask) => [
  { key: "name", label: "Token", cell: ({ token_name, current }) => [html`<b dir="auto">${token_name}</b>`, current && html`<small>yours, here</small>`], attributes: ({ token_id }) => ({ title: token_id }) },
  { key: "browser", label: "Browser", cell: ({ user_agent }) => browserOf(user_agent ?? "It did not say"), attributes: ({ user_agent }) => ({ title: user_agent ?? "", dir: "auto" }) },
  { key: "since", label: "Signed in", cell: ({ created_at }) => html`<${Ago} time=${created_at} />` },
  { key: "used", label: "Last used", cell: ({ last_used_at }) => html`<${Ago} time=${last_used_at} />` },
  { key: "expires_at", label: "Ends", cell: ({ expires_at }) => html`<${Ago} time=${expires_at} />` },
  { key: "actions", label: "Actions", cell: (session) => html`<button type="button" aria-label=${`End the session of ${session.token_name}`} onClick=${() => ask(session)}>End</button>` },
];

export function SessionsPage(/** @type {PageProperties} */ page) {
  /** @type {import("../../parts/listing.js").Pages<ConsoleSession>} */
  const list = usePages(page, { address: "v1/sessions", kinds: ["session", "token"] });
  const [ended, ask] = useState(/** @type {ConsoleSession | null} */ (null));
  const columns = useMemo(() => columnsOf(ask), []);
  return html`<${Setting} me=${page.me} title="Sessions">
    <p>Browsers that are signed in to this console. To shut somebody out for good, revoke the token.</p>
    <${Found} name="admin sessions" label="Sessions" what="session" columns=${columns} list=${list} />
    ${ended && html`<${End} session=${ended} read=${list.read} close=${() => ask(null)} />`}
  <//>`;
}

/** @param {{session: ConsoleSession, read: () => Promise<void>, close: () => void}} properties */
function End({ session, read, close }) {
  const work = async () => {
    // As when one signs out: afterwards it would be nobody's to give.
    if (session.current) await giveAllBack();
    await call("DELETE", path`v1/sessions/${session.id}`);
    // Where it was one's own, this leads to the page that signs in.
    await read();
  };
  return html`<${Confirm} title="End the session?" word="End" work=${work} close=${close}>
    <p>${session.current
      ? "This is the session that you are in: you sign out."
      : html`The browser in which <bdi>${session.token_name}</bdi> is signed in is signed out within a second or two, and loses the machines that it has control of.`}</p>
    <p>The token stays good: with it one can sign in again.</p>
  <//>`;
}
