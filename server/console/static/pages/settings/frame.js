/** What the pages of the settings have in common: which there are for whom, and the way between them. */

import { place } from "../../parts/address.js";
import { html, useTitle } from "../../parts/elements.js";

/** @type {[string, string, Scope][]} their addresses, names, and the scopes without which there is nothing on them */
const SETTINGS = [
  ["/settings/machines", "Add machines", "pools:write"],
  ["/settings/pools", "Pools", "pools:write"],
  ["/settings/tokens", "Tokens", "tokens:write"],
  ["/settings/sessions", "Sessions", "tokens:write"],
  ["/settings/webhooks", "Webhooks", "webhooks:write"],
  ["/settings/organizations", "Organizations", "organizations:write"],
];

/** @type {(me: Session) => [string, string, Scope][]} those of which this token has something */
const settingsOf = ({ scopes }) => SETTINGS.filter(([, , scope]) => scopes.includes(scope));

/** @type {(me: Session) => string | undefined} the first of them for this token, if there is any */
export const firstSetting = (me) => settingsOf(me)[0]?.[0];

/** @param {{me: Session, title: string, action?: unknown, children: unknown}} properties of a page with its name, and what one begins there */
export function Setting({ me, title, action, children }) {
  useTitle(title);
  const { path } = place();
  return html`<section class="settings">
    <nav class="tabs" aria-label="Settings">
      ${settingsOf(me).map(([href, text]) => html`<a href="#${href}" aria-current=${path.startsWith(href) ? "page" : null}>${text}</a>`)}
    </nav>
    <div class="head"><h1 dir="auto">${title}</h1><span class="row">${action}</span></div>
    ${children}
  </section>`;
}
