/** Whether what is done on a machine is recorded, by whom, and buttons that begin and end it, and say that what is typed is secret. */

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
  const title = "What everybody does on this machine becomes the steps of a trajectory. What is typed is kept only in fields that are known to be no password's.";
  if (!first) return html`<${WorkButton} class="for-wide" work=${start} title=${title} disabled=${machine.state === "offline"}>Record<//>`;
  return html`<${WorkButton} class="for-wide recording" work=${stop}>Stop recording${steps === null ? "" : ` (${steps})`}<//>`;
}

/** @param {{machine: Machine, me: Session, read: () => Promise<void>}} properties of the button that says of all recordings of a machine that what is typed now is a secret, or none any more */
export function SecretButton({ machine, me, read }) {
  const { recordings } = machine;
  if (!recordings.length || !mayRecord(me.scopes)) return null;
  const isOn = recordings.every(({ secret }) => secret);
  async function change() {
    const body = { on: !isOn };
    await Promise.all(recordings.map(({ id }) => call("POST", path`/v1/recordings/${id}/secret`, { body })));
    await read();
  }
  const title = "While this is on, what is typed is a secret: it is not kept, and its field is blacked out on pictures. Turn it off once the screen does not show it any more.";
  return html`<${WorkButton} class="for-wide" work=${change} title=${title} aria-pressed=${String(isOn)}>Secret<//>`;
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
