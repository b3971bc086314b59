/** Whether what is done on a machine is recorded, by whom, and a button that begins and ends it. */

import { html, useEffect, useState } from "../parts/elements.js";
import { WorkButton } from "../parts/pieces.js";
import { call, path } from "../server/api.js";

/** @param {string[]} scopes whether somebody with these may record */
const mayRecord = (scopes) => scopes.includes("recordings:write") && scopes.includes("screen:read");

/** @param {{machine: Machine, me: Session, events: PageProperties["events"], read: () => Promise<void>}} properties of the button; the first recording is the one that it tells of */
export function RecordButton({ machine, me, events, read }) {
  const [first] = machine.recordings;
  const steps = useSteps(first?.id, events);
  if (!mayRecord(me.scopes)) return null;
  async function start() {
    await call("POST", path`/v1/machines/${machine.id}/recordings`, { body: { of: "everybody" } });
    await read();
  }
  async function stop() {
    await call("POST", path`/v1/recordings/${first?.id ?? ""}/stop`);
    await read();
  }
  const title = "What everybody does on this machine becomes the steps of a trajectory; what is typed is not kept.";
  if (!first) return html`<${WorkButton} class="for-wide" work=${start} title=${title} disabled=${machine.state === "offline"}>Record<//>`;
  return html`<${WorkButton} class="for-wide recording" work=${stop}>Stop recording${steps === null ? "" : ` (${steps})`}<//>`;
}

/** @param {{machine: Machine}} properties of the words for everybody who looks: it is recorded, and by whom */
export function RecordedBy({ machine }) {
  const names = [...new Set(machine.recordings.map(({ by }) => by))].join(", ");
  return names && html`<span class="recorded" role="status">Recorded by ${names}</span>`;
}

/** @param {string | undefined} id @param {PageProperties["events"]} events how many steps a recording has; null until that is told */
function useSteps(id, events) {
  const [told, tell] = useState(/** @type {{id: string, steps: number} | null} */ (null));
  useEffect(() => {
    const closing = new AbortController();
    events.on("recording", ({ detail }) => detail.id === id && tell(detail), closing.signal);
    return () => closing.abort();
  }, [id, events]);
  return told?.id === id ? (told?.steps ?? null) : null;
}
