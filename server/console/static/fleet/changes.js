/** What can be done with many machines at once, and what became of each. */

import { call, path, wordsOf } from "../server/api.js";

/** Machines of one request: between two, how far it has come is told. */
const PART = 200;
/** Requests at once, where each machine needs one of its own. */
const TOGETHER = 4;
const DONE = /** @type {const} */ ("done");

/**
 * Change machines by `POST /v1/machines/bulk`; what went wrong behind the first part is told of each machine.
 * @type {(ids: string[], change: object, told: (items: BulkItem[]) => void) => Promise<void>}
 */
export async function changeMany(ids, change, told) {
  for (let at = 0; at < ids.length; at += PART) {
    const part = ids.slice(at, at + PART);
    try {
      /** @type {Answer<BulkResult>} */
      const { data } = await call("POST", "v1/machines/bulk", { body: { machine_ids: part, ...change } });
      told(data.items);
    } catch (error) {
      // What is wrong with the first request is wrong with all, and is said where it was filled in.
      if (at === 0) throw error;
      told(part.map((id) => failed(id, error)));
    }
  }
}

/**
 * Change machines by a request for each.
 * @type {(ids: string[], change: (id: string) => Promise<unknown>, told: (items: BulkItem[]) => void) => Promise<void>}
 */
export async function changeEach(ids, change, told) {
  const waiting = [...ids];
  async function work() {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const machine_id = id;
      const item = await change(machine_id).then(
        () => ({ machine_id, status: DONE, detail: null }),
        (/** @type {unknown} */ error) => failed(machine_id, error),
      );
      told([item]);
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, work));
}

/** @type {(machine_id: string, error: unknown) => BulkItem} */
const failed = (machine_id, error) => ({ machine_id, status: "failed", detail: wordsOf(error) });

/** @type {(id: string, until: string, reason: string) => Promise<unknown>} say until when nobody has to be told that a machine is away */
export const expectOffline = (id, until, reason) =>
  call("PUT", path`/v1/machines/${id}/expected-offline`, { body: { until: momentOf(until), reason: reason || null } });

/** @type {(id: string) => Promise<unknown>} */
export const expectOnline = (id) => call("DELETE", path`/v1/machines/${id}/expected-offline`);

/** @type {(text: string) => string} what a field for a date and a time has, as the server takes it */
export const momentOf = (text) => new Date(text).toISOString();
