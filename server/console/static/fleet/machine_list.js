/** The machines that fit what is asked for, in the server's order, and how they go on. */

import { Listing } from "../parts/listing.js";
import { get, query } from "../server/api.js";
import { counted } from "../pages/commands.js";

/** @type {(keyof Narrowed)[]} */
const FILTERS = ["search", "state", "pool", "tag", "outdated"];
const PART = 200;
const MOST = 1000;
const NEWS_MILLISECONDS = 500;
const COUNTS_MILLISECONDS = 60_000;
/** So much of the time goes by between two readings for news: many rows take longer. */
const REST = 10;

/** @augments {Listing<Machine>} */
export class MachineList extends Listing {
  /** @type {Pick<MachinePart, "counts" | "tags" | "pools"> | null} what was counted of all that fit */
  counted = null;
  /** How many milliseconds the last reading took. */
  #took = 0;

  constructor(/** @type {Watched & {asked: Asked}} */ page) {
    super(page);
    const { events, signal } = page;
    events.on("machine", ({ detail }) => this.#hear(detail.id, detail), signal);
    events.on("machine_removed", ({ detail: { id } }) => this.#hear(id, null), signal);
    events.on("command", ({ detail }) => this.#count(detail), signal);
  }

  /** What narrows it, as the server takes it. */
  get filters() {
    const all = this.parameters;
    return Object.fromEntries(FILTERS.map((name) => /** @type {const} */ ([name, all[name] ?? ""])));
  }

  get isFiltered() {
    return Object.values(this.filters).some(Boolean);
  }

  /** @override */ async find(/** @type {Machine[] | null} */ known) {
    const began = performance.now();
    /** @type {Machine[]} */
    const shown = this.items ?? [];
    const before = new Map(shown.map((machine) => [machine.id, machine]));
    const found = new Map(known?.map((machine) => [machine.id, machine]));
    for (let skip = found.size; ; ) {
      const limit = Math.min(Math.max(PART, this.far - skip), MOST);
      const address = query("v1/machines", { ...this.filters, sort: this.asked["sort"] ?? "", counts: "true", skip, limit });
      const { items, total, ...counts } = /** @type {MachinePart} */ (await get(address, this.loading));
      this.counted = counts;
      // A row whose machine is as it was is not drawn anew.
      for (const machine of items) found.set(machine.id, same(machine, before.get(machine.id)));
      skip += items.length;
      const isWhole = skip >= total || !items.length;
      // Read again, it is as far.
      if (!isWhole && skip < this.far) continue;
      this.#took = performance.now() - began;
      return { items: [...found.values()], total, isWhole, far: skip };
    }
  }

  /** Show at once how a machine is now, and soon where it belongs. */
  #hear(/** @type {string} */ id, /** @type {Machine | null} */ machine) {
    this.hear(id, () => {
      /** @type {Machine[]} */
      const items = this.items ?? [];
      if (!items.some((each) => each.id === id)) return;
      const others = () => items.filter((each) => each.id !== id);
      Object.assign(this, { items: machine ? items.map((each) => (each.id === id ? machine : each)) : others() });
    });
    this.readIn(Math.max(NEWS_MILLISECONDS, REST * this.#took));
  }

  #count(/** @type {CommandEvent} */ command) {
    /** @type {Machine[]} */
    const items = this.items ?? [];
    if (!items.some(({ id }) => id === command.machine_id)) return;
    Object.assign(this, { items: items.map((each) => (each.id === command.machine_id ? counted(each, command) : each)) });
    this.tell();
    // What was counted here and on the server at once is put right from time to time.
    this.readIn(COUNTS_MILLISECONDS);
  }
}

/** @type {(machine: Machine, before: Machine | undefined) => Machine} the one before where nothing of it is another */
const same = (machine, before) => (before && JSON.stringify(before) === JSON.stringify(machine) ? before : machine);
