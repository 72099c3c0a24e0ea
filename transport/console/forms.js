// A form for a command, made from what the command says about its parameters.

import { el } from "./dom.js";

export function commandText(name, values) {
  const tags = Object.entries(values).map(([key, value]) => `<${key}>${escaped(value)}</${key}>`);
  return [name, ...tags].join(" ");
}

function escaped(value) {
  return String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function commandForm(command, onRun) {
  const inputs = new Map();
  const fields = (command.parameters ?? []).map((parameter) => {
    const input = control(parameter);
    inputs.set(parameter.name, input);
    const id = `${command.name}-${parameter.name}`;
    input.id = id;
    return el("div", { class: "field" },
      el("label", { for: id, class: parameter.required ? "required" : "" }, parameter.name),
      input, parameter.description && el("div", { class: "hint" }, parameter.description));
  });
  return el("form", {
    "aria-label": command.name,
    onsubmit: (event) => {
      event.preventDefault();
      const values = {};
      for (const [name, input] of inputs) if (input.value !== "") values[name] = input.value;
      onRun(commandText(command.name, values));
    },
  }, fields, el("div", { class: "field" }, el("button", { type: "submit" }, "Run")));
}

function control(parameter) {
  const required = Boolean(parameter.required);
  const example = parameter.examples?.[0];
  if (parameter.enum?.length) return choice(parameter.enum, required, parameter.default);
  if (parameter.type === "boolean") return choice(["true", "false"], required, parameter.default);
  if (["array", "object"].includes(parameter.type)) {
    return el("textarea", { required, placeholder: example ? JSON.stringify(example) : parameter.type === "array" ? "[…]" : "{…}" });
  }
  const number = ["integer", "number"].includes(parameter.type);
  return el("input", {
    type: number ? "number" : "text", step: parameter.type === "integer" ? "1" : number ? "any" : null, required,
    placeholder: example !== undefined && example !== null ? `such as ${example}` : null, autocomplete: "off",
    value: parameter.default !== undefined && parameter.default !== null ? String(parameter.default) : "",
  });
}

function choice(values, required, chosen) {
  return el("select", { required }, el("option", { value: "" }, "–"), values.map((value) =>
    el("option", { value: String(value), selected: chosen !== undefined && String(chosen) === String(value) }, String(value))));
}
