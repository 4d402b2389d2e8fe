// Reads /api/openapi.json and shows it: groups, search, parameters, schemas, and a form to try each operation.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
let description = null;

/** An element with attributes and children. Text stays text: nothing of the document is taken as markup. */
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function resolve(schema) {
  const reference = schema && schema.$ref;
  if (!reference) return schema || {};
  return reference.split("/").slice(1).reduce((at, key) => at && at[key], description) || {};
}

function nameOf(schema) {
  if (!schema || Object.keys(schema).length === 0) return "any";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const choices = schema.oneOf || schema.anyOf;
  if (choices) return choices.map(nameOf).join(" | ");
  if (schema.allOf) return schema.allOf.map(nameOf).join(" & ");
  if (schema.type === "array") return `${nameOf(schema.items)}[]`;
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : schema.type || "any";
  return schema.format ? `${type} (${schema.format})` : type;
}

/** An example that has every property, to start from. */
function example(schema, depth = 0) {
  const resolved = resolve(schema);
  if (resolved.default !== undefined) return resolved.default;
  if (resolved.example !== undefined) return resolved.example;
  const choices = resolved.oneOf || resolved.anyOf || resolved.allOf;
  if (choices) return example(choices.find((choice) => choice.type !== "null") || choices[0], depth);
  const types = [].concat(resolved.type || []);
  if (types.includes("object") && resolved.properties && depth < 4) {
    const required = resolved.required || [];
    const chosen = Object.entries(resolved.properties).filter(([key]) => depth === 0 || required.includes(key));
    return Object.fromEntries(chosen.map(([key, value]) => [key, example(value, depth + 1)]));
  }
  if (types.includes("object")) return {};
  if (types.includes("array")) return depth < 4 ? [example(resolved.items, depth + 1)] : [];
  if (types.includes("integer") || types.includes("number")) return resolved.minimum || 0;
  if (types.includes("boolean")) return false;
  return types.includes("string") ? "" : null;
}

/** The properties of a schema; those of nested ones open on demand. */
function schemaView(schema) {
  const resolved = resolve(schema);
  if (resolved.type === "array" || resolved.items) return schemaView(resolved.items);
  if (!resolved.properties) {
    return make("p", {}, make("code", {}, nameOf(schema)), resolved.description ? ` – ${resolved.description}` : null);
  }
  const required = resolved.required || [];
  const rows = Object.entries(resolved.properties).map(([key, value]) => {
    const target = resolve(value.type === "array" ? value.items : value);
    const nested = target.properties
      ? make("details", { ontoggle: openOnce(() => schemaView(value)) }, make("summary", {}, nameOf(value)))
      : make("code", {}, nameOf(value));
    return make("tr", {},
      make("td", {}, make("code", {}, key), required.includes(key) ? " *" : ""),
      make("td", {}, nested),
      make("td", {}, value.description || resolve(value).description || ""));
  });
  return make("table", {}, make("tbody", {}, ...rows));
}

/** Fills a details element the first time it opens. */
function openOnce(content) {
  return (event) => {
    const details = event.target;
    if (details.open && !details.dataset.filled) {
      details.dataset.filled = "yes";
      details.append(make("div", { class: "body" }, content()));
    }
  };
}

function bodyOf(operation) {
  const content = operation.requestBody && operation.requestBody.content;
  if (!content) return null;
  const type = Object.keys(content)[0];
  return { type, schema: content[type].schema };
}

function tryView(method, path, operation) {
  const parameters = operation.parameters || [];
  const fields = parameters.map((parameter) => {
    const input = make("input", { name: parameter.name, placeholder: nameOf(parameter.schema) });
    return { parameter, input };
  });
  const body = bodyOf(operation);
  const text = body ? make("textarea", { spellcheck: "false" }) : null;
  if (text && body.type.includes("json")) text.value = JSON.stringify(example(body.schema), null, 2);
  const answer = make("div", {});
  const send = async () => {
    let address = path;
    const query = new URLSearchParams();
    for (const { parameter, input } of fields) {
      if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      else if (parameter.in === "query" && input.value !== "") query.set(parameter.name, input.value);
    }
    if ([...query].length) address += `?${query}`;
    const headers = {};
    const token = document.getElementById("token").value;
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = body.type;
    answer.replaceChildren(make("p", { class: "note" }, `${method.toUpperCase()} ${address} …`));
    const began = performance.now();
    try {
      const response = await fetch(address, { method: method.toUpperCase(), headers, body: text ? text.value : undefined });
      const took = Math.round(performance.now() - began);
      const content = await response.text();
      let shown = content;
      try { shown = JSON.stringify(JSON.parse(content), null, 2); } catch { /* it is no JSON and is shown as it is */ }
      answer.replaceChildren(
        make("p", {}, make("strong", {}, `${response.status} ${response.statusText}`), ` in ${took} ms – `, make("code", {}, address)),
        make("pre", {}, shown.slice(0, 200000)));
    } catch (error) {
      answer.replaceChildren(make("p", {}, `No answer: ${error.message}`));
    }
  };
  return make("div", {},
    ...fields.map(({ parameter, input }) => make("p", {}, make("label", {}, `${parameter.name} `, input))),
    text, make("p", {}, make("button", { type: "button", onclick: send }, "Send")), answer);
}

