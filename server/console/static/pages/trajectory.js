/** One trajectory: its steps with their places on the picture, and its approval. */

import { call, path, request, statusOf, wordsOf } from "../server/api.js";
import { fill, h, setAttribute, setText, svg } from "../parts/dom.js";
import { failure, notFound, notice, timeAgo, whileBusy } from "../parts/old_pieces.js";
import { bytesOf, decoded } from "../screen/pictures.js";
import { membersOf, readStep } from "./steps.js";
import { approvalBadge } from "./trajectories.js";
import { count } from "../parts/words.js";

const STEPS_LISTED = 100;
const PICTURE_ID = /^[0-9a-f]{64}$/;
const PICTURE_FIELDS = ["picture", "screenshot", "image"];

/** @param {Page} page */
export function trajectoryPage({ signal, events, me, id, title }) {
  const page = h("section", {}, h("p", { class: "empty" }, "Reading the trajectory…"));
  const address = path`/v1/trajectories/${id}`;
  /** @type {TrajectoryView | null} */
  let view = null;

  async function read() {
    try {
      /** @type {Answer<TrajectoryWithIncluded>} */
      const { data, headers } = await call("GET", `${address}?include=workflow`, { signal });
      const at = view?.at ?? 0;
      view?.close();
      title(data.name || "Trajectory");
      view = new TrajectoryView({ data, tag: headers.get("ETag"), address, me, signal, read });
      fill(page, view.element);
      view.go(at);
    } catch (error) {
      const status = statusOf(error);
      if (signal.aborted || status === 401) return;
      if (status === 404 || status === 422)
        fill(page, notFound("trajectory", "#/trajectories", "the trajectories"));
      else fill(page, failure(error, read));
    }
  }

  /** @param {CustomEvent<TrajectoryChanged>} event */
  const heard = ({ detail }) => {
    // Whoever reads it knows that it was made, also where the word of that comes later.
    if (detail.id !== id || detail.change === "created") return;
    if (!view?.expects(detail)) view?.hasChanged(detail.change);
  };
  events.on("trajectory", heard, signal);
  void read();
  return page;
}

