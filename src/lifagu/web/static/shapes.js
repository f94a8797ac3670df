// The shapes of a scene: ellipses, squares, lines and arrows.

import { draw } from "./dom.js";

const HIT = 17; // around a square there is room for a finger

export function head(id) {
  const settings = { id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto" };
  return draw("defs", null, draw("marker", settings, draw("path", { d: "M0 0 10 5 0 10z", class: "head" })));
}

export function edge(one, other, label, dotted) {
  return [
    draw("line", { class: dotted ? "edge dotted" : "edge", x1: one.x, y1: one.y, x2: other.x, y2: other.y }),
    label ? draw("text", { class: "outside", x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 }, label) : null,
  ];
}

export function variable({ x, y, width, height, label, caption }) {
  return [
    draw("ellipse", { class: "shape", cx: x, cy: y, rx: width / 2, ry: height / 2 }),
    draw("ellipse", { class: "ring", cx: x, cy: y, rx: width / 2 - 3.5, ry: height / 2 - 3.5 }),
    label ? draw("text", { x, y: caption ? y - 7 : y }, label) : null,
    caption ? draw("text", { class: "caption", x, y: y + 8 }, caption) : null,
    draw("text", { class: "outside seen", x, y: y + height / 2 + 9 }),
  ];
}

export function square({ x, y, width, height, label, unknown, stacked, below }) {
  const shifts = stacked ? [-4, 0, 4] : [0];
  const last = shifts[shifts.length - 1];
  const away = height / 2 + last + 9;
  return [
    draw("circle", { class: "hit", cx: x, cy: y, r: HIT }),
    shifts.map((shift) =>
      draw("rect", { class: "shape", x: x - width / 2 + shift, y: y - height / 2 + shift, width, height }),
    ),
    unknown ? draw("text", { class: "mystery", x: x + last, y: y + last }, "?") : null,
    label ? draw("text", { class: "outside", x, y: below ? y + away : y - away }, label) : null,
  ];
}

export function arrow(donor, receiver, head) {
  if (!donor || !receiver) return null;
  const [across, down] = [receiver.x - donor.x, receiver.y - donor.y];
  const length = Math.hypot(across, down) || 1;
  const bend = Math.min(0.16 * length, 60) / length;
  const [x, y] = [(donor.x + receiver.x) / 2 + down * bend, (donor.y + receiver.y) / 2 - across * bend];
  const away = ([px, py], gap) => {
    const whole = Math.hypot(x - px, y - py) || 1;
    return [px + ((x - px) * gap) / whole, py + ((y - py) * gap) / whole];
  };
  const [sx, sy] = away([donor.x, donor.y], 12);
  const [ex, ey] = away([receiver.x, receiver.y], 14);
  return draw("path", { class: "arrow", d: `M${sx} ${sy}Q${x} ${y} ${ex} ${ey}`, "marker-end": `url(#${head})` });
}
