/** What narrows the list of machines: how they are in short, their states, pools and tags, each with a count. */

import { Toggle } from "../parts/pieces.js";
import { html, useState } from "../parts/elements.js";
import { Chips, valuesOf } from "../parts/filters.js";
import { STATES } from "../parts/words.js";

/** So many pools, and tags, are in sight until one asks for more. */
const FEW = 8;

/** @type {[keyof StateCounts, string][]} */
const SUMMARY = [["in_trouble", "In trouble"], ["fine", "Fine"], ["not_set_up", "Not set up yet"]];
/** @type {(keyof StateCounts)[]} */
const SHOWN_STATES = ["no_input", "paused", "online"];

/** @param {{counted: Pick<MachinePart, "counts" | "tags" | "pools">, chosen: Narrowed, choose: (change: Partial<Narrowed>) => void}} properties */
export function Narrowing({ counted: { counts, pools, tags }, chosen, choose }) {
  const { in_trouble, fine, not_set_up, outdated } = counts;
  const summary = SUMMARY.map(([value, word]) => ({ value, word, count: counts[value], isState: true }));
  const all = { value: "", word: "All", count: in_trouble + fine + not_set_up };
  const states = SHOWN_STATES.map((value) => ({ value, word: STATES[value]?.word ?? value, count: counts[value], isState: true }));
  // What the address says is shown, whatever it is.
  const said = valuesOf(chosen.state).filter((value) => ![...summary, ...states].some((chip) => chip.value === value));
  /** @type {Record<string, number>} */
  const every = { ...counts };
  const others = said.map((value) => ({ value, word: STATES[value]?.word ?? value, count: every[value] ?? 0, isState: true }));
  const chooseState = (/** @type {string} */ state) => choose({ state });
  return html`<div class="narrowing">
    <${Chips} label="How they are" chips=${[all, ...summary]} chosen=${chosen.state} choose=${chooseState} />
    <${Chips} label="States" chips=${[...states, ...others]} chosen=${chosen.state} choose=${chooseState} />
    ${(outdated > 0 || chosen.outdated) && html`<${Chips}
      label="Versions" chips=${[{ value: "true", word: "Outdated", count: outdated }]}
      chosen=${chosen.outdated} choose=${(/** @type {string} */ value) => choose({ outdated: value })}
    />`}
    <${Several}
      label="Pools" chips=${pools.map(({ id, name, machines }) => ({ value: nameIn(chosen.pool, id) ?? name, word: name, count: machines }))}
      chosen=${chosen.pool} choose=${(/** @type {string} */ pool) => choose({ pool })}
    />
    <${Several}
      label="Tags" chips=${tags.map(({ tag, machines }) => ({ value: tag, word: tag, count: machines }))}
      chosen=${chosen.tag} choose=${(/** @type {string} */ tag) => choose({ tag })}
    />
  </div>`;
}

/** @type {(chosen: string, id: string) => string | undefined} an address may have a pool's id in place of its name */
const nameIn = (chosen, id) => valuesOf(chosen).find((value) => value === id);

/** @param {Omit<ChipsProperties, "several">} properties of which several may be chosen: one of them has to fit */
function Several({ chips, label, chosen, choose }) {
  const [isOpen, open] = useState(false);
  if (!chips.length) return null;
  const values = valuesOf(chosen);
  const shown = isOpen ? chips : chips.filter(({ value }, at) => at < FEW || values.includes(value));
  const more = chips.length - shown.length;
  return html`<div class="several">
    <b class="small">${label}</b>
    <${Chips} several ...${{ label, chips: shown, chosen, choose }} />
    ${(more > 0 || isOpen) && html`<${Toggle} opens isOn=${isOpen} class="quiet" click=${() => open(!isOpen)}>${isOpen ? "Fewer" : `${more} more`}<//>`}
  </div>`;
}
