// The two figures side by side: the graph, and the lifted model, each lighting up what belongs together in the other.

import { byId, counted, number } from "./dom.js";
import { Figure } from "./figure.js";
import { everythingObserved, inWords, observe, observed } from "./observe.js";
import { change, isDrawn, newest, on, request, state } from "./state.js";

const LEAST = 0.35; // figures beside one another are seen as a whole
const READABLE = 0.85;
const signs = { v: (group) => `${group + 1}`, f: letters };
let graph, lifted;
let variables = new Map(); // by the id of their node
let painted = new Map(); // id of a node → its group and sign now
let standsFor = new Map(); // id of a node of the graph → those of the lifted model that stand for it

function letters(group) {
  const last = String.fromCharCode(97 + (group % 26));
  return group < 26 ? last : letters(Math.floor(group / 26) - 1) + last;
}

export function startPanes(pickFactor) {
  graph = new Figure(byId("graph"), document.querySelector("[data-zooms=graph]"), {
    least: LEAST,
    onPick: (node) => (node.kind === "variable" ? observe(variables.get(node.id)) : pickFactor(node.id)),
    onPoint: (node) => lifted.light(node ? standsFor.get(node.id) : []),
  });
  lifted = new Figure(byId("lifted"), document.querySelector("[data-zooms=lifted]"), {
    least: LEAST,
    onPoint: (node) => light(node ? node.members : []),
  });
  on("model", clear);
  on("graph", showGraph);
  on("transfers", showTransfers);
  on("colours round", paint);
  on("lifted", showLifted);
  on("evidence", showEvidence);
  byId("lifted-show").addEventListener("click", () => openLifted(byId("lifted-body").hidden));
}

// What was open before is gone while something else is loaded.
function clear() {
  variables = painted = standsFor = new Map();
  for (const figure of [graph, lifted]) figure.clear();
  for (const id of ["graph-note", "graph-words", "lifted-about", "lifted-legend", "lifted-words"]) byId(id).textContent = "";
}

// Where the graph cannot be read, the lifted model is computed and shown when somebody asks for it.
function openLifted(open) {
  byId("lifted-body").hidden = !open;
  byId("lifted-show").setAttribute("aria-expanded", String(open));
  byId("lifted-show").textContent = open ? "Hide" : "Show";
  document.querySelector("[data-zooms=lifted]").hidden = !open;
  if (open && !state.lifted) loadLifted();
}

export const wantsLifted = () => !byId("lifted-body").hidden;

export const light = (ids) => isDrawn() && graph.light(ids);

export async function loadGraph() {
  const found = await newest("graph", request());
  if (found) change({ graph: found });
  return Boolean(found);
}

export async function loadLifted() {
  const found = await newest("lifted", request());
  if (found) change({ lifted: found });
}

function showGraph() {
  const { scene, note } = state.graph;
  variables = new Map((state.graph.variables ?? []).map((each) => [each.id, each]));
  painted = new Map();
  byId("work").classList.toggle("large", !scene);
  if (scene) byId("work").prepend(byId("figures"));
  else byId("work").append(byId("figures"));
  byId("graph-pane").hidden = !scene;
  byId("lifted-show").hidden = Boolean(scene);
  byId("lifted-about").textContent = scene ? "" : note;
  if (Boolean(scene) !== wantsLifted()) openLifted(Boolean(scene));
  byId("graph-note").textContent = scene
    ? `${counted(variables.size, "variable")}, ${counted(scene.nodes.length - variables.size, "factor")}`
    : "";
  byId("graph-words").textContent = scene
    ? "Click an ellipse to observe it, a square to see where its table comes from."
    : "";
  if (scene) graph.show(scene, describe);
  showEvidence();
}

// What a screen reader says of a node.
function describe(node) {
  const sort = node.kind === "variable" ? "variable" : node.unknown ? "unknown factor" : "factor";
  const group = painted.get(node.id);
  const seen = node.kind === "variable" ? observed(variables.get(node.id)?.name) : undefined;
  const name = node.label || node.title;
  return [`${sort} ${name}`, group && `group ${group.sign}`, seen !== undefined && `observed ${inWords(seen)}`]
    .filter(Boolean)
    .join(", ");
}

function showEvidence() {
  if (!isDrawn()) return;
  const all = everythingObserved();
  const seen = state.graph.variables.filter(({ name }) => name in all);
  graph.observe(new Map(seen.map(({ id, name }) => [id, inWords(all[name])])), describe);
}

function showTransfers() {
  if (!isDrawn() || !state.transfers) return;
  graph.arrows(state.transfers.loans);
  graph.mark(
    "filled",
    state.transfers.loans.map(([receiver]) => receiver),
  );
}

function colours() {
  const round = state.colours?.rounds[state.round];
  const found = new Map();
  for (const [letter, list] of [
    ["v", round?.variables ?? []],
    ["f", round?.factors ?? []],
  ]) {
    list.forEach((group, place) =>
      found.set(`${letter}${place}`, { group: letter === "f" ? group + 4 : group, sign: signs[letter](group) }),
    );
  }
  return found;
}

function paint() {
  if (!isDrawn()) return;
  painted = colours();
  graph.paint(painted);
  showEvidence();
  if (!state.lifted) return;
  const last = state.round === state.colours.rounds.length - 1;
  lifted.paint(last ? new Map(state.lifted.scene.nodes.map(({ id, members }) => [id, painted.get(members[0])])) : null);
}

// The wider figure gets more of the screen.
function share(scene) {
  if (!isDrawn()) return;
  const graphs = state.graph.scene.width / (state.graph.scene.width + scene.width);
  const part = Math.min(Math.max(graphs, 0.5), 0.68);
  byId("work").style.setProperty("--graph", `${part}fr`);
  byId("work").style.setProperty("--lifted", `${1 - part}fr`);
}

function showLifted() {
  const { scene, text, summary } = state.lifted;
  standsFor = new Map();
  for (const { id, members } of scene.nodes) {
    for (const each of members) standsFor.set(each, [...(standsFor.get(each) ?? []), id]);
  }
  byId("lifted-note").textContent = `In words: ${summary}`;
  byId("lifted-legend").textContent = scene.notes.join("; ");
  byId("lifted-words").textContent = text;
  lifted.least = isDrawn() ? LEAST : READABLE;
  lifted.show(
    scene,
    (node) => `${node.title}${node.members.length ? `; stands for ${number(node.members.length)}` : ""}`,
  );
  share(scene);
  if (!isDrawn())
    lifted.paint(
      new Map(scene.nodes.filter(({ group }) => group >= 0).map(({ id, group }) => [id, { group, sign: "" }])),
    );
  else if (state.colours?.rounds.length) paint();
}
