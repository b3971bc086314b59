/** What programs ask people, over all machines: what is open, the oldest first, as it comes and goes. */

import { Reading } from "../parts/reading.js";
import { call, listAll, path, Problem } from "../server/api.js";

export class HelpQueue extends Reading {
  open = /** @type {HelpRequest[]} */ ([]);

  constructor(/** @type {Watched} */ page) {
    super(page);
    this.me = page.me;
    const { events, signal } = page;
    events.on("help_requested", ({ detail }) => this.hear(detail.id, () => this.#set([...this.#others(detail), detail])), signal);
    for (const type of /** @type {const} */ (["help_answered", "help_ended"]))
      events.on(type, ({ detail }) => this.hear(detail.id, () => this.#set(this.#others(detail))), signal);
  }

  /** @override */ async load() {
    if (!this.me.scopes.includes("machines:read")) throw new Problem(403, "Your token lacks the scope machines:read.");
    this.#set(await listAll("v1/help", this.loading, { state: "open" }));
  }

  /** @type {(machineId: string) => HelpRequest[]} those about one machine */
  about(machineId) {
    return this.open.filter(({ machine_id }) => machine_id === machineId);
  }

  /** @type {(asked: HelpRequest, answer: string, comment: string) => Promise<void>} Throws what is to be said to the person. */
  async answer(asked, answer, comment) {
    await call("POST", path`/v1/help/${asked.id}/answer`, { body: { answer, comment: comment || null } });
    this.hear(asked.id, () => this.#set(this.#others(asked)));
  }

  /** @type {(asked: HelpRequest) => HelpRequest[]} */
  #others = ({ id }) => this.open.filter((each) => each.id !== id);

  /** @param {HelpRequest[]} open */
  #set(open) {
    this.open = open.toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));
  }
}
