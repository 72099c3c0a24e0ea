// Small live plots: the last few minutes of a figure as a line, drawn by hand in SVG.

import { el, fill, svg } from "./dom.js";

const POINTS = 120;
const FEWEST = 15;

export class Plot {
  constructor(title, unit, digits = 0) {
    Object.assign(this, { title, unit, digits });
    this.values = [];
    this.now = el("strong", {}, "–");
    this.drawing = svg("svg", { viewBox: "0 0 120 40", preserveAspectRatio: "none", role: "img" });
    this.low = el("span", {}, "nothing to show yet");
    this.high = el("span", {});
    this.element = el("figure", { class: "card plot", "data-plot": title },
      el("figcaption", {}, el("span", {}, title), this.now), this.drawing,
      el("div", { class: "scale" }, this.low, this.high));
  }

  add(value) {
    if (value === null || Number.isNaN(value)) return;
    this.values.push(value);
    if (this.values.length > POINTS) this.values.shift();
    this.draw();
  }

  text(value) {
    return `${value.toFixed(this.digits)}${this.unit}`;
  }

  draw() {
    const top = Math.max(...this.values, 1e-9);
    // From the left while there are few, so that a young plot is one that can be read.
    const step = 120 / (Math.max(this.values.length, FEWEST) - 1);
    const points = this.values.map((value, index) => `${(index * step).toFixed(2)},${(38 - 34 * (value / top)).toFixed(2)}`);
    const end = ((this.values.length - 1) * step).toFixed(2);
    fill(this.drawing,
      svg("line", { class: "base", x1: 0, y1: 38, x2: 120, y2: 38 }),
      svg("polygon", { class: "area", points: `0,38 ${points.join(" ")} ${end},38` }),
      svg("polyline", { class: "line", points: points.join(" ") }));
    const last = this.text(this.values.at(-1));
    this.now.textContent = last;
    this.low.textContent = `${this.values.length} readings`;
    this.high.textContent = `highest ${this.text(Math.max(...this.values))}`;
    this.drawing.setAttribute("aria-label", `${this.title}: now ${last}, highest ${this.text(Math.max(...this.values))}`);
  }
}
