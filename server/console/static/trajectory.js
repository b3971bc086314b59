/** One trajectory: its steps with their places on the picture, and its approval. */

import { call, path, request } from "./api.js";
import { fill, h, setAttribute, setText, svg } from "./dom.js";
import { failure, notFound, notice, timeAgo, whileBusy } from "./parts.js";
import { bytesOf, decoded } from "./pictures.js";
import { approvalBadge } from "./trajectories.js";
import { count, operationOf, span } from "./words.js";

const STEPS_LISTED = 100;
const PICTURE_ID = /^[0-9a-f]{64}$/;
const PICTURE_FIELDS = ["picture", "screenshot", "image"];

export function trajectoryPage({ signal, events, me, id, title }) {
  const page = h("section", {}, h("p", { class: "empty" }, "Reading the trajectory…"));
  const address = path`/v1/trajectories/${id}`;
  let view = null;

  async function read() {
    try {
      const { data, headers } = await call("GET", `${address}?include=workflow`, { signal });
      const at = view?.at ?? 0;
      view?.close();
      title(data.name || "Trajectory");
      view = new TrajectoryView({ data, tag: headers.get("ETag"), address, me, signal, read });
      fill(page, view.element);
      view.go(at);
    } catch (error) {
      if (signal.aborted || error.status === 401) return;
      if (error.status === 404 || error.status === 422)
        fill(page, notFound("trajectory", "#/trajectories", "the trajectories"));
      else fill(page, failure(error, read));
    }
  }

  const heard = ({ detail }) => {
    // Whoever reads it knows that it was made, also where the word of that comes later.
    if (detail.id !== id || detail.change === "created") return;
    if (!view?.expects(detail)) view?.hasChanged(detail.change);
  };
  events.addEventListener("trajectory", heard, { signal });
  read();
  return page;
}

class TrajectoryView {
  at = 0;
  #closing = new AbortController();
  #own = 0;

  constructor({ data, tag, address, me, signal, read }) {
    this.data = data;
    // The tag of a trajectory with its workflow names both versions; If-Match takes the first.
    this.address = address;
    this.tag = tag;
    this.read = read;
    this.steps = data.trajectory_data ?? [];
    this.mayChange = me.scopes.includes("trajectories:write");
    this.size = data.dimensions;
    this.#build();
    this.signal = AbortSignal.any([signal, this.#closing.signal]);
    document.addEventListener("keydown", (event) => this.#keydown(event), { signal: this.signal });
  }

  close() {
    this.#closing.abort();
  }

  /** Whether an event tells only what this page did itself. */
  expects({ change }) {
    if (change !== "changed" || this.#own === 0) return false;
    this.#own -= 1;
    return true;
  }

  hasChanged(change) {
    const deleted = change === "deleted";
    const words = deleted ? "Somebody has deleted this trajectory." : "Somebody has changed this trajectory.";
    const again = h("button", { type: "button", click: this.read }, "Read it again");
    fill(this.news, words, " ", !deleted && again);
    this.news.hidden = false;
  }

  #build() {
    const { data } = this;
    const workflow = data.included?.find(({ id }) => id === data.workflow_id);
    this.approval = h("button", { type: "button", click: () => this.#approve() });
    this.badge = h("span");
    this.news = h("p", { class: "news", role: "status", hidden: true });
    this.picture = h("canvas", { hidden: true });
    this.marks = svg("svg", { viewBox: `0 0 ${this.size.width} ${this.size.height}`, role: "img" });
    this.viewer = h("div", { class: "viewer" }, this.picture, this.marks);
    this.viewer.style.setProperty("--ratio", this.size.width / this.size.height);
    this.list = h("ol", { class: "steps" });
    this.told = h("p", { class: "small", role: "status" });
    this.body = h("pre", { tabindex: "0" });
    const go = (by) => h("button", { type: "button", click: () => this.go(this.at + by) }, by < 0 ? "‹ Previous" : "Next ›");
    this.previous = go(-1);
    this.next = go(1);
    this.element = h(
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
    this.#showApproval();
  }

  #values() {
    const values = Object.entries(this.data.original_input_values ?? {});
    if (!values.length) return null;
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
    const headers = { "If-Match": this.tag, Prefer: "return=minimal" };
    await whileBusy(this.approval, async () => {
      this.#own += 1;
      try {
        const answer = await call("PATCH", this.address, { body, headers });
        this.tag = answer.headers.get("ETag");
        Object.assign(this.data, body);
        this.#showApproval();
      } catch (error) {
        this.#own -= 1;
        if (error.status !== 412) throw error;
        this.hasChanged("changed");
        notice("Not approved: it has changed since you read it. Read it again first.", "bad");
      }
    });
  }

  #keydown(event) {
    if (event.target.closest?.("input, select, textarea, pre") || event.ctrlKey || event.altKey || event.metaKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !this.steps.length) return;
    event.preventDefault();
    this.go(this.at + by);
  }

  /** Show the step with this number, from 0. */
  go(at) {
    if (!this.steps.length) return;
    this.at = Math.min(Math.max(at, 0), this.steps.length - 1);
    const step = this.steps[this.at];
    this.previous.disabled = this.at === 0;
    this.next.disabled = this.at === this.steps.length - 1;
    setText(this.told, `Step ${this.at + 1} of ${this.steps.length}: ${describe(step)}`);
    setText(this.body, JSON.stringify(withoutPicture(step), null, 2));
    setAttribute(this.marks, "aria-label", describe(step));
    fill(this.marks, marksOf(step, this.size));
    this.#listAround();
    this.#showPicture(step);
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
          const text = [h("span", { class: "number" }, String(first + at + 1)), describe(step)];
          return h("li", {}, h("button", { type: "button", click: choose }, text));
        }),
      );
    }
    for (const [at, { firstChild: button }] of [...this.list.children].entries()) {
      const current = first + at === this.at;
      setAttribute(button, "aria-current", current ? "step" : null);
      if (current) keepInSight(this.list, button);
    }
  }

