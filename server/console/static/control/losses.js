/** What a person did that was not sent, or of which nobody knows: said until they have read it. */

import { h, setText } from "../parts/dom.js";
import { add, named, noneUndone } from "./undone.js";

/** A line with a button that dismisses it; what comes meanwhile is added. */
export class Losses {
  #notSent = noneUndone();
  #unknown = noneUndone();
  words = h("p", { class: "lost", role: "status" });
  dismiss = h("button", { type: "button", hidden: true, click: () => this.#dismissed() }, "Dismiss");
  /** Called when it was dismissed by hand. */
  dismissed = () => {};

  /** @param {Undone} undone */
  notSent(undone) {
    add(this.#notSent, undone);
    this.#draw();
  }

  /** @param {Undone} undone */
  unknown(undone) {
    add(this.#unknown, undone);
    this.#draw();
  }

  #dismissed() {
    this.#notSent = noneUndone();
    this.#unknown = noneUndone();
    this.#draw();
    this.dismissed();
  }

  #draw() {
    const notSent = named(this.#notSent);
    const unknown = named(this.#unknown);
    const sentences = [
      unknown && `It is not known whether this was carried out: ${unknown}. Look at the screen before you go on.`,
      notSent && `Not sent: ${notSent}.`,
    ];
    setText(this.words, sentences.filter(Boolean).join(" "));
    this.dismiss.hidden = !unknown && !notSent;
  }
}
