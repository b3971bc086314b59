/** States and outcomes: a shape, a colour and a word each, for those to whom colours say little. */

import { outcomeOf, STATES } from "./words.js";
import { html } from "./elements.js";
import { Ago } from "./time.js";

const DIAMOND = html`<path d="M8 .8 15.2 8 8 15.2.8 8z" />`;

/** @type {Record<string, import("../vendor/preact.js").Children>} */
const SHAPES = {
  online: html`<circle cx="8" cy="8" r="5.5" />`,
  offline: html`<path d="M8 1.8 15 14.2H1z" />`,
  in_trouble: html`<path d="M8 1.8 15 14.2H1z" />`,
  fine: html`<circle cx="8" cy="8" r="5.5" />`,
  no_input: DIAMOND,
  paused: html`<rect x="2.5" y="2" width="4" height="12" rx="1" /><rect x="9.5" y="2" width="4" height="12" rx="1" />`,
  not_set_up: html`<circle cx="8" cy="8" r="4.5" fill="none" stroke="currentcolor" stroke-width="2" />`,
};

export const StateShape = (/** @type {{state: string}} */ { state }) =>
  html`<svg class="shape" viewBox="0 0 16 16" aria-hidden="true">${SHAPES[state] ?? DIAMOND}</svg>`;

export const StateBadge = (/** @type {{state: string}} */ { state }) =>
  html`<span class="state" data-state=${state}><${StateShape} state=${state} />${STATES[state]?.word ?? state}</span>`;

export function OutcomeBadge(/** @type {{outcome: string, code?: string | null}} */ { outcome, code }) {
  const { word, kind } = outcomeOf(outcome);
  const sign = { good: "✓", bad: "✕", waits: "…" }[kind];
  const why = code && outcome !== "completed" && html` <small>${code}</small>`;
  return html`<span class="outcome" data-kind=${kind}><span aria-hidden="true">${sign}</span> ${word}${why}</span>`;
}

/** @type {Record<Review["state"], [string, string, string]>} */
const REVIEWS = {
  open: ["none", "○", "Not approved"],
  approved: ["good", "✓", "Approved"],
  rejected: ["bad", "✕", "Rejected"],
  withdrawn: ["none", "○", "No longer approved"],
};

/** @param {Pick<Trajectory, "is_generated" | "is_approved" | "review">} trajectory whose flag alone is what was said elsewhere */
export function ApprovalBadge({ is_generated, is_approved, review: { state } }) {
  const isOnlyMarked = is_approved && state !== "approved";
  const [kind, sign, word] = !is_generated ? ["waits", "…", "Pending"] : isOnlyMarked ? ["none", "○", "Marked as approved"] : REVIEWS[state];
  return html`<span class="outcome" data-kind=${kind}><span aria-hidden="true">${sign}</span> ${word}</span>`;
}

/** @param {Pick<Trajectory, "pictures_until" | "pictures_expired_at">} trajectory when its pictures go, or went; nothing where they stay */
export function PicturesGo({ pictures_until, pictures_expired_at }) {
  if (pictures_until) return html`<span>Pictures go <${Ago} time=${pictures_until} /></span>`;
  return pictures_expired_at && html`<span>Pictures went <${Ago} time=${pictures_expired_at} /></span>`;
}

/** @type {Record<Run["status"], {word: string, kind: string, sign: string}>} */
export const RUNS = {
  scheduling: { word: "Waiting", kind: "waits", sign: "…" },
  running: { word: "Running", kind: "waits", sign: "…" },
  running_checks: { word: "Checking", kind: "waits", sign: "…" },
  success: { word: "Success", kind: "good", sign: "✓" },
  task_failed: { word: "Given up", kind: "bad", sign: "✕" },
  error: { word: "Error", kind: "bad", sign: "✕" },
  cancelled: { word: "Cancelled", kind: "none", sign: "○" },
};
const HALTED = { word: "Halted", kind: "bad", sign: "!" };

/** @param {{run: Run}} properties */
export function RunBadge({ run: { status, halted } }) {
  const { word, kind, sign } = halted ? HALTED : RUNS[status];
  return html`<span class="outcome" data-kind=${kind}><span aria-hidden="true">${sign}</span> ${word}</span>`;
}
