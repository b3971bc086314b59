/** What the screens of many machines show, in small: of those in sight alone, and seldom. */

import { html, useEffect, useMade, useRef, useStore } from "../parts/elements.js";
import { StateBadge } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { sentence, path } from "../server/api.js";
import { stateOf, whyOf } from "../parts/words.js";
import { Glances } from "./glances.js";
import { Labels } from "./columns.js";
import { Tick } from "./selection.js";

/** @param {{machines: Machine[], selection: import("./selection.js").Selection | null, mayLook: boolean}} properties */
export function Thumbnails({ machines, selection, mayLook }) {
  const glances = useMade((signal) => new Glances({ signal, mayLook }));
  return html`<ul class="thumbnails" aria-label="Machines">
    ${machines.map((machine) => html`<${Thumbnail} key=${machine.id} ...${{ machine, selection, glances }} />`)}
  </ul>`;
}

/** @param {{machine: Machine, selection: import("./selection.js").Selection | null, glances: Glances}} properties */
function Thumbnail({ machine, selection, glances }) {
  const { id, name, since } = machine;
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const glance = useStore(glances.of(id));
  useEffect(() => {
    if (element.current && canvas.current) glances.watch(element.current, canvas.current, glance);
    return () => glances.forget(glance);
  }, [glance]);
  useEffect(() => glances.update(glance, machine), [glance, machine]);
  const words = sentence(whyOf(machine));
  return html`<li ref=${element} data-state=${stateOf(machine)}>
    <div class="glance"><canvas ref=${canvas} width="4" height="3" hidden=${!glance.isDrawn} aria-hidden="true"></canvas>
      ${!glance.isDrawn && html`<p class="small">${glance.words}</p>`}</div>
    <div class="row">
      ${selection && html`<${Tick} selection=${selection} machine=${machine} />`}
      <a href="#${path`/machines/${id}`}" dir="auto">${name}</a>
      <${StateBadge} state=${stateOf(machine)} />
    </div>
    ${words && html`<p class="small" title=${words}>${words} <${Ago} time=${since} /></p>`}
    <${Labels} ...${machine} />
  </li>`;
}
