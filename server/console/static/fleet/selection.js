/** Machines that are chosen, to do something with all of them. */

import { html, Store, useEffect, useState } from "../parts/elements.js";
import { listAll } from "../server/api.js";

export class Selection extends Store {
  /** @type {Map<string, string>} the names of those that are chosen, by their ids */
  chosen = new Map();

  /** @type {(machines: Pick<Machine, "id" | "name">[], isOn: boolean) => void} */
  turn(machines, isOn) {
    for (const { id, name } of machines) {
      if (isOn) this.chosen.set(id, name);
      else this.chosen.delete(id);
    }
    this.tellNow();
  }

  clear = () => {
    if (!this.chosen.size) return;
    this.chosen.clear();
    this.tellNow();
  };

  /** @param {import("./machine_list.js").MachineList} list of which all are chosen that fit, also those that nobody has read yet */
  all = async ({ filters, signal }) => {
    /** @type {Machine[]} */
    const found = await listAll("v1/machines", signal, filters);
    this.turn(found, true);
  };
}

/** @template Value @param {Store} store @param {() => Value} read a value of it: the part is drawn anew only where that is another */
function useValue(store, read) {
  const [value, set] = useState(read);
  useEffect(() => {
    const changed = () => set(read());
    store.addEventListener("change", changed);
    changed();
    return () => store.removeEventListener("change", changed);
  });
  return value;
}

/** @param {{selection: Selection, machine: Machine}} properties of the box by which one machine is chosen */
export function Tick({ selection, machine }) {
  const isOn = useValue(selection, () => selection.chosen.has(machine.id));
  const turn = (/** @type {{currentTarget: HTMLInputElement}} */ { currentTarget }) => selection.turn([machine], currentTarget.checked);
  return html`<input type="checkbox" class="tick" aria-label=${`Choose ${machine.name}`} checked=${isOn} onChange=${turn} />`;
}

/** @param {{selection: Selection, list: import("./machine_list.js").MachineList}} properties of the box by which all that are shown are chosen */
export function TickAll({ selection, list }) {
  const machines = list.items ?? [];
  const count = useValue(selection, () => machines.filter(({ id }) => selection.chosen.has(id)).length);
  const isAll = count > 0 && count === machines.length;
  const turn = () => selection.turn(machines, !isAll);
  return html`<input
    type="checkbox" class="tick" aria-label="Choose all that are shown"
    checked=${isAll} indeterminate=${count > 0 && !isAll} onChange=${turn}
  />`;
}
