/**
 * The API on one page, made of the server's own openapi.json.  Every operation is closed until it
 * is asked for, and its address has its id behind the #.
 */

import { byId, fill, h, put } from "./parts/dom.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
const DEEPEST = 6;

/** @type {Record<string, Schema>} */
let models = {};

async function start() {
  const main = byId("main");
  try {
    const response = await fetch("openapi.json");
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    show(main, /** @type {OpenApi} */ (await response.json()));
  } catch (error) {
    fill(main, h("p", { class: "empty" }, `openapi.json cannot be read: ${error instanceof Error ? error.message : String(error)}`));
  }
}

/** @type {(main: HTMLElement, description: OpenApi) => void} */
function show(main, description) {
  models = description.components.schemas;
  /** @type {Map<string, HTMLElement[]>} */
  const groups = new Map();
  for (const [path, methods] of Object.entries(description.paths))
    for (const method of METHODS) {
      const described = methods[method];
      if (!described) continue;
      const [name] = described.tags;
      const group = groups.get(name) ?? [];
      groups.set(name, group);
      group.push(operation(method, path, described));
    }
  const more = description.externalDocs;
  const sections = [...groups].map(([name, operations]) =>
    h("section", {}, h("h2", {}, name), operations),
  );
  fill(
    main,
    h("h1", {}, `${description.info.title} ${description.info.version}`),
    h("p", { class: "lead" }, description.info.description),
    h("p", {}, "For programs: ", h("a", { href: "openapi.json" }, "openapi.json")),
    more && h("p", {}, "To read: ", h("a", { href: more.url }, more.description)),
    finder(sections),
    sections,
  );
  openNamed();
  addEventListener("hashchange", openNamed);
}

/**
 * Leaves those operations that have every word, wherever in their line.
 * @param {HTMLElement[]} sections
 */
function finder(sections) {
  /** @type {HTMLInputElement} */
  const input = h("input", {
    class: "find",
    type: "search",
    placeholder: "Find an operation",
    "aria-label": "Find an operation",
    input: () => {
      const words = input.value.toLowerCase().split(/\s+/);
      for (const section of sections) {
        /** @type {NodeListOf<HTMLElement>} */
        const found = section.querySelectorAll("details.operation");
        const operations = [...found];
        for (const each of operations) {
          const text = (each.querySelector("summary")?.textContent ?? "").toLowerCase();
          each.hidden = !words.every((word) => text.includes(word));
        }
        section.hidden = operations.every((each) => each.hidden);
      }
    },
  });
  return input;
}

function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
}

/** @type {OfOperation<HTMLElement>} */
function operation(method, path, described) {
  /** @type {HTMLDetailsElement} */
  const details = h(
    "details",
    {
      class: "operation",
      id: described.operationId,
      toggle: () => {
        if (details.open && details.childElementCount === 1)
          put(details, contents(method, path, described));
      },
    },
    h(
      "summary",
      {},
      h("span", { class: `method ${method}` }, method.toUpperCase()),
      h("code", { class: "path" }, path),
      h("span", { class: "summary" }, described.summary),
    ),
  );
  return details;
}

/** @type {OfOperation<HTMLElement>} */
function contents(method, path, described) {
  return h(
    "div",
    {},
    described.description && h("p", {}, described.description),
    h("p", { class: "type" }, needs(described), " ", h("a", { href: `#${described.operationId}` }, "#")),
    ["path", "query", "header"].map((place) => parameters(place, described.parameters)),
    body(described.requestBody),
    h("h3", {}, "Try it"),
    h("pre", { class: "example" }, curl(method, path, described)),
    h("h3", {}, "Answers"),
    h("table", {}, Object.entries(described.responses).map(answer)),
  );
}

/** @param {DescribedOperation} described */
function needs(described) {
  if (!described.security) return "Needs no token.";
  const [scope] = described.security[0].token;
  return scope ? `Needs a token with the scope ${scope}.` : "Needs any token.";
}

/** @type {(place: string, all: DescribedParameter[]) => Child} */
function parameters(place, all) {
  const here = all.filter((each) => each.in === place);
  if (here.length === 0) return null;
  const rows = here.map((each) => field(each.name, each.schema, Boolean(each.required), each.description, 0));
  return [h("h3", {}, `In the ${place}`), h("table", {}, rows)];
}

/** @param {DescribedBody | undefined} request */
function body(request) {
  if (!request) return null;
  const [type, { schema } = {}] = Object.entries(request.content)[0] ?? [];
  const kinds = Object.keys(request.content).join(" or ");
  const title = `Body: ${kinds}${request.required ? "" : ", may be left out"}`;
  return [
    h("h3", {}, title),
    h("p", { class: "type" }, request.description),
    type === "application/json" && schema && members(resolved(schema), 0),
  ];
}

