/**
 * The API on one page, made of the server's own openapi.json.  Every operation is closed until it
 * is asked for, and its address has its id behind the #.
 */

import { fill, h, put } from "./dom.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
const DEEPEST = 6;

let models = {};

async function start() {
  const main = document.getElementById("main");
  try {
    const answer = await fetch("openapi.json");
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    show(main, await answer.json());
  } catch (error) {
    fill(main, h("p", { class: "empty" }, `openapi.json cannot be read: ${error.message}`));
  }
}

function show(main, description) {
  models = description.components.schemas;
  const groups = new Map();
  for (const [path, methods] of Object.entries(description.paths))
    for (const method of METHODS.filter((each) => each in methods)) {
      const name = methods[method].tags[0];
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(operation(method, path, methods[method]));
    }
  const sections = [...groups].map(([name, operations]) =>
    h("section", {}, h("h2", {}, name), operations),
  );
  fill(
    main,
    h("h1", {}, `${description.info.title} ${description.info.version}`),
    h("p", { class: "lead" }, description.info.description),
    h("p", {}, "For programs: ", h("a", { href: "openapi.json" }, "openapi.json")),
    finder(sections),
    sections,
  );
  openNamed();
  addEventListener("hashchange", openNamed);
}

/** Leaves those operations that have every word, wherever in their line. */
function finder(sections) {
  const input = h("input", {
    class: "find",
    type: "search",
    placeholder: "Find an operation",
    "aria-label": "Find an operation",
    input: () => {
      const words = input.value.toLowerCase().split(/\s+/);
      for (const section of sections) {
        const operations = [...section.querySelectorAll("details.operation")];
        for (const each of operations) {
          const text = each.querySelector("summary").textContent.toLowerCase();
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
  if (!named?.matches("details")) return;
  named.open = true;
  named.scrollIntoView();
}

function operation(method, path, described) {
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

function needs(described) {
  if (!described.security) return "Needs no token.";
  const [scope] = described.security[0].token;
  return scope ? `Needs a token with the scope ${scope}.` : "Needs any token.";
}

function parameters(place, all) {
  const here = all.filter((each) => each.in === place);
  if (here.length === 0) return null;
  const rows = here.map((each) => field(each.name, each.schema, each.required, each.description, 0));
  return [h("h3", {}, `In the ${place}`), h("table", {}, rows)];
}

function body(request) {
  if (!request) return null;
  const [type, { schema }] = Object.entries(request.content)[0];
  const kinds = Object.keys(request.content).join(" or ");
  const title = `Body: ${kinds}${request.required ? "" : ", may be left out"}`;
  return [
    h("h3", {}, title),
    h("p", { class: "type" }, request.description),
    type === "application/json" && schema && members(resolved(schema), 0),
  ];
}

function answer([status, response]) {
  const schemas = Object.values(response.content ?? {}).map(({ schema }) => schema).filter(Boolean);
  const headers = Object.entries(response.headers ?? {}).map(([name, each]) =>
    h("div", {}, h("code", {}, name), ` ${each.description}`),
  );
  const texts = response.description.split(" Or: ").map((text) => h("div", {}, text));
  return h("tr", {}, h("td", {}, status), h("td", {}, texts, headers, schemas.map((each) => nested(each, 0))));
}

function resolved(schema) {
  return schema.$ref ? models[schema.$ref.split("/").pop()] : schema;
}

function members(schema, depth) {
  const required = schema.required ?? [];
  const rows = Object.entries(schema.properties ?? {}).map(([name, each]) =>
    field(name, each, required.includes(name), each.description, depth),
  );
  return h("table", {}, rows);
}

function field(name, schema, required, description, depth) {
  return h(
    "tr",
    {},
    h("td", {}, h("code", {}, name), required && h("span", { class: "needed" }, " required")),
    h("td", {}, h("span", { class: "type" }, typeOf(schema)), " ", description, nested(schema, depth)),
  );
}

/** What a value that is an object, or a list of them, has in it: opened by who wants to know. */
function nested(schema, depth) {
  const inner = objectIn(schema);
  if (!inner || depth > DEEPEST) return null;
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

function typeOf(schema) {
  const whole = resolved(schema);
  const union = whole.anyOf ?? whole.oneOf;
  let text = union ? union.map(typeOf).join(" or ") : simple(whole);
  if (schema.default !== undefined && schema.default !== null)
    text += `, default ${JSON.stringify(schema.default)}`;
  return text;
}

function simple(schema) {
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(", ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `array of ${typeOf(schema.items ?? {})}`;
  return (schema.format ?? schema.type ?? "any value") + bounds(schema);
}

function bounds(schema) {
  const [least, most, unit] =
    schema.type === "string"
      ? [schema.minLength, schema.maxLength, " characters"]
      : [schema.minimum, schema.maximum, ""];
  if (least !== undefined && most !== undefined) return ` ${least} to ${most}${unit}`;
  if (most !== undefined) return ` up to ${most}${unit}`;
  return least === undefined ? "" : ` from ${least}${unit}`;
}

function curl(method, path, described) {
  const base = new URL(".", location.href).href.replace(/\/$/, "");
  const lines = [`curl -X ${method.toUpperCase()} '${base}${path}'`];
  if (described.security) lines.push('-H "Authorization: Bearer $FARHAND_TOKEN"');
  const [type, content] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  if (type === "application/json") {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d '${JSON.stringify(example(content.schema, 0))}'`);
  } else if (type) lines.push(`-H 'Content-Type: ${type}'`, "--data-binary @FILE");
  return lines.join(" \\\n     ");
}

/** The smallest value that a schema could mean; ids and texts are the reader's to fill in. */
function example(schema, depth) {
  const whole = resolved(schema);
  if (whole.default !== undefined && whole.default !== null) return whole.default;
  if (whole.enum) return whole.enum[0];
  if (whole.anyOf) return example(whole.anyOf[0], depth);
  if (whole.properties && depth < DEEPEST)
    return Object.fromEntries(
      (whole.required ?? []).map((name) => [name, example(whole.properties[name], depth + 1)]),
    );
  if (whole.type === "array") return whole.items && whole.minItems ? [example(whole.items, depth + 1)] : [];
  if (whole.format === "uuid") return "00000000-0000-4000-8000-000000000000";
  const simple = { string: "text", boolean: true, object: {} };
  return simple[whole.type] ?? Math.max(1, whole.minimum ?? 1);
}

start();
