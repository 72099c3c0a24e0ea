// Prometheus' text format, as far as it is needed for plots.

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

export function parse(text) {
  const samples = new Map();
  for (const line of text.split("\n")) {
    if (!line || line.startsWith("#")) continue;
    const found = LINE.exec(line);
    if (!found) continue;
    const labels = Object.fromEntries([...(found[2] ?? "").matchAll(LABEL)].map((each) => [each[1], each[2]]));
    if (!samples.has(found[1])) samples.set(found[1], []);
    samples.get(found[1]).push({ labels, value: Number(found[3].replace("Inf", "Infinity")) });
  }
  return samples;
}

export function sum(samples, name) {
  return (samples.get(name) ?? []).reduce((total, each) => total + each.value, 0);
}

export function value(samples, name, labels = {}) {
  const found = (samples.get(name) ?? []).find((each) => Object.entries(labels).every(([key, wanted]) => each.labels[key] === wanted));
  return found ? found.value : null;
}

// A quantile of what a histogram counted since an earlier reading, over all of its labels; null if there was nothing.
export function quantile(now, earlier, name, share) {
  const counts = new Map();
  for (const [samples, sign] of [[now, 1], [earlier, -1]]) {
    for (const { labels, value: count } of samples.get(`${name}_bucket`) ?? []) {
      const bound = Number(labels.le.replace("Inf", "Infinity"));
      counts.set(bound, (counts.get(bound) ?? 0) + sign * count);
    }
  }
  const bounds = [...counts.keys()].sort((a, b) => a - b);
  const total = counts.get(Infinity) ?? 0;
  if (total <= 0) return null;
  let low = 0;
  let below = 0;
  for (const bound of bounds) {
    if (counts.get(bound) >= share * total) {
      if (bound === Infinity) return low;
      const inside = counts.get(bound) - below;
      return low + (bound - low) * (inside ? (share * total - below) / inside : 0);
    }
    low = bound;
    below = counts.get(bound);
  }
  return low;
}