/** @param {[string, DescribedAnswer]} entry */
function answer([status, response]) {
  const schemas = Object.values(response.content ?? {}).flatMap(({ schema }) => schema ?? []);
  const headers = Object.entries(response.headers ?? {}).map(([name, each]) =>
    h("div", {}, h("code", {}, name), ` ${each.description}`),
  );
  const texts = response.description.split(" Or: ").map((text) => h("div", {}, text));
  return h("tr", {}, h("td", {}, status), h("td", {}, texts, headers, schemas.map((each) => nested(each, 0))));
}

/** @param {Schema} schema */
function resolved(schema) {
  return models[schema.$ref?.split("/").pop() ?? ""] ?? schema;
}

/** @type {(schema: Schema, depth: number) => HTMLElement} */
function members(schema, depth) {
  const required = schema.required ?? [];
  const rows = Object.entries(schema.properties ?? {}).map(([name, each]) =>
    field(name, each, required.includes(name), each.description, depth),
  );
  return h("table", {}, rows);
}

/** @type {FieldRow} */
function field(name, schema, required, description, depth) {
  return h(
    "tr",
    {},
    h("td", {}, h("code", {}, name), required && h("span", { class: "needed" }, " required")),
    h("td", {}, h("span", { class: "type" }, typeOf(schema)), " ", description, nested(schema, depth)),
  );
}

/**
 * What a value that is an object, or a list of them, has in it: opened by who wants to know.
 * @type {(schema: Schema, depth: number) => HTMLElement | null}
 */
function nested(schema, depth) {
  const inner = objectIn(schema);
  if (!inner || depth > DEEPEST) return null;
  /** @type {HTMLDetailsElement} */
  const details = h(
    "details",
    {
      class: "model",
      toggle: () => {
        if (details.childElementCount === 1) put(details, members(inner, depth + 1));
      },
    },
    h("summary", {}, inner.title),
  );
  return details;
}

/** @type {(schema: Schema) => Schema | null} */
function objectIn(schema) {
  const whole = resolved(schema);
  if (whole.properties) return whole;
  for (const each of [...(whole.anyOf ?? []), ...(whole.oneOf ?? []), whole.items ?? {}])
    if (Object.keys(each).length > 0) {
      const found = objectIn(each);
      if (found) return found;
    }
  return null;
}

/** @type {(schema: Schema) => string} */
function typeOf(schema) {
  const whole = resolved(schema);
  const union = whole.anyOf ?? whole.oneOf;
  let text = union ? union.map(typeOf).join(" or ") : simple(whole);
  if (schema.default !== undefined && schema.default !== null)
    text += `, default ${JSON.stringify(schema.default)}`;
  return text;
}

/** @type {(schema: Schema) => string} */
function simple(schema) {
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(", ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `array of ${typeOf(schema.items ?? {})}`;
  return (schema.format ?? schema.type ?? "any value") + bounds(schema);
}

/** @param {Schema} schema */
function bounds(schema) {
  const isText = schema.type === "string";
  const least = isText ? schema.minLength : schema.minimum;
  const most = isText ? schema.maxLength : schema.maximum;
  const unit = isText ? " characters" : "";
  if (least !== undefined && most !== undefined) return ` ${least} to ${most}${unit}`;
  if (most !== undefined) return ` up to ${most}${unit}`;
  return least === undefined ? "" : ` from ${least}${unit}`;
}

/** @type {OfOperation<string>} */
function curl(method, path, described) {
  const base = new URL(".", location.href).href.replace(/\/$/, "");
  const lines = [`curl -X ${method.toUpperCase()} '${base}${path}'`];
  if (described.security) lines.push('-H "Authorization: Bearer $FARHAND_TOKEN"');
  const [type, content] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  if (type === "application/json") {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d '${JSON.stringify(example(content?.schema ?? {}, 0))}'`);
  } else if (type) lines.push(`-H 'Content-Type: ${type}'`, "--data-binary @FILE");
  return lines.join(" \\\n     ");
}

/**
 * The smallest value that a schema could mean; ids and texts are the reader's to fill in.
 * @type {(schema: Schema, depth: number) => unknown}
 */
function example(schema, depth) {
  const whole = resolved(schema);
  if (whole.default !== undefined && whole.default !== null) return whole.default;
  if (whole.enum) return whole.enum[0];
  if (whole.anyOf?.[0]) return example(whole.anyOf[0], depth);
  const { properties } = whole;
  if (properties && depth < DEEPEST)
    return Object.fromEntries(
      (whole.required ?? []).map((name) => [name, example(properties[name] ?? {}, depth + 1)]),
    );
  if (whole.type === "array") return whole.items && whole.minItems ? [example(whole.items, depth + 1)] : [];
  if (whole.format === "uuid") return "00000000-0000-4000-8000-000000000000";
  /** @type {Record<string, unknown>} */
  const examples = { string: "text", boolean: true, object: {} };
  return examples[whole.type ?? ""] ?? Math.max(1, whole.minimum ?? 1);
}

void start();
