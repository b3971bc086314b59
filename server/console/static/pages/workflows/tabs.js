/** What the pages of trajectories and of their workflows have in common. */

import { place } from "../../parts/address.js";
import { html } from "../../parts/elements.js";

/** @type {[string, string][]} */
const TABS = [
  ["/trajectories", "Trajectories"],
  ["/trajectories/workflows", "Workflows"],
];

export const TrajectoryTabs = () => html`<nav class="tabs" aria-label="Trajectories and workflows">
  ${TABS.map(([href, text]) => html`<a href="#${href}" aria-current=${place().path === href ? "page" : null}>${text}</a>`)}
</nav>`;
