/** What can be done with the machines that are chosen: a bar at the lower edge while there are any. */

import { html, useState, useStore } from "../parts/elements.js";
import { WorkButton } from "../parts/pieces.js";
import { count } from "../parts/words.js";
import { Change, CHANGES } from "./change.js";

/** @param {{selection: import("./selection.js").Selection, list: import("./machine_list.js").MachineList, me: Session}} properties */
export function Bar({ selection, list, me }) {
  const { chosen } = useStore(selection);
  // Those that were chosen when it was begun, whatever becomes of the list meanwhile.
  const [doing, begin] = useState(/** @type {{change: ManyChange, machines: Map<string, string>} | null} */ (null));
  const isAllShown = list.items?.every(({ id }) => chosen.has(id));
  return html`
    ${chosen.size > 0 && html`<section class="bar-of-chosen" aria-label="Chosen machines">
      <b role="status">${count(chosen.size, "machine")} chosen</b>
      ${isAllShown && list.total > chosen.size &&
      html`<${WorkButton} class="quiet" work=${() => selection.all(list)}>Choose all ${count(list.total, "machine")} that fit<//>`}
      <div class="row">
        ${Object.entries(CHANGES).map(([name, change]) => (!change.scope || me.scopes.includes(change.scope)) &&
          html`<button key=${name} type="button" onClick=${() => begin({ change, machines: new Map(chosen) })}>${change.word}</button>`)}
        <button type="button" class="quiet" onClick=${selection.clear}>Choose none</button>
      </div>
    </section>`}
    ${doing && html`<${Change} ...${doing} close=${() => begin(null)} />`}
  `;
}
