/** Small pictures of screens, asked for one after another: each that is in sight, once in a while. */

import { Store } from "../parts/elements.js";
import { decoded } from "../screen/pictures.js";
import { path, query, request, sentence, wordsOf } from "../server/api.js";

const EVERY_MILLISECONDS = 10_000;
const TICK_MILLISECONDS = 250;
const TOGETHER = 3;
/** A screen full of small text, or of noise, is some 8 KB then; most are 4. */
const SIZE = { format: "jpeg", width: 256, height: 192, quality: 45 };

/** What is shown of one machine's screen. */
export class Glance extends Store {
  /** @type {HTMLCanvasElement | null} */
  canvas = null;
  isInSight = false;
  isDrawn = false;
  /** Why there is no picture. */
  words = "";
  mayAsk = false;
  /** When it may be asked for again. */
  due = 0;
  tag = "";
  /** Whether somebody has private control of the machine. */
  isPrivate = false;

  constructor(/** @type {string} */ id) {
    super();
    this.id = id;
  }

  say(/** @type {string} */ words) {
    if (this.words === words && !this.isDrawn) return;
    Object.assign(this, { words, isDrawn: false, tag: "" });
    this.tell();
  }
}

/** All of them: which are in sight, and whose turn it is. */
export class Glances {
  /** @type {Map<string, Glance>} */
  #all = new Map();
  /** @type {Map<Element, Glance>} */
  #watched = new Map();
  #asking = 0;

  /** @param {{signal: AbortSignal, mayLook: boolean}} page */
  constructor({ signal, mayLook }) {
    this.signal = signal;
    this.mayLook = mayLook;
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const glance = this.#watched.get(target);
        if (glance) glance.isInSight = isIntersecting;
      }
      this.#ask();
    });
    const timer = setInterval(() => this.#ask(), TICK_MILLISECONDS);
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      this.observer.disconnect();
    });
  }

  /** @type {(id: string) => Glance} */
  of(id) {
    const glance = this.#all.get(id) ?? new Glance(id);
    this.#all.set(id, glance);
    return glance;
  }

  /** @type {(element: Element, canvas: HTMLCanvasElement, glance: Glance) => void} */
  watch(element, canvas, glance) {
    glance.canvas = canvas;
    this.#watched.set(element, glance);
    this.observer.observe(element);
  }

  forget(/** @type {Glance} */ glance) {
    for (const [element, each] of this.#watched) {
      if (each !== glance) continue;
      this.observer.unobserve(element);
      this.#watched.delete(element);
    }
    this.#all.delete(glance.id);
  }

  /** @type {(glance: Glance, machine: Machine) => void} whether there is anything to be seen */
  update(glance, { state, screen, control }) {
    const isPrivate = Boolean(control?.private);
    // Who may look is another question than before.
    if (glance.isPrivate !== isPrivate) Object.assign(glance, { isPrivate, due: 0 });
    const isThere = state !== "offline" && screen.available;
    glance.mayAsk = this.mayLook && isThere;
    if (!this.mayLook) glance.say("Your token lacks the scope screen:read.");
    else if (!isThere) glance.say(state === "offline" ? "Not connected." : sentence(screen.reason ?? "It cannot be seen"));
    this.#ask();
  }

  /** Ask for those whose turn it is, a few at once. */
  #ask() {
    if (document.hidden || this.signal.aborted) return;
    const now = performance.now();
    for (const glance of this.#watched.values()) {
      if (this.#asking >= TOGETHER) return;
      if (!glance.isInSight || !glance.mayAsk || glance.due > now) continue;
      glance.due = now + EVERY_MILLISECONDS;
      this.#asking += 1;
      void this.#look(glance);
    }
  }

  async #look(/** @type {Glance} */ glance) {
    try {
      await this.#draw(glance);
    } catch (error) {
      if (!this.signal.aborted) glance.say(wordsOf(error));
    } finally {
      this.#asking -= 1;
    }
  }

  async #draw(/** @type {Glance} */ glance) {
    const { id, tag, canvas } = glance;
    const address = query(path`v1/computer/${id}/display/screenshot`, SIZE);
    const response = await request("GET", address, { headers: tag ? { "If-None-Match": tag } : {}, signal: this.signal });
    if (response.status === 304) return;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const picture = await decoded(bytes);
    if (canvas) {
      Object.assign(canvas, { width: picture.width, height: picture.height });
      canvas.getContext("2d")?.drawImage(picture, 0, 0);
    }
    picture.close();
    Object.assign(glance, { tag: response.headers.get("ETag") ?? "", isDrawn: true, words: "" });
    glance.tell();
  }
}
