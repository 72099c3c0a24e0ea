// Making elements. Text is only ever set as text, never as markup: what a workflow says cannot become a script.

export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export function notice(message, kind = "bad") {
  const box = document.getElementById("notices");
  const line = el("div", { class: `notice ${kind}` }, el("span", {}, message));
  line.append(el("button", { type: "button", class: "plain tiny", onclick: () => line.remove() }, "Close"));
  box.append(line);
  setTimeout(() => line.remove(), 12000);
}

export function ago(milliseconds) {
  const seconds = Math.max(0, Math.round((Date.now() - milliseconds) / 1000));
  return `${lasting(seconds)} ago`;
}

export function lasting(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export function badge(text, kind = "", live = false) {
  return el("span", { class: `badge ${kind} ${live ? "live" : ""}` }, text);
}

// What was asked for in a turn, in one line: the words or the command, or else the arguments as they are.
export function spoken(input) {
  if (input === null || input === undefined) return "";
  if (typeof input === "string") return input;
  const said = input.command ?? input.user_query ?? input.text;
  if (typeof said === "string") return said;
  const given = Object.entries(input);
  return given.length ? JSON.stringify(Object.fromEntries(given)) : "";
}
