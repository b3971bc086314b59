/** What a run needs to be told: a field for each parameter and each secret of its steps. */

import { html } from "../../parts/elements.js";
import { Field } from "../../parts/pieces.js";
import { membersOf } from "../steps.js";

const VALUES = "input_values";
const SECRETS = "sensitive_input_values";

/** @param {Step[]} steps @returns {Map<string, Step>} what is said of each parameter, by its name */
const parametersOf = (steps) => new Map(steps.flatMap(({ parameters }) => Object.entries(membersOf(parameters)).map(([name, said]) => [name, membersOf(said)])));

/** @param {Step[]} steps @returns {string[]} */
const secretsOf = (steps) => [...new Set(steps.flatMap(({ secret }) => (typeof secret === "string" ? [secret] : [])))];

/** @param {{steps: Step[]}} properties of a field for each value that these steps need, secrets among them */
export const ValueFields = ({ steps }) => html`
  ${[...parametersOf(steps)].map(([name, { type, example, description, max_length, control_characters }]) => {
    const has = { name: `${VALUES}.${name}`, maxlength: max_length, placeholder: example, title: description, dir: "auto", autocomplete: "off" };
    return html`<${Field} key=${name} label=${name}>
      ${control_characters ? html`<textarea ...${has}></textarea>` : html`<input ...${has} inputmode=${type === "text" ? null : "decimal"} />`}
    <//>`;
  })}
  <${SecretFields} names=${secretsOf(steps)} />`;

/** @param {{names: string[]}} properties of a field for each secret: the page keeps nothing of what stands in it */
export const SecretFields = ({ names }) => names.map((name) => html`<${Field} key=${name} label=${`${name} (secret)`}>
  <input type="password" name=${`${SECRETS}.${name}`} autocomplete="off" spellcheck="false" required />
<//>`);

/** @type {(values: FormData) => {input_values: Record<string, string>, sensitive_input_values: Record<string, string>}} each exactly as it was filled in */
export const valuesOf = (values) => ({ [VALUES]: filledIn(values, VALUES), [SECRETS]: filledIn(values, SECRETS) });

/** @type {(values: FormData, kind: string) => Record<string, string>} */
function filledIn(values, kind) {
  const own = [...values].filter(([name]) => name.startsWith(`${kind}.`));
  // Forms end a line with two characters, of which each would press Enter.
  return Object.fromEntries(own.map(([name, value]) => [name.slice(kind.length + 1), typeof value === "string" ? value.replaceAll("\r\n", "\n") : ""]));
}
