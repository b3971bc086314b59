/** Asking whoever has control of a machine to give it back, and hearing that somebody asks. */

import { call, path, wordsOf } from "../server/api.js";
import { h, setText } from "../parts/dom.js";

/** A button beside the sign of who has control, and a line of words. */
export class Asking {
  button = h("button", { type: "button", hidden: true, click: () => this.#ask() }, "Ask to hand over");
  told = h("p", { class: "asking", role: "status" });
  /** Of which holder this page has asked, and when that one took control. */
  #asked = "";
  #inControl = false;

  /**
   * @param {string} machineId
   * @param {Scope[]} scopes
   * @param {AbortSignal} signal
   */
  constructor(machineId, scopes, signal) {
    this.machineId = machineId;
    this.may = scopes.includes("machines:control");
    this.signal = signal;
  }

  /** @type {(holder: Holder | null, inControl: boolean) => void} */
  update(holder, inControl) {
    if (this.#inControl !== inControl || (this.#asked && this.#asked !== holder?.since)) {
      this.#asked = "";
      setText(this.told, "");
    }
    this.#inControl = inControl;
    this.holder = holder;
    this.button.hidden = !this.may || !holder || inControl || this.#asked !== "";
  }

  /**
   * Somebody asks for control; it is for whoever has it to hear.
   * @param {ControlRequested} request
   */
  hear({ by, note }) {
    if (this.#inControl) setText(this.told, `${by} asks you to hand over${note ? `: ${note}` : "."}`);
  }

  async #ask() {
    const { holder } = this;
    if (!holder) return;
    this.#asked = holder.since;
    this.button.hidden = true;
    setText(this.told, `${holder.by} was asked to hand over.`);
    try {
      await call("POST", path`/v1/machines/${this.machineId}/control/request`, { signal: this.signal });
    } catch (error) {
      if (this.signal.aborted || this.#asked !== holder.since) return;
      this.#asked = "";
      this.update(this.holder ?? null, this.#inControl);
      setText(this.told, wordsOf(error));
    }
  }
}
