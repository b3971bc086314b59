/** One trajectory: what it is, whether it is approved, and its steps. */

import { backTo } from "../parts/address.js";
import { html, useMade, useStore, useTitle } from "../parts/elements.js";
import { NotFound, Unread, WorkButton } from "../parts/pieces.js";
import { ApprovalBadge, PicturesGo } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { count } from "../parts/words.js";
import { isNowhere } from "../server/api.js";
import { Decided, Decisions } from "./review/decisions.js";
import { Managing } from "./review/managing.js";
import { OneTrajectory } from "./review/one_trajectory.js";
import { Steps } from "./review/walk.js";
import { RunButton } from "./runs/start.js";

/** @type {Scope[]} what it takes to run one, on a machine that one chooses */
const RUNNING = ["runs:write", "machines:read"];

export function TrajectoryPage(/** @type {PageProperties} */ { id, ...page }) {
  const reading = useStore(useMade((signal) => new OneTrajectory({ id, ...page, signal })));
  const { trajectory, workflow, readAgain, news } = reading;
  useTitle(trajectory?.name || "Trajectory");
  const back = backTo("/trajectories");
  if (isNowhere(reading.error) && !trajectory) return html`<${NotFound} what="trajectory" back=${back} name="the trajectories" />`;
  if (!trajectory) return html`<${Unread} reading=${reading} />`;
  const { name, description, dimensions, trajectory_data, is_generated, is_approved, is_main, review, created_at, updated_at } = trajectory;
  const mayApprove = is_generated && news !== "deleted" && page.me.scopes.includes("trajectories:approve");
  const mayEdit = news !== "deleted" && page.me.scopes.includes("trajectories:write");
  const mayRun = review.state === "approved" && is_approved && news !== "deleted" && RUNNING.every((scope) => page.me.scopes.includes(scope));
  const said = [workflow, is_main && "the main one", count(trajectory_data?.length ?? 0, "step"), `${dimensions.width} × ${dimensions.height}`];
  return html`<section>
    <p class="crumbs"><a href=${back}>‹ Trajectories</a></p>
    <div class="head">
      <h1 dir="auto">${name || "Without a name"}</h1>
      <span class="row">
        <${ApprovalBadge} ...${trajectory} />
        ${mayRun && html`<${RunButton} trajectory=${trajectory} me=${page.me} />`}
        ${mayApprove && html`<${Decisions} reading=${reading} trajectory=${trajectory} />`}
      </span>
    </div>
    <p class="news" role="status" hidden=${!news}>
      ${news === "deleted" && html`Somebody has deleted this trajectory; what you see is all that is left of it. <a href=${back}>Back to the trajectories</a>`}
      ${news === "changed" && html`Somebody has changed this trajectory. <${WorkButton} work=${readAgain}>Read it again<//>`}
    </p>
    ${description && html`<p class="lead" dir="auto">${description}</p>`}
    ${review.by && html`<${Decided} review=${review} />`}
    ${news !== "deleted" && html`<${Managing} reading=${reading} trajectory=${trajectory} mayWrite=${mayEdit} back=${back} />`}
    <p class="small">${said.filter(Boolean).join(" · ")} · created <${Ago} time=${created_at} /> · updated <${Ago} time=${updated_at} /></p>
    <p class="small"><${PicturesGo} ...${trajectory} /></p>
    ${trajectory_data?.length
      ? html`<${Steps} reading=${reading} trajectory=${trajectory} steps=${trajectory_data} mayEdit=${mayEdit} />`
      : html`<p class="empty">It has no steps yet: it is still to be generated.</p>`}
  </section>`;
}
