// One turn as a timeline that can be read: what was asked, what happened when, what came of it.

import { badge, el, fill, lasting } from "./dom.js";

const STATES = {
  running: ["running", "wait", true],
  completed: ["completed", "good", false],
  awaiting_user: ["waits for you", "wait", false],
  failed: ["failed", "bad", false],
  cancelled: ["cancelled", "bad", false],
};

export class TurnCard {
  constructor({ asked, kind = "", started = Date.now(), onStop = null, onRate = null }) {
    this.started = started;
    this.onRate = onRate;
    this.state = el("span", {});
    this.timeline = el("ol", { class: "timeline", "aria-live": "polite" });
    this.bar = el("progress", { hidden: true, "aria-label": "Progress" });
    this.answer = el("div", {});
    this.foot = el("div", { class: "row small quiet" });
    this.stop = onStop && el("button", { type: "button", class: "stop tiny", onclick: onStop }, "Stop");
    this.element = el("article", { class: "card turn", "aria-label": `Turn: ${asked}` },
      el("div", { class: "row apart" }, el("p", { class: "asked" }, asked), el("div", { class: "row" }, this.state, this.stop)),
      kind && el("p", { class: "quiet small" }, kind), this.timeline, this.bar, this.answer, this.foot);
    this.show("running");
  }

  show(state) {
    const [text, kind, live] = STATES[state] ?? [state, "", false];
    this.element.dataset.state = state;
    fill(this.state, badge(text, kind, live));
    if (this.stop) this.stop.hidden = state !== "running";
  }

  trace(event) {
    const asking = event.direction === "agent_to_workflow";
    const failed = event.success === false;
    const what = asking ? (event.raw_command ?? event.command_name ?? "…") : (event.command_name ?? "answer");
    const parameters = !asking && event.parameters ? readable(event.parameters) : "";
    this.add(asking ? "out" : failed ? "fail" : "back", event.timestamp, asking ? `→ ${what}` : `← ${what}${parameters}`,
      event.response_text);
  }

  step(message, done, total) {
    if (total) {
      this.bar.hidden = false;
      this.bar.max = total;
      this.bar.value = done;
    }
    if (message) this.add("step", Date.now(), message, null);
  }

  lost(count) {
    this.add("step", Date.now(), `${count} events were left out: this page could not keep up`, null);
  }

  add(kind, timestamp, what, said) {
    const seconds = Math.max(0, (timestamp - this.started) / 1000);
    this.timeline.append(el("li", { class: kind }, el("time", {}, `+${seconds.toFixed(2)} s`),
      el("div", {}, el("div", { class: "what" }, what), said && el("div", { class: "said" }, said))));
  }

  finish({ text = "", status = "completed", failed = false, milliseconds = null, turnId = null, feedback = null, candidates = [], onPick = null }) {
    this.bar.hidden = true;
    this.show(failed && status === "completed" ? "failed" : status);
    fill(this.answer, text && el("div", { class: failed ? "answer bad" : "answer" }, text),
      onPick && candidates.length > 0 && el("div", { class: "row" }, candidates.map((candidate) =>
        el("button", { type: "button", class: "plain tiny", title: candidate.description, onclick: () => onPick(candidate.name) }, candidate.name))));
    fill(this.foot, milliseconds !== null && el("span", {}, `took ${lasting(milliseconds / 1000)}`),
      turnId && el("span", { class: "mono" }, turnId), this.onRate && turnId && this.rating(turnId, feedback));
  }

  rating(turnId, feedback) {
    const words = el("input", { "aria-label": "What should have been different", placeholder: "Say more (optional)", class: "grow", value: feedback?.nl_feedback ?? "" });
    const score = feedback?.binary_or_numeric_score;
    const buttons = [[1, "Good"], [0, "Bad"]].map(([value, text]) =>
      el("button", { type: "button", class: "plain tiny", "aria-pressed": String(score !== undefined && score !== null && Number(score) === value),
        onclick: async (event) => {
          if (!await this.onRate(turnId, value, words.value.trim())) return;
          for (const button of buttons) button.setAttribute("aria-pressed", String(button === event.target));
          told.textContent = "Thank you, that is kept.";
        } }, text));
    const told = el("span", { role: "status" });
    return el("div", { class: "row grow" }, buttons, words, told);
  }
}

function readable(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  return given.length ? ` (${given.map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ")})` : "";
}
