// Conversations to read, search, rate and switch.

import { get, inSession, post, session } from "./api.js";
import { ago, el, fill, notice, spoken } from "./dom.js";
import { rate } from "./try.js";
import { TurnCard } from "./turn.js";

let built = false;
let open = null;
let listed = [];
let more = null;
const parts = {};

export async function show(view) {
  if (!built) build(view);
  await guarded(() => inSession(reload));
}

function build(view) {
  built = true;
  parts.search = el("input", { type: "search", id: "search", placeholder: "Words of a topic or a summary", oninput: drawList });
  parts.list = el("ul", { class: "list", id: "conversation-list" });
  parts.more = el("button", { type: "button", class: "plain", hidden: true, onclick: () => guarded(loadMore) }, "Older ones");
  parts.reading = el("div", { class: "stack", id: "reading" }, el("p", { class: "empty" }, "Choose a conversation to read it."));
  parts.whose = el("p", { class: "quiet small" });
  fill(view, el("div", { class: "columns flip" },
    el("div", { class: "card stack" },
      el("div", { class: "row apart" }, el("h2", {}, "Conversations"),
        el("button", { type: "button", class: "plain tiny", onclick: () => guarded(startNew) }, "Begin a new one")),
      parts.whose, el("div", {}, el("label", { for: "search" }, "Search"), parts.search), parts.list, parts.more),
    parts.reading));
}

async function guarded(action) {
  try {
    await action();
  } catch (error) {
    notice(error.message);
  }
}

async function reload() {
  const page = await get("conversations?limit=50");
  listed = page.conversations;
  more = page.next_cursor ?? null;
  parts.whose.textContent = `Of the user ${session.user}`;
  drawList();
}

async function loadMore() {
  const page = await get(`conversations?limit=50&cursor=${encodeURIComponent(more)}`);
  listed = [...listed, ...page.conversations];
  more = page.next_cursor ?? null;
  drawList();
}

function drawList() {
  const words = parts.search.value.trim().toLowerCase();
  const found = listed.filter((each) => `${each.topic} ${each.summary}`.toLowerCase().includes(words));
  parts.more.hidden = more === null;
  fill(parts.list, found.length === 0 && el("li", { class: "empty" }, words ? "None that has these words." : "None yet."),
    found.map((each) => el("li", {}, el("button", {
      type: "button", class: "item", "aria-current": String(each.conversation_id === open), onclick: () => guarded(() => read(each)),
    },
    el("div", { class: "title" }, each.topic || "Without a topic yet"),
    each.summary && el("div", { class: "quiet small" }, each.summary),
    el("div", { class: "quiet small" }, `${each.turn_count ?? 0} turns, ${ago(each.updated_at)}`)))));
}

async function startNew() {
  await inSession(() => post("new_conversation"));
  await reload();
  notice("A new conversation has begun.", "wait");
}

async function read(conversation) {
  const found = await inSession(() => get(`conversations/${encodeURIComponent(conversation.conversation_id)}?limit=100`));
  open = conversation.conversation_id;
  drawList();
  const about = found.conversation ?? found;
  fill(parts.reading,
    el("div", { class: "card row apart" },
      el("div", {}, el("h2", {}, about.topic || "Without a topic yet"), about.summary && el("p", { class: "quiet" }, about.summary)),
      el("button", { type: "button", onclick: () => guarded(() => goOn(conversation)) }, "Go on with this one")),
    found.turns.length === 0 && el("p", { class: "empty" }, "It has no turns yet."),
    found.turns.map(drawTurn));
}

async function goOn(conversation) {
  await inSession(() => post("activate_conversation", { conversation_id: conversation.conversation_id }));
  await reload();
  location.hash = "#try";
  notice(`The session goes on with ${conversation.topic ? `“${conversation.topic}”` : "this conversation"}.`, "wait");
}

function drawTurn(turn) {
  const card = new TurnCard({ asked: spoken(turn.input) || turn.tool, kind: turn.tool, started: turn.started_at, onRate: rate });
  for (const trace of turn.traces ?? []) card.trace(trace);
  card.finish({
    text: turn.text, status: turn.status, failed: turn.is_error || turn.status === "failed",
    milliseconds: turn.duration_ms, turnId: turn.turn_id, feedback: turn.feedback,
  });
  return card.element;
}