  async #showPicture(step) {
    const text = pictureOf(step);
    this.picture.hidden = true;
    if (!text) return;
    try {
      const bytes = PICTURE_ID.test(text) ? await kept(text, this.signal) : bytesOf(text);
      if (!bytes) throw new Error("The picture of this step is no base64 text.");
      const picture = await decoded(bytes);
      if (this.steps[this.at] !== step) return picture.close();
      this.picture.width = picture.width;
      this.picture.height = picture.height;
      this.picture.getContext("2d").drawImage(picture, 0, 0);
      picture.close();
      this.picture.hidden = false;
    } catch (error) {
      if (this.signal.aborted || this.steps[this.at] !== step) return;
      setText(this.told, `${this.told.textContent}. ${error.message}`);
    }
  }
}

/** The bytes of a picture that the step refers to. */
async function kept(id, signal) {
  const response = await request("GET", path`/v1/pictures/${id}`, { signal });
  return new Uint8Array(await response.arrayBuffer());
}

function keepInSight(list, button) {
  const [inside, outside] = [button.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inside.top < outside.top) list.scrollTop -= outside.top - inside.top;
  if (inside.bottom > outside.bottom) list.scrollTop += inside.bottom - outside.bottom;
}

function pictureOf(step) {
  for (const name of PICTURE_FIELDS) {
    const value = step?.[name];
    const text = typeof value === "string" ? value : value?.data;
    if (typeof text === "string" && text) return text;
  }
  return null;
}

function withoutPicture(step) {
  const shown = { ...step };
  for (const name of PICTURE_FIELDS) {
    const text = pictureOf({ [name]: shown[name] });
    if (text && !PICTURE_ID.test(text)) shown[name] = "(shown above)";
  }
  return shown;
}

/** Where a step happened: no place, one, or the beginning and end of a drag. */
function placesOf(step) {
  const body = step?.body ?? step ?? {};
  const places = [
    [body.start_x, body.start_y],
    [body.to_x, body.to_y],
    [body.x, body.y],
  ];
  return places.filter((place) => place.every(Number.isFinite)).map(([x, y]) => ({ x, y }));
}

function describe(step) {
  const body = step?.body ?? {};
  const [first, last] = placesOf(step);
  const parts = [operationOf(step?.operation ?? "Step")];
  if (body.clicks > 1) parts[0] = ["", "", "Double click", "Triple click"][body.clicks] ?? parts[0];
  if (body.button && body.button !== "left") parts.push(body.button);
  if (typeof body.text === "string") parts.push(body.text);
  if (body.direction) parts.push(`${body.amount ?? ""} ${body.direction}`);
  if (first) parts.push(`${last ? "from" : "at"} ${first.x}, ${first.y}`);
  if (last) parts.push(`to ${last.x}, ${last.y}`);
  if (Number.isFinite(step?.after_ms)) parts.push(`(after ${span(step.after_ms)})`);
  return parts.join(" ");
}

function marksOf(step, { width, height }) {
  const r = Math.max(width, height) / 60;
  const [first, last] = placesOf(step);
  if (!first) return [];
  const ring = ({ x, y }) => [
    svg("circle", { class: "halo", cx: x, cy: y, r }),
    svg("circle", { class: "ring", cx: x, cy: y, r }),
    svg("circle", { class: "dot", cx: x, cy: y, r: r / 5 }),
  ];
  if (!last) return ring(first);
  const angle = Math.atan2(last.y - first.y, last.x - first.x);
  const wing = (turn) => `${last.x - 1.6 * r * Math.cos(angle + turn)},${last.y - 1.6 * r * Math.sin(angle + turn)}`;
  const d = `M${first.x},${first.y}L${last.x},${last.y}M${wing(0.5)}L${last.x},${last.y}L${wing(-0.5)}`;
  return [svg("path", { class: "halo", d }), ...ring(first), svg("path", { class: "travel", d })];
}