class TrajectoryView {
  at = 0;
  #closing = new AbortController();
  #own = 0;
  approval = h("button", { type: "button", click: () => this.#approve() });
  badge = h("span");
  news = h("p", { class: "news", role: "status", hidden: true });
  picture = h("canvas", { hidden: true });
  list = h("ol", { class: "steps" });
  told = h("p", { class: "small", role: "status" });
  body = h("pre", { tabindex: "0" });
  previous = h("button", { type: "button", click: () => this.go(this.at - 1) }, "‹ Previous");
  next = h("button", { type: "button", click: () => this.go(this.at + 1) }, "Next ›");

  /** @param {ViewParts & {data: TrajectoryWithIncluded, tag: string | null}} parts */
  constructor({ data, tag, address, me, signal, read }) {
    this.data = data;
    // The tag of a trajectory with its workflow names both versions; If-Match takes the first.
    this.address = address;
    this.tag = tag;
    this.read = read;
    this.steps = data.trajectory_data ?? [];
    this.mayChange = me.scopes.includes("trajectories:write");
    this.size = data.dimensions;
    const { width, height } = this.size;
    this.marks = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    this.viewer = h("div", { class: "viewer" }, this.picture, this.marks);
    this.viewer.style.setProperty("--ratio", String(width / height));
    this.element = this.#element();
    this.#showApproval();
    this.signal = AbortSignal.any([signal, this.#closing.signal]);
    document.addEventListener("keydown", (event) => this.#keydown(event), { signal: this.signal });
  }

  close() {
    this.#closing.abort();
  }

  /**
   * Whether an event tells only what this page did itself.
   * @param {TrajectoryChanged} told
   */
  expects({ change }) {
    if (change !== "changed" || this.#own === 0) return false;
    this.#own -= 1;
    return true;
  }

  /** @param {TrajectoryChanged["change"]} change */
  hasChanged(change) {
    const deleted = change === "deleted";
    const words = deleted ? "Somebody has deleted this trajectory." : "Somebody has changed this trajectory.";
    const again = h("button", { type: "button", click: this.read }, "Read it again");
    fill(this.news, words, " ", !deleted && again);
    this.news.hidden = false;
  }

  #element() {
    const { data } = this;
    const workflow = data.included?.find(({ id }) => id === data.workflow_id);
    return h(
      "div",
      {},
      h("p", { class: "crumbs" }, h("a", { href: "#/trajectories" }, "‹ Trajectories")),
      h("div", { class: "head" }, h("h1", {}, data.name || "Without a name"), h("span", { class: "row" }, this.badge, this.mayChange && data.is_generated && this.approval)),
      this.news,
      data.description && h("p", { class: "lead" }, data.description),
      h(
        "p",
        { class: "small" },
        [workflow?.name, count(this.steps.length, "step"), `${this.size.width} × ${this.size.height}`].filter(Boolean).join(" · "),
        " · created ",
        timeAgo(data.created_at),
        " · updated ",
        timeAgo(data.updated_at),
      ),
      this.steps.length
        ? h(
            "div",
            { class: "split" },
            h(
              "div",
              {},
              this.viewer,
              h("div", { class: "row" }, this.previous, this.next, this.told),
              this.body,
            ),
            h("aside", {}, h("h2", {}, "Steps"), this.list, this.#values()),
          )
        : h("p", { class: "empty" }, "It has no steps yet: it is still to be generated."),
    );
  }

  #values() {
    const values = Object.entries(this.data.original_input_values ?? {});
    if (!values.length) return null;
    /** @param {unknown} value */
    const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
    const rows = values.map(([name, value]) => [h("dt", {}, name), h("dd", {}, text(value))]);
    return [h("h2", {}, "Input values"), h("dl", { class: "facts" }, rows)];
  }

  #showApproval() {
    fill(this.badge, approvalBadge(this.data));
    setText(this.approval, this.data.is_approved ? "Withdraw approval" : "Approve");
    this.approval.classList.toggle("primary", !this.data.is_approved);
  }

  async #approve() {
    const body = { is_approved: !this.data.is_approved };
    const headers = { "If-Match": String(this.tag), Prefer: "return=minimal" };
    await whileBusy(this.approval, async () => {
      this.#own += 1;
      try {
        const answer = await call("PATCH", this.address, { body, headers });
        this.tag = answer.headers.get("ETag");
        Object.assign(this.data, body);
        this.#showApproval();
      } catch (error) {
        this.#own -= 1;
        if (statusOf(error) !== 412) throw error;
        this.hasChanged("changed");
        notice("Not approved: it has changed since you read it. Read it again first.", "bad");
      }
    });
  }

  /** @param {KeyboardEvent} event */
  #keydown(event) {
    const { target } = event;
    if (target instanceof Element && target.closest("input, select, textarea, pre")) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !this.steps.length) return;
    event.preventDefault();
    this.go(this.at + by);
  }

  /**
   * Show the step with this number, from 0.
   * @param {number} at
   */
  go(at) {
    if (!this.steps.length) return;
    this.at = Math.min(Math.max(at, 0), this.steps.length - 1);
    const step = this.steps[this.at] ?? {};
    const { text, places } = readStep(step, this.size);
    this.previous.disabled = this.at === 0;
    this.next.disabled = this.at === this.steps.length - 1;
    setText(this.told, `Step ${this.at + 1} of ${this.steps.length}: ${text}`);
    setText(this.body, JSON.stringify(withoutPicture(step), null, 2));
    setAttribute(this.marks, "aria-label", text);
    fill(this.marks, marksOf(places, this.size));
    this.#listAround();
    void this.#showPicture(step);
  }

  #listAround() {
    const first = Math.floor(this.at / STEPS_LISTED) * STEPS_LISTED;
    if (this.list.start !== first + 1 || !this.list.firstChild) {
      this.list.start = first + 1;
      const some = this.steps.slice(first, first + STEPS_LISTED);
      fill(
        this.list,
        some.map((step, at) => {
          const choose = () => this.go(first + at);
          const text = [h("span", { class: "number" }, String(first + at + 1)), readStep(step, this.size).text];
          return h("li", {}, h("button", { type: "button", click: choose }, text));
        }),
      );
    }
    for (const [at, button] of this.list.querySelectorAll("button").entries()) {
      const current = first + at === this.at;
      setAttribute(button, "aria-current", current ? "step" : null);
      if (current) keepInSight(this.list, button);
    }
  }

