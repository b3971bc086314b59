/** What can be done with the machines that are chosen: a bar at the lower edge while there are any. */

import { html, useState, useStore } from "../parts/elements.js";
import { WorkButton } from "../parts/pieces.js";
import { count } from "../parts/words.js";
import { Change, CHANGES } from "./change.js";

/** @param {{selection: import("./selection.js").Selection, list: import("./machine_list.js").MachineList, me: Session}} properties */
export function Bar({ selection, list, me }) {
  const { chosen } = useStore(selection);
  const [doing, begin] = useState("");
  const change = CHANGES[doing];
  if (!chosen.size) return null;
  const shown = list.items?.every(({ id }) => chosen.has(id));
  const more = shown && list.total > chosen.size;
  return html`<section class="bar-of-chosen" aria-label="Chosen machines">
    <b role="status">${count(chosen.size, "machine")} chosen</b>
    ${more && html`<${WorkButton} class="quiet" work=${() => selection.all(list)}>Choose all ${count(list.total, "machine")} that fit<//>`}
    <div class="row">
      ${Object.entries(CHANGES).map(([name, { word, scope }]) => (!scope || me.scopes.includes(scope)) &&
        html`<button key=${name} type="button" onClick=${() => begin(name)}>${word}</button>`)}
      <button type="button" class="quiet" onClick=${selection.clear}>Choose none</button>
    </div>
    ${change && html`<${Change} key=${doing} change=${change} machines=${new Map(chosen)} close=${() => begin("")} />`}
  </section>`;
}
