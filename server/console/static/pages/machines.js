/** All machines, as a table or as pictures: narrowed and sorted by the server, and changed many at once. */

import { Bar } from "../fleet/bar.js";
import { columnsFor } from "../fleet/columns.js";
import { MachineList } from "../fleet/machine_list.js";
import { Narrowing } from "../fleet/narrowing.js";
import { NotifyButton } from "../fleet/notify_button.js";
import { Selection, TickAll } from "../fleet/selection.js";
import { Thumbnails } from "../fleet/thumbnails.js";
import { useChosen, useSettled } from "../parts/address.js";
import { html, useEffect, useMade, useMemo, useTitle, valueTo } from "../parts/elements.js";
import { Found, useListing } from "../parts/listing.js";
import { CommandLine, EmptyState, Field, JoinCommand, Toggle } from "../parts/pieces.js";
import { count, number, stateOf } from "../parts/words.js";

const ADD = "#/settings/machines";
const LONGEST = 1000;
/** @type {Narrowed} */
const EVERYTHING = { search: "", state: "", pool: "", tag: "", outdated: "" };
const USUAL = { ...EVERYTHING, sort: "state", view: "" };

export function MachinesPage(/** @type {PageProperties} */ page) {
  useTitle("Machines");
  const { me } = page;
  const [chosen, choose] = useChosen("/machines", USUAL);
  const asked = useSettled(chosen);
  const list = useListing((signal) => new MachineList({ ...page, asked, signal }), asked);
  const selection = useSelection(page, list);
  const columns = useMemo(() => columnsFor(selection, selection && html`<${TickAll} selection=${selection} list=${list} />`), [selection, list.items]);
  const mayAdd = me.scopes.includes("pools:write");
  const { isFiltered } = list;
  const clear = () => choose(list.error ? USUAL : EVERYTHING);
  const isPictures = chosen.view === "pictures";
  if (list.items?.length === 0 && !isFiltered) return html`<section class="fleet"><h1>Machines</h1><${FirstMachine} mayAdd=${mayAdd} /></section>`;
  const grid = (/** @type {Machine[]} */ machines) => html`<${Thumbnails} ...${{ machines, selection, mayLook: me.scopes.includes("screen:read") }} />`;
  return html`<section class="fleet">
    <div class="head">
      <h1>Machines</h1>
      <div class="row">
        <${NotifyButton} />
        <${Toggle} isOn=${isPictures} click=${() => choose({ view: isPictures ? "" : "pictures" })}>Pictures<//>
        <${Field} label="Filter" inline><input
          type="search" placeholder="Name, id, tag, reason…" maxlength=${LONGEST} dir="auto" value=${chosen.search} onInput=${valueTo((search) => choose({ search }))}
        /><//>
        ${mayAdd && html`<a class="add" href=${ADD}>Add machines</a>`}
      </div>
    </div>
    ${list.counted && html`<${Narrowing} counted=${list.counted} chosen=${chosen} choose=${choose} />`}
    <${Found}
      name="machines" label="Machines" what="machine" list=${list} columns=${columns} row=${rowOf}
      order=${chosen.sort} sort=${(/** @type {string} */ order) => choose({ sort: order })}
      isFiltered=${isFiltered} clear=${clear} draw=${isPictures && grid}
    />
    <p class="small" role="status">${list.items && toldOf(list)}</p>
    ${selection && html`<${Bar} selection=${selection} list=${list} me=${me} />`}
  </section>`;
}

const rowOf = (/** @type {Machine} */ machine) => ({ "data-state": stateOf(machine) });

/** @param {MachineList} list how many there are of how many */
function toldOf({ total, counted }) {
  const { in_trouble = 0, fine = 0, not_set_up = 0 } = counted?.counts ?? {};
  const all = in_trouble + fine + not_set_up;
  return total < all ? `${number(total)} of ${count(all, "machine")}` : count(total, "machine");
}

/** @type {(page: PageProperties, list: MachineList) => Selection | null} nothing for whom may not change machines; empty again where others are looked at */
function useSelection({ events, me }, list) {
  const selection = useMade((signal) => {
    const made = new Selection();
    events.on("machine_removed", ({ detail: { id } }) => made.turn([{ id, name: "" }], false), signal);
    return made;
  });
  useEffect(selection.clear, [JSON.stringify(list.filters)]);
  return me.scopes.includes("machines:write") ? selection : null;
}

/** What to do where there is no machine yet. */
const FirstMachine = (/** @type {{mayAdd: boolean}} */ { mayAdd }) => html`<div class="first-machine">
  <${EmptyState} title="No machine yet">
    <p>A machine is a desktop that takes input from here.</p>
    ${mayAdd && html`<p><a href=${ADD}>Add machines with a code</a></p>`}
    <p>${mayAdd ? "Or add" : "Add"} one on the server; the command prints its token:</p>
    <${CommandLine} text="farhand machine add desk-1" />
    <p>Then, on that desktop, with the token:</p>
    <${JoinCommand} />
    <p>It appears here by itself, within a second.</p>
  <//>
</div>`;
