// Everybody's live sessions, and one of them as it happens.

import { get } from "./api.js";
import { badge, el, fill, lasting, notice, spoken } from "./dom.js";
import { TurnCard } from "./turn.js";

const PHASES = { running: "wait", awaiting_input: "wait", stopping: "bad", closing: "bad" };

let built = false;
let chosen = null;
let all = null;
let one = null;
let timer = null;
let due = false;
const running = new Map();
const parts = {};

export async function show(view) {
  if (!built) build(view);
  await reload();
  watchAll();
}

export function hide() {
  all?.close();
  one?.close();
  clearInterval(timer);
  all = one = null;
}

function build(view) {
  built = true;
  parts.list = el("ul", { class: "list", id: "session-list" });
  parts.watched = el("div", { class: "stack", id: "watched" }, el("p", { class: "empty" }, "Choose a session to watch it."));
  fill(view, el("div", { class: "columns flip" },
    el("div", { class: "card stack" }, el("h2", {}, "Live sessions"), parts.list), parts.watched));
}

async function reload() {
  try {
    const { sessions } = await get("sessions");
    drawList(sessions);
  } catch (error) {
    notice(error.message);
  }
}

function drawList(sessions) {
  fill(parts.list, sessions.length === 0 && el("li", { class: "empty" }, "Nobody is here."), sessions.map((each) =>
    el("li", {}, el("button", { type: "button", class: "item", "aria-current": String(each.id === chosen), onclick: () => watch(each) },
      el("div", { class: "row apart" }, el("span", { class: "title" }, each.user_id),
        badge(each.phase.replace("_", " "), PHASES[each.phase] ?? "", each.phase === "running")),
      el("div", { class: "quiet small" }, el("span", { class: "mono" }, each.id), each.turn && ` · ${each.turn.name}`),
      el("div", { class: "quiet small" }, [
        each.context && `in ${each.context}`, `used ${lasting(each.used_seconds_ago)} ago`,
        each.queue_depth ? `${each.queue_depth} waiting` : null].filter(Boolean).join(", "))))));
}

// The list is drawn anew when something happens, and at most once a second.
function watchAll() {
  all?.close();
  all = new EventSource("events");
  all.onmessage = () => { due = true; };
  clearInterval(timer);
  timer = setInterval(() => {
    if (!due) return;
    due = false;
    reload();
  }, 1000);
}

async function watch(each) {
  one?.close();
  chosen = each.id;
  running.clear();
  const turns = el("div", { class: "stack" });
  fill(parts.watched, el("div", { class: "card" }, el("h2", {}, `Session of ${each.user_id}`),
    el("p", { class: "quiet small" }, `Opened ${lasting(each.opened_seconds_ago)} ago`,
      each.context && `, in the context ${each.context}`, each.conversation_id && `, conversation ${each.conversation_id}`)), turns);
  listen(each.id, turns);
  try {
    const found = await get(`sessions/${encodeURIComponent(each.id)}/turns`);
    turns.append(...found.turns.map((turn) => drawPast(turn)).filter(Boolean));
    if (!turns.childElementCount) turns.append(el("p", { class: "empty" }, "It has not had a turn yet."));
  } catch (error) {
    notice(error.message);
  }
  reload();
}

function drawPast(turn) {
  if (running.has(turn.id)) return null;
  const card = new TurnCard({ asked: spoken(turn.input) || turn.name, kind: turn.name, started: turn.started_at ?? Date.now() });
  for (const trace of turn.traces) card.trace(trace);
  if (["running", "awaiting_input"].includes(turn.status)) running.set(turn.id, card);
  else finish(card, { ...turn, turn_id: turn.id });
  return card.element;
}

function finish(card, turn) {
  const failed = !["completed", "awaiting_user"].includes(turn.status);
  card.finish({
    text: turn.text ?? turn.error?.message ?? "", status: turn.status === "turn_cancelled" ? "cancelled" : turn.status, failed,
    milliseconds: turn.duration_ms, turnId: turn.turn_id,
  });
}

function listen(id, turns) {
  const cardOf = (data) => {
    if (!running.has(data.turn_id)) {
      const made = new TurnCard({ asked: spoken(data.input) || data.name || data.turn_id, kind: data.name ?? "", started: data.at });
      running.set(data.turn_id, made);
      turns.querySelector(".empty")?.remove();
      turns.prepend(made.element);
    }
    return running.get(data.turn_id);
  };
  const actions = {
    turn_started: cardOf,
    trace: (data) => cardOf(data).trace(data.trace),
    progress: (data) => cardOf(data).step(data.message, data.progress, data.total),
    note: (data) => cardOf(data).step(typeof data.data === "string" ? data.data : JSON.stringify(data.data)),
    missed: (data) => { for (const each of running.values()) each.lost(data.count); },
    turn_finished: (data) => {
      finish(cardOf(data), data);
      running.delete(data.turn_id);
    },
    session_closed: () => {
      one?.close();
      turns.prepend(el("p", { class: "notice" }, "This session has ended."));
    },
  };
  one = new EventSource(`sessions/${encodeURIComponent(id)}/events`);
  one.onmessage = (event) => {
    const data = JSON.parse(event.data);
    actions[data.type]?.(data);
  };
}
