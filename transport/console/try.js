// Trying the workflow: a session of one's own, its turns as they happen, and its commands as forms.

import { ApiError, get, inSession, openSession, post, session, stream } from "./api.js";
import { el, fill, notice } from "./dom.js";
import { commandForm } from "./forms.js";
import { TurnCard } from "./turn.js";

const MODES = {
  assistant: { title: "Assistant", path: "invoke_assistant", field: "user_query", hint: "One instruction in plain words" },
  agent: { title: "Agent", path: "invoke_agent_stream", field: "user_query", hint: "A whole task in plain words" },
  command: { title: "Command", path: "execute_command", field: "command", hint: "name <parameter>value</parameter>" },
};

let mode = "assistant";
let built = false;
let busy = null;
// Reading the commands is a turn too, and a session has one at a time: whoever wants the next one waits for this.
let refreshed = Promise.resolve();
const parts = {};

export async function show(view) {
  if (!built) build(view);
  await refreshSoon();
}

function refreshSoon() {
  refreshed = refreshed.then(() => inSession(refresh)).catch((error) => notice(error.message));
  return refreshed;
}

function build(view) {
  built = true;
  parts.user = el("input", { id: "user", value: session.user, maxlength: 256, autocomplete: "username" });
  parts.where = el("p", { class: "quiet small", id: "where", role: "status" });
  parts.turns = el("div", { class: "stack", id: "turns" });
  parts.text = el("textarea", { id: "ask", rows: 2, "aria-label": "What to do", onkeydown: sendOnEnter });
  parts.send = el("button", { type: "submit" }, "Send");
  parts.commands = el("div", { id: "commands" });
  parts.modes = el("div", { class: "choice", role: "group", "aria-label": "How to take it" }, Object.entries(MODES).map(([name, each]) =>
    el("button", { type: "button", "data-mode": name, title: each.hint, onclick: () => choose(name) }, each.title)));
  fill(view, el("div", { class: "columns" },
    el("div", { class: "stack" },
      el("form", { class: "card row", onsubmit: startAgain },
        el("div", { class: "grow" }, el("label", { for: "user" }, "User"), parts.user),
        el("button", { type: "submit", class: "plain" }, "New session"), parts.where),
      parts.turns,
      el("form", { class: "card composer stack", onsubmit: (event) => { event.preventDefault(); send(); } },
        parts.text, el("div", { class: "row apart" }, parts.modes, parts.send))),
    el("aside", { class: "card", "aria-label": "Commands of the current context" }, el("h2", {}, "Commands"), parts.commands)));
  fill(parts.turns, el("p", { class: "empty" }, "Nothing has happened yet. Ask something below, or run a command."));
  choose(mode);
}

function choose(name) {
  mode = name;
  for (const button of parts.modes.children) button.setAttribute("aria-pressed", String(button.dataset.mode === name));
  parts.text.placeholder = MODES[name].hint;
}

function sendOnEnter(event) {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send();
  }
}

async function startAgain(event) {
  event.preventDefault();
  session.user = parts.user.value.trim();
  try {
    await refreshed;
    await openSession();
    fill(parts.turns);
    await refreshSoon();
  } catch (error) {
    notice(error.message);
  }
}

async function refresh() {
  const listed = await get("commands");
  const context = listed.context ?? listed.commands?.[0]?.context ?? "";
  parts.where.textContent = `Session of ${session.user}${context ? ` in the context ${context}` : ""}`;
  fill(parts.commands, (listed.commands ?? []).map((command) => el("details", { class: "command" },
    el("summary", {}, el("span", { class: "name" }, command.name)),
    command.description && el("p", { class: "quiet small" }, command.description),
    commandForm(command, (text) => run("command", text)))));
}

async function send() {
  const text = parts.text.value.trim();
  if (!text || busy) return;
  parts.text.value = "";
  await run(mode, text);
  parts.text.focus();
}

async function run(how, text) {
  if (busy) return notice("A turn is still running: wait for it, or stop it.", "wait");
  const { path, field, title } = MODES[how];
  busy = new AbortController();
  parts.send.disabled = true;
  parts.turns.querySelector(".empty")?.remove();
  const card = new TurnCard({ asked: text, kind: title, onStop: () => busy?.abort(), onRate: rate });
  parts.turns.append(card.element);
  follow(card);
  try {
    await refreshed;
    await inSession(() => stream(path, { [field]: text }, (type, data) => happened(card, type, data), busy.signal));
  } catch (error) {
    const stopped = error.name === "AbortError";
    card.finish({ text: stopped ? "Stopped." : error.message, failed: true, status: stopped ? "cancelled" : "failed" });
  } finally {
    busy = null;
    parts.send.disabled = false;
  }
  refreshSoon();
}

// Keep the end of a running turn in sight.
function follow(card) {
  card.element.scrollIntoView({ block: "end", behavior: "instant" });
}

function happened(card, type, data) {
  record(card, type, data);
  follow(card);
}

function record(card, type, data) {
  if (type === "trace") card.trace(data);
  else if (type === "progress") card.step(data.message, data.progress, data.total);
  else if (type === "dropped") card.lost(data.count);
  else if (type === "error") card.finish({ text: data.error?.message ?? data.message, failed: true, status: "failed" });
  else if (type === "output") {
    card.finish({
      text: data.response_text ?? (data.command_responses ?? []).map((each) => each.response).join("\n"),
      status: data.status ?? "completed", failed: data.success === false && data.status !== "awaiting_user",
      milliseconds: data.duration_ms ?? Date.now() - card.started, turnId: data.turn_id, candidates: data.candidates ?? [],
      onPick: (name) => run("assistant", name),
    });
  }
}

export async function rate(turnId, score, words) {
  try {
    const body = { turn_id: turnId, binary_or_numeric_score: score };
    if (words) body.nl_feedback = words;
    await post("post_feedback", body);
    return true;
  } catch (error) {
    notice(error instanceof ApiError ? error.message : String(error));
    return false;
  }
}
