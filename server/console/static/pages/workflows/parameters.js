/** The parameters of a workflow, each with what a value of it may be. */

import { html, useId, useState } from "../../parts/elements.js";
import { Field, textOf, useWrong } from "../../parts/pieces.js";

const MOST = 50;
const LONGEST_NAME = 64;
const LONGEST_TEXT = 10_000;
const LONGEST_DESCRIPTION = 1000;
const USUAL_LENGTH = 255;
const NAME = "input_schema";

/** @type {[string, string][]} */
const TYPES = [
  ["text", "Text"],
  ["integer", "Integer"],
  ["number", "Number"],
];

/** @typedef {{key: number, name: string, said: Partial<Parameter>}} Row */

/** @type {(schema: Workflow["input_schema"]) => Row[]} */
const rowsOf = (schema) => Object.entries(schema ?? {}).map(([name, said], key) => ({ key, name, said: /** @type {Parameter} */ (said) }));

/** @param {{schema: Workflow["input_schema"]}} properties of fields for each parameter, and what adds and removes them */
export function ParameterFields({ schema }) {
  const [rows, set] = useState(() => rowsOf(schema));
  const rename = (/** @type {number} */ key, /** @type {string} */ name) => set(rows.map((row) => (row.key === key ? { ...row, name } : row)));
  const add = () => set([...rows, { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, name: "", said: {} }]);
  return html`
    <p class="small">A run brings a value for each. It has to fit this, and what the approved steps say of a parameter of its name.</p>
    ${rows.map(({ key, name, said }) => html`<${OneParameter}
      key=${key} name=${name} said=${said} rename=${(/** @type {string} */ to) => rename(key, to)} remove=${() => set(rows.filter((row) => row.key !== key))}
    />`)}
    <button type="button" disabled=${rows.length >= MOST} onClick=${add}>Add a parameter</button>`;
}

/** @param {{name: string, said: Partial<Parameter>, rename: (to: string) => void, remove: () => void}} properties */
function OneParameter({ name, said, rename, remove }) {
  // As the server calls it: what it says of it stands below.
  const own = (/** @type {keyof Parameter | "[key]"} */ member) => `${NAME}.${name}.${member}`;
  const id = useId();
  // The server tells a wrong example of the whole parameter.
  const wrong = useWrong(`${NAME}.${name}`);
  const example = wrong ? { "aria-invalid": "true", "aria-describedby": id } : {};
  const type = (/** @type {{currentTarget: HTMLInputElement}} */ { currentTarget }) => rename(currentTarget.value);
  return html`<fieldset class="parameter" name=${`${NAME}.${name}`}>
    <legend dir="auto">${name ? `Parameter ${name}` : "A new parameter"}</legend>
    <input type="hidden" name=${NAME} value=${name} />
    <${Field} label="Name"><input name=${own("[key]")} required maxlength=${LONGEST_NAME} pattern="[A-Za-z_][A-Za-z0-9_]*" title="Letters, digits and underscores, and no digit at first" autocomplete="off" autocapitalize="off" placeholder="order" value=${name} onInput=${type} /><//>
    <${Field} label="Type"><select name=${own("type")}>${TYPES.map(([value, words]) => html`<option value=${value} selected=${value === (said.type ?? "text")}>${words}</option>`)}</select><//>
    <${Field} label="Example (optional)"><input name=${own("example")} ...${example} maxlength=${LONGEST_TEXT} autocomplete="off" dir="auto" defaultValue=${said.example ?? ""} /><//>
    ${wrong && html`<p class="wrong" id=${id}>${wrong}</p>`}
    <${Field} label="Description (optional)"><input name=${own("description")} maxlength=${LONGEST_DESCRIPTION} autocomplete="off" dir="auto" defaultValue=${said.description ?? ""} /><//>
    <${Field} label="Characters at most"><input name=${own("max_length")} type="number" required min="1" max=${LONGEST_TEXT} defaultValue=${said.max_length ?? USUAL_LENGTH} /><//>
    <label><input type="checkbox" name=${own("control_characters")} defaultChecked=${said.control_characters ?? false} /> Tabs and ends of lines, which press Tab and Enter</label>
    <button type="button" class="quiet" onClick=${remove}>Remove this parameter</button>
  </fieldset>`;
}

/** @type {(values: FormData) => Record<string, Parameter> | null} what was filled in; throws in words for people where two are called alike */
export function parametersIn(values) {
  const names = values.getAll(NAME).map(String);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice) throw new Error(`Two parameters are called ${twice}: each needs a name of its own.`);
  const all = names.map((name) => /** @type {[string, Parameter]} */ ([name, parameterIn(values, `${NAME}.${name}.`)]));
  return all.length ? Object.fromEntries(all) : null;
}

/** @type {(values: FormData, prefix: string) => Parameter} */
function parameterIn(values, prefix) {
  const example = values.get(`${prefix}example`);
  return {
    type: /** @type {Parameter["type"]} */ (textOf(values, `${prefix}type`)),
    // With its spaces, which are part of it.
    example: typeof example === "string" && example ? example : null,
    description: textOf(values, `${prefix}description`) || null,
    max_length: Number(textOf(values, `${prefix}max_length`)),
    control_characters: values.has(`${prefix}control_characters`),
  };
}
