// The frame: which view is shown, how the server is, light or dark, and the door.

import { ApiError, get, post, session } from "./api.js";
import * as conversations from "./conversations.js";
import { el, fill } from "./dom.js";
import * as health from "./health.js";
import * as sessions from "./sessions.js";
import * as trying from "./try.js";

const VIEWS = { try: trying, sessions, conversations, health };
const THEMES = ["auto", "light", "dark"];

let current = null;

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = `Theme: ${theme}`;
  localStorage.setItem("greenroom.theme", theme);
}

async function go() {
  const name = location.hash.slice(1) in VIEWS ? location.hash.slice(1) : "try";
  VIEWS[current]?.hide?.();
  current = name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const each of Object.keys(VIEWS)) document.getElementById(`view-${each}`).hidden = each !== name;
  await VIEWS[name].show(document.getElementById(`view-${name}`));
}

async function watchCondition() {
  const place = document.getElementById("condition");
  try {
    const { status } = await get("probes/readyz").catch((error) => ({ status: error instanceof ApiError ? "not ready" : "away" }));
    place.className = `badge ${status === "ready" ? "good" : "bad"}`;
    place.textContent = status;
  } finally {
    setTimeout(watchCondition, 5000);
  }
}

function askForToken(reason) {
  const view = document.getElementById("view-login");
  const token = el("input", { type: "password", id: "token", required: true, autocomplete: "current-password" });
  const told = el("p", { class: "notice bad", hidden: true, role: "alert" });
  fill(view, el("form", {
    class: "card stack",
    onsubmit: async (event) => {
      event.preventDefault();
      try {
        await post("console/login", { token: token.value });
        view.hidden = true;
        await start();
      } catch (error) {
        told.hidden = false;
        told.textContent = error.message;
      }
    },
  }, el("h2", { id: "login-title" }, "The operator's door"), el("p", { class: "quiet" }, reason),
  el("div", {}, el("label", { for: "token" }, "Admin token"), token), told, el("div", {}, el("button", { type: "submit" }, "Come in"))));
  view.hidden = false;
  token.focus();
}

async function start() {
  try {
    await get("sessions");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return askForToken(error.message);
    document.getElementById("notices").append(el("div", { class: "notice bad" }, error.message));
  }
  window.addEventListener("hashchange", go);
  await go();
}

function nameWorkflow() {
  if (!session.workflow) return;
  document.getElementById("workflow-name").textContent = session.workflow;
  document.title = `${session.workflow} · Greenroom console`;
}

document.getElementById("theme").addEventListener("click", () => {
  const chosen = localStorage.getItem("greenroom.theme") ?? "auto";
  setTheme(THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length]);
});
setTheme(localStorage.getItem("greenroom.theme") ?? "auto");
fill(document.getElementById("condition"), "…");
nameWorkflow();
window.addEventListener("session-opened", nameWorkflow);
watchCondition();
start();
