// How the server is, from its own metrics: read every two seconds, drawn as small plots.

import { get, getText } from "./api.js";
import { el, fill, lasting, notice } from "./dom.js";
import { parse, quantile, sum, value } from "./metrics.js";
import { Plot } from "./plot.js";

const EVERY = 2000;

let timer = null;
let before = null;
let parts = null;

export async function show(view) {
  if (!parts) build(view);
  await read();
  timer = setInterval(read, EVERY);
}

export function hide() {
  clearInterval(timer);
}

function build(view) {
  const plots = {
    sessions: new Plot("Sessions", ""),
    running: new Plot("Turns running", ""),
    queue: new Plot("Messages waiting", ""),
    rate: new Plot("Turns per second", "", 1),
    median: new Plot("Turn latency, median", " ms", 1),
    slow: new Plot("Turn latency, 95 of 100", " ms", 1),
    lag: new Plot("Event loop lag", " ms", 1),
    threads: new Plot("Threads in use", ""),
    memory: new Plot("Memory", " MB", 0),
  };
  const facts = el("table", {}, el("tbody", {}));
  parts = { plots, facts };
  fill(view, el("div", { class: "stack" },
    el("div", { class: "plots" }, Object.values(plots).map((plot) => plot.element)),
    el("div", { class: "card" }, el("h2", {}, "The server"), facts)));
}

async function read() {
  try {
    const [text, health] = await Promise.all([getText("metrics"), get("health")]);
    const now = { at: performance.now(), samples: parse(text) };
    draw(now, health);
    before = now;
  } catch (error) {
    clearInterval(timer);
    notice(error.message);
  }
}

function draw({ at, samples }, health) {
  const { plots, facts } = parts;
  const latest = before ? { seconds: (at - before.at) / 1000, samples: before.samples } : null;
  plots.sessions.add(sum(samples, "greenroom_sessions"));
  plots.running.add(value(samples, "greenroom_sessions", { phase: "running" }) ?? 0);
  plots.queue.add(value(samples, "greenroom_queue_messages") ?? 0);
  plots.threads.add(value(samples, "greenroom_worker_threads_in_use") ?? 0);
  plots.memory.add((value(samples, "process_resident_memory_bytes") ?? 0) / 1e6);
  plots.lag.add((value(samples, "greenroom_loop_lag_recent_max_seconds") ?? 0) * 1000);
  if (latest) {
    const turns = sum(samples, "greenroom_turns_total") - sum(latest.samples, "greenroom_turns_total");
    plots.rate.add(turns / latest.seconds);
    for (const [plot, share] of [[plots.median, 0.5], [plots.slow, 0.95]]) {
      const seconds = quantile(samples, latest.samples, "greenroom_turn_duration_seconds", share);
      if (seconds !== null) plot.add(seconds * 1000);
    }
  }
  const rows = [["Status", health.status], ["Version", health.version], ["Running for", lasting(health.uptime_seconds)],
    ["Turns so far", sum(samples, "greenroom_turns_total")], ["Store commits", value(samples, "greenroom_store_commit_seconds_count") ?? 0],
    ["Open files", value(samples, "process_open_fds") ?? "–"]];
  fill(facts.tBodies[0], rows.map(([name, text]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, String(text)))));
}
