// A scene as SVG that can be zoomed and walked through with the keyboard.

import { draw, make, replace } from "./dom.js";
import { arrow, edge, head, square, variable } from "./shapes.js";

const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

export class Figure {
  constructor(container, zooms, { onPick, least }) {
    Object.assign(this, { container, onPick, least, nodes: new Map(), scale: 1, scene: null });
    this.head = `${container.id}-head`;
    replace(
      zooms,
      [
        ["−", "Smaller", 1 / 1.25],
        ["⤢", "Fit", 0],
        ["+", "Larger", 1.25],
      ].map(([sign, label, factor]) =>
        make(
          "button",
          {
            type: "button",
            "aria-label": label,
            onclick: () => (factor ? this.zoom(this.scale * factor) : this.fit()),
          },
          sign,
        ),
      ),
    );
    new ResizeObserver(() => this.fitted && this.fit()).observe(container);
  }

  clear() {
    this.nodes.clear();
    Object.assign(this, { scene: null, svg: null });
    replace(this.container);
  }

  show(scene, describe) {
    this.scene = scene;
    this.nodes.clear();
    const places = new Map(scene.nodes.map((node) => [node.id, node]));
    const edges = scene.edges.map(({ source, target, label, dotted }) =>
      edge(places.get(source), places.get(target), label, dotted),
    );
    const nodes = scene.nodes.map((node) => this.node(node, describe));
    this.overlay = draw("g", { class: "arrows", "aria-hidden": "true" });
    this.svg = draw(
      "svg",
      { viewBox: `0 0 ${scene.width} ${scene.height}`, role: "group", "aria-label": scene.title, class: "scene" },
      head(this.head),
      draw("g", { "aria-hidden": "true" }, edges),
      nodes,
      this.overlay,
    );
    replace(this.container, this.svg);
    nodes[0]?.setAttribute("tabindex", "0");
    this.fit();
  }

  node(node, describe) {
    const shape = node.kind === "variable" ? variable(node) : square(node);
    const group = draw(
      "g",
      {
        class: `node ${node.kind}${node.unknown ? " unknown" : ""}${node.observed ? " observed" : ""}`,
        "data-node": node.id,
        tabindex: "-1",
        role: this.onPick ? "button" : "img",
        "aria-label": describe?.(node) ?? node.title,
        onclick: () => this.onPick?.(node),
        onkeydown: (event) => this.key(event, node),
      },
      draw("title", null, node.title),
      shape,
    );
    this.nodes.set(node.id, { node, group });
    return group;
  }

  key(event, node) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.onPick?.(node);
    }
    const way = ARROWS[event.key];
    if (!way) return;
    event.preventDefault();
    const next = nearest(node, this.scene.nodes, way);
    if (next) this.focus(next.id);
  }

  focus(id) {
    for (const { group } of this.nodes.values()) group.setAttribute("tabindex", "-1");
    const { group } = this.nodes.get(id);
    group.setAttribute("tabindex", "0");
    group.focus();
  }

  // evidence: id → label; describe: node → words
  observe(evidence, describe) {
    for (const [id, { node, group }] of this.nodes) {
      group.classList.toggle("observed", evidence.has(id));
      const words = group.querySelector(".seen");
      if (words) words.textContent = evidence.has(id) ? `= ${evidence.get(id)}` : "";
      group.setAttribute("aria-label", describe(node));
    }
  }

  mark(name, ids) {
    const marked = new Set(ids);
    for (const [id, { group }] of this.nodes) group.classList.toggle(name, marked.has(id));
  }

  arrows(pairs) {
    replace(
      this.overlay,
      pairs.map(([to, from]) => arrow(this.nodes.get(from)?.node, this.nodes.get(to)?.node, this.head)),
    );
  }

  fit() {
    if (!this.scene) return;
    const { clientWidth, clientHeight } = this.container;
    const whole = Math.min(clientWidth / this.scene.width, clientHeight / this.scene.height);
    this.zoom(Math.min(Math.max(whole, this.least), 1.4));
    this.fitted = true;
  }

  // Moves what is seen, so that these are in the middle of it.
  centre(ids) {
    const places = ids.map((id) => this.nodes.get(id).node);
    const middle = (axis) => (this.scale * places.reduce((sum, each) => sum + each[axis], 0)) / places.length;
    const { clientWidth, clientHeight } = this.container;
    this.container.scrollTo(middle("x") - clientWidth / 2, middle("y") - clientHeight / 2);
  }

  zoom(scale) {
    if (!this.scene) return;
    this.fitted = false;
    this.scale = Math.min(Math.max(scale, 0.1), 4);
    this.svg?.setAttribute("width", this.scene.width * this.scale);
    this.svg?.setAttribute("height", this.scene.height * this.scale);
  }
}

function nearest(from, nodes, [right, down]) {
  let [best, least] = [null, Infinity];
  for (const node of nodes) {
    const [across, below] = [node.x - from.x, node.y - from.y];
    const forward = across * right + below * down;
    const aside = Math.abs(across * down) + Math.abs(below * right);
    const cost = forward + 2.5 * aside;
    if (forward > 1 && cost < least) [best, least] = [node, cost];
  }
  return best;
}
