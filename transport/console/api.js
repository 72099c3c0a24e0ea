// The public REST surface, as this page uses it. A session is a handle that the server gave; it lives in this tab.

export class ApiError extends Error {
  constructor(status, error) {
    super(error?.message ?? `The server answered ${status}.`);
    this.status = status;
    this.code = error?.code ?? "";
    this.details = error?.details ?? null;
  }
}

const KEPT = "greenroom.session";

export const session = {
  get workflow() { return sessionStorage.getItem("greenroom.workflow"); },
  set workflow(value) { sessionStorage.setItem("greenroom.workflow", value); },
  get id() { return sessionStorage.getItem(KEPT); },
  set id(value) { value ? sessionStorage.setItem(KEPT, value) : sessionStorage.removeItem(KEPT); },
  get user() { return localStorage.getItem("greenroom.user") ?? "console"; },
  set user(value) { localStorage.setItem("greenroom.user", value || "console"); },
};

function headers(extra = {}) {
  return session.id ? { "X-Session-Id": session.id, ...extra } : extra;
}

async function fault(response) {
  let body = null;
  try { body = await response.json(); } catch { /* not JSON: the status has to do */ }
  return new ApiError(response.status, body?.error);
}

export async function get(path) {
  const response = await fetch(path, { headers: headers({ Accept: "application/json" }), cache: "no-store" });
  if (!response.ok) throw await fault(response);
  return response.json();
}

export async function getText(path) {
  const response = await fetch(path, { cache: "no-store" });
  if (!response.ok) throw await fault(response);
  return response.text();
}

export async function post(path, body = {}) {
  const response = await fetch(path, {
    method: "POST", headers: headers({ "Content-Type": "application/json", Accept: "application/json" }), body: JSON.stringify(body),
  });
  if (!response.ok) throw await fault(response);
  return response.status === 204 ? null : response.json();
}

// Everything that happens in a turn, as it happens: `onEvent(type, data)` for each, until the output or the error.
export async function stream(path, body, onEvent, signal) {
  const response = await fetch(path, {
    method: "POST", signal, body: JSON.stringify(body),
    headers: headers({ "Content-Type": "application/json", Accept: "application/x-ndjson" }),
  });
  if (!response.ok) throw await fault(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.trim()) continue;
      const { type, data } = JSON.parse(line);
      onEvent(type, data);
    }
  }
}

export async function openSession(conversationId = null) {
  session.id = null;
  const body = { user_id: session.user };
  if (conversationId) body.conversation_id = conversationId;
  const opened = await post("initialize", body);
  session.id = opened.session_id;
  session.workflow = opened.workflow_info.workflow_name;
  window.dispatchEvent(new Event("session-opened"));
  return opened;
}

// Do something in the session; if the server does not know it any more, open another and do it there.
export async function inSession(action) {
  if (!session.id) await openSession();
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof ApiError) || ![401, 404].includes(error.status) || error.code !== "session_not_found") throw error;
    await openSession();
    return action();
  }
}