  /** @param {Step} step */
  async #showPicture(step) {
    const text = pictureOf(step);
    this.picture.hidden = true;
    if (!text) return;
    try {
      const bytes = PICTURE_ID.test(text) ? await kept(text, this.signal) : bytesOf(text);
      if (!bytes) throw new Error("The picture of this step is no base64 text.");
      const picture = await decoded(bytes);
      if (this.steps[this.at] !== step) {
        picture.close();
        return;
      }
      this.picture.width = picture.width;
      this.picture.height = picture.height;
      this.picture.getContext("2d")?.drawImage(picture, 0, 0);
      picture.close();
      this.picture.hidden = false;
    } catch (error) {
      if (this.signal.aborted || this.steps[this.at] !== step) return;
      setText(this.told, `${this.told.textContent}. ${wordsOf(error)}`);
    }
  }
}

/**
 * The bytes of a picture that the step refers to.
 * @param {string} id
 * @param {AbortSignal} signal
 */
async function kept(id, signal) {
  const response = await request("GET", path`/v1/pictures/${id}`, { signal });
  return new Uint8Array(await response.arrayBuffer());
}

/** @type {(list: HTMLElement, button: HTMLElement) => void} */
function keepInSight(list, button) {
  const [inside, outside] = [button.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inside.top < outside.top) list.scrollTop -= outside.top - inside.top;
  if (inside.bottom > outside.bottom) list.scrollTop += inside.bottom - outside.bottom;
}

/** @param {Step} step */
function pictureOf(step) {
  for (const name of PICTURE_FIELDS) {
    const value = step[name];
    const text = typeof value === "string" ? value : membersOf(value).data;
    if (typeof text === "string" && text) return text;
  }
  return null;
}

/** @param {Step} step */
function withoutPicture(step) {
  /** @type {Step} */
  const shown = { ...step };
  for (const name of PICTURE_FIELDS) {
    const text = pictureOf({ [name]: shown[name] });
    if (text && !PICTURE_ID.test(text)) shown[name] = "(shown above)";
  }
  return shown;
}

/** @type {(places: Place[], size: Size) => Child[]} */
function marksOf([first, last], { width, height }) {
  const r = Math.max(width, height) / 60;
  if (!first) return [];
  /** @param {Place} place */
  const ring = ({ x, y }) => [
    svg("circle", { class: "halo", cx: x, cy: y, r }),
    svg("circle", { class: "ring", cx: x, cy: y, r }),
    svg("circle", { class: "dot", cx: x, cy: y, r: r / 5 }),
  ];
  if (!last) return ring(first);
  const angle = Math.atan2(last.y - first.y, last.x - first.x);
  /** @param {number} turn */
  const wing = (turn) => `${last.x - 1.6 * r * Math.cos(angle + turn)},${last.y - 1.6 * r * Math.sin(angle + turn)}`;
  const d = `M${first.x},${first.y}L${last.x},${last.y}M${wing(0.5)}L${last.x},${last.y}L${wing(-0.5)}`;
  return [svg("path", { class: "halo", d }), ...ring(first), svg("path", { class: "travel", d })];
}