function operationView({ method, path, operation }) {
  const content = () => {
    const parts = [];
    if (operation.description) parts.push(make("p", {}, operation.description));
    const parameters = operation.parameters || [];
    if (parameters.length) {
      const rows = parameters.map((parameter) => make("tr", {},
        make("td", {}, make("code", {}, parameter.name), parameter.required ? " *" : ""),
        make("td", {}, `${parameter.in}, ${nameOf(parameter.schema)}`),
        make("td", {}, parameter.description || "")));
      parts.push(make("h3", {}, "Parameters"), make("table", {}, make("tbody", {}, ...rows)));
    }
    const body = bodyOf(operation);
    if (body) parts.push(make("h3", {}, `Body (${body.type}, ${nameOf(body.schema)})`), schemaView(body.schema));
    parts.push(make("h3", {}, "Answers"));
    for (const [status, response] of Object.entries(operation.responses || {})) {
      const found = response.content ? Object.values(response.content)[0].schema : null;
      const title = `${status} ${response.description || ""}${found ? ` – ${nameOf(found)}` : ""}`;
      parts.push(found
        ? make("details", { ontoggle: openOnce(() => schemaView(found)) }, make("summary", {}, title))
        : make("p", {}, title));
    }
    parts.push(make("h3", {}, "Try it"), tryView(method, path, operation));
    return make("div", {}, ...parts);
  };
  return make("details", { id: `${method}${path}`, ontoggle: openOnce(content) },
    make("summary", {},
      make("span", { class: `method ${method}` }, method.toUpperCase()),
      make("code", {}, path), " ",
      make("span", { class: "note" }, operation.summary || "")));
}

function show(filter) {
  const wanted = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map();
  for (const [path, item] of Object.entries(description.paths)) {
    for (const method of METHODS.filter((method) => item[method])) {
      const operation = item[method];
      const text = `${method} ${path} ${operation.summary || ""} ${operation.description || ""} ${JSON.stringify(operation.requestBody || "")} ${JSON.stringify(operation.responses["200"] || "")}`.toLowerCase();
      if (!wanted.every((word) => text.includes(word))) continue;
      const group = (operation.tags || ["other"])[0];
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push({ method, path, operation });
    }
  }
  const names = [...groups.keys()].sort();
  const count = (name) => groups.get(name).length;
  document.getElementById("groups").replaceChildren(
    ...names.map((name) => make("a", { href: `#group-${name.replaceAll(" ", "-")}` }, `${name} (${count(name)})`)));
  document.getElementById("operations").replaceChildren(
    ...(names.length
      ? names.map((name) => make("section", {},
          make("h2", { id: `group-${name.replaceAll(" ", "-")}` }, name), ...groups.get(name).map(operationView)))
      : [make("p", {}, "Nothing matches.")]));
}

async function begin() {
  const search = document.getElementById("search");
  const token = document.getElementById("token");
  token.value = sessionStorage.getItem("token") || "";
  token.addEventListener("input", () => sessionStorage.setItem("token", token.value));
  search.addEventListener("input", () => description && show(search.value));
  try {
    const headers = token.value ? { Authorization: `Bearer ${token.value}` } : {};
    const response = await fetch("/api/openapi.json", { headers });
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    description = await response.json();
    show(search.value);
  } catch (error) {
    document.getElementById("operations").replaceChildren(
      make("p", {}, `The description can't be loaded: ${error.message}. If a token is needed, enter it above and reload.`));
  }
}

begin();
