/** What programs ask people, in one queue over all machines: taken, answered, approved or denied. */

import { Glance, Glances } from "../fleet/glances.js";
import { AnswerButtons, Answering, WhatIsAsked } from "../help/answering.js";
import { html, useEffect, useMade, useRef, useState, useStore, useTitle } from "../parts/elements.js";
import { EmptyState, Unread } from "../parts/pieces.js";
import { count } from "../parts/words.js";
import { get, path, query } from "../server/api.js";

const SHOWN = 100;

export function HelpPage(/** @type {PageProperties} */ { helps, me, events }) {
  useTitle("Help");
  useStore(helps);
  const [answering, answer] = useState(/** @type {{asked: HelpRequest, answer: string} | null} */ (null));
  const glances = useMade((signal) => new Glances({ signal, mayLook: me.scopes.includes("screen:read") }));
  const { open, error, isReading } = helps;
  const mayAnswer = me.scopes.includes("help:answer");
  if (!open.length && !answering && (error || isReading)) return html`<${Unread} reading=${helps} />`;
  return html`<section>
    <div class="head"><h1>Help</h1><p class="small" role="status">${open.length ? `${count(open.length, "request")} open` : ""}</p></div>
    ${!mayAnswer && html`<p class="small">Your token lacks the scope help:answer, so you can look only.</p>`}
    ${open.length
      ? html`<ul class="thumbnails helps" aria-label="Help requests">
        ${open.slice(0, SHOWN).map((asked) => html`<${Card}
          key=${asked.id} ...${{ asked, glances, events, mayAnswer }} choose=${(/** @type {string} */ chosen) => answer({ asked, answer: chosen })}
        />`)}
      </ul>`
      : html`<${EmptyState} title="Nobody asks for help">
        <p>What a program asks (<code>POST /v1/help</code>) appears here by itself, the oldest first.</p>
      <//>`}
    ${open.length > SHOWN && html`<p class="small">These are the oldest ${SHOWN}.</p>`}
    ${answering && html`<${Answering} helps=${helps} ...${answering} close=${() => answer(null)} />`}
  </section>`;
}

/** @param {HelpCardProperties} properties of one request, with what its machine shows */
function Card({ asked, glances, events, mayAnswer, choose }) {
  const place = path`/machines/${asked.machine_id}`;
  const machine = useMachine(asked.machine_id, events);
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  // Several may be about one machine: each has a picture of its own.
  const [glance] = useState(() => new Glance(asked.machine_id));
  useStore(glance);
  useEffect(() => {
    if (element.current && canvas.current) glances.watch(element.current, canvas.current, glance);
    return () => glances.forget(glance);
  }, [glance]);
  useEffect(() => {
    if (machine) glances.update(glance, machine);
  }, [glance, machine]);
  return html`<li ref=${element}>
    <div class="glance"><canvas ref=${canvas} width="4" height="3" hidden=${!glance.isDrawn} aria-hidden="true"></canvas>
      ${!glance.isDrawn && html`<p class="small">${glance.words}</p>`}</div>
    <h2 dir="auto">${machine?.name ?? asked.machine_id}</h2>
    <${WhatIsAsked} asked=${asked} />
    <div class="row">
      ${asked.kind === "help"
        ? html`<button type="button" class="primary" onClick=${() => (location.hash = query(place, { help: asked.id }))}>Take it</button>`
        : html`<button type="button" onClick=${() => (location.hash = place)}>Look at it</button>`}
      ${mayAnswer && html`<${AnswerButtons} asked=${asked} choose=${choose} />`}
    </div>
  </li>`;
}

/** @type {(id: string, events: PageProperties["events"]) => Machine | null} as it is told; null until it is read */
function useMachine(id, events) {
  const [machine, learn] = useState(/** @type {Machine | null} */ (null));
  useMade((signal) => {
    events.on("machine", ({ detail }) => detail.id === id && learn(detail), signal);
    // Without it there is no picture; what is asked is there all the same.
    get(path`v1/machines/${id}`, signal).then((found) => learn(/** @type {Machine} */ (found)), () => null);
  });
  return machine;
}
