/** What forms of several pages ask for, a question before something ends, and a secret that is shown once. */

import { listAll } from "../server/api.js";
import { html, useId, useMade, useState } from "./elements.js";
import { CommandLine, Dialog, Field, textOf, useWrong } from "./pieces.js";
import { momentIn } from "./words.js";

const HOUR = 3600;
const DAY = 86_400;

/** @type {[number, string][]} in seconds */
export const SHORT_SPANS = [
  [HOUR, "An hour"],
  [4 * HOUR, "Four hours"],
  [DAY, "A day"],
  [7 * DAY, "A week"],
  // The server's longest is 30 days, counted from when it is asked.
  [30 * DAY - 60, "30 days"],
];

/** @type {[number, string][]} in seconds */
export const LONG_SPANS = [
  [0, "Never"],
  [DAY, "In a day"],
  [7 * DAY, "In a week"],
  [30 * DAY, "In 30 days"],
  [90 * DAY, "In 90 days"],
  [365 * DAY, "In a year"],
];

/** @param {{label: string, spans: [number, string][]}} properties of when something ends, which `endOf` reads */
export const EndField = ({ label, spans }) => html`<${Field} label=${label}>
  <select name="expires_at">${spans.map(([seconds, words]) => html`<option value=${seconds}>${words}</option>`)}</select>
<//>`;

/** @param {FormData} values @returns when it ends, as the server takes it; null is never */
export function endOf(values) {
  const seconds = Number(values.get("expires_at"));
  return seconds ? momentIn(seconds) : null;
}

/** @param {ChoicesProperties} properties of boxes of which any number may be chosen, with their names; what was wrong stands below */
export function Choices({ name, legend, options, chosen = [] }) {
  const id = useId();
  const wrong = useWrong(name);
  const said = wrong ? { "aria-invalid": "true", "aria-describedby": id } : {};
  return html`<fieldset class="choices">
    <legend>${legend}</legend>
    <div class="options">${options.map(([value, words], at) => html`<label key=${value}>
      <input type="checkbox" name=${name} value=${value} defaultChecked=${chosen.includes(value)} ...${at ? {} : said} /><span dir="auto">${words}</span>
    </label>`)}</div>
    ${wrong && html`<p class="wrong" id=${id}>${wrong}</p>`}
  </fieldset>`;
}

/** @type {(values: FormData, name: string) => string[]} which of the choices were made */
export const chosenOf = (values, name) => values.getAll(name).filter((value) => typeof value === "string");

/** @type {(values: FormData) => string[]} the words of a field called so, with spaces or commas between */
export const tagsOf = (values) => textOf(values, "tags").split(/[\s,]+/).filter(Boolean);

/** @type {(signal?: AbortSignal | null) => Promise<Pool[]>} */
export const readPools = (signal = null) => listAll("v1/pools", signal);

/** @type {(me: Session) => Pool[] | null} all pools that this token sees; none until they are read, null where it may not see any */
export function usePools({ scopes }) {
  const [pools, learn] = useState(/** @type {Pool[] | null} */ (scopes.includes("machines:read") ? [] : null));
  useMade((signal) => {
    if (!pools) return;
    // The page says itself what is wrong, if nothing can be read; without pools the form is still good.
    readPools(signal).then(learn, () => null);
  });
  return pools;
}

/** @param {{legend: string, pools: Pool[] | null, chosen?: string[]}} properties of a choice of pools; nothing where there are none */
export const PoolChoices = ({ legend, pools, chosen }) =>
  pools?.length ? html`<${Choices} name="pool_ids" legend=${legend} options=${pools.map(({ id, name }) => [id, name])} chosen=${chosen} />` : null;

/** @param {ConfirmProperties} properties of a question before something is done that cannot be taken back */
export const Confirm = ({ title, word, work, close, children }) => html`<${Dialog} title=${title} submit=${async () => {
  await work();
  close();
}} close=${close}>
  ${children}
  <div class="row"><button class="primary">${word}</button><button type="button" onClick=${close}>Cancel</button></div>
<//>`;

/** @param {{title: string, secret: string, done: () => void, children?: unknown}} properties of what only this answer of the server has */
export const Secret = ({ title, secret, done, children }) => html`<section class="secret" aria-label=${title}>
  <h2>${title}</h2>
  ${children}
  <p><b>Copy it now: it is not shown again.</b></p>
  <${CommandLine} text=${secret} />
  <button type="button" onClick=${done}>I have it</button>
</section>`;
