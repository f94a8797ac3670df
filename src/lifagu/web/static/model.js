// The model: its graph with what was borrowed, the lifted model, where each unknown table comes from, and somebody new.

import { announce, byId, counted, make, number, percent, renew, replace } from "./dom.js";
import { Figure } from "./figure.js";
import { everythingObserved, inWords, observe, observed } from "./observe.js";
import { complete } from "./search.js";
import { change, isDrawn, newest, on, request, state } from "./state.js";

const LEAST = 0.35; // figures beside one another are seen as a whole
const READABLE = 0.85;
const FEW = 10; // records that are shown at first
const STATUSES = { transferred: "filled", no_candidate: "no donor", ill_typed: "does not fit" };
let graph, lifted;
let variables = new Map(); // by the id of their node
let most = FEW; // records that are shown now

export function startModel() {
  graph = new Figure(byId("graph"), document.querySelector("[data-zooms=graph]"), {
    least: LEAST,
    onPick: (node) => (node.kind === "variable" ? observe(variables.get(node.id)) : showFactor(node.id)),
  });
  lifted = new Figure(byId("lifted"), document.querySelector("[data-zooms=lifted]"), { least: LEAST });
  byId("panel-model").append(
    make("section", { class: "block" }, make("h3", null, "Borrowed tables"), make("p", { id: "borrowed-summary", class: "summary" }), make("ul", { id: "borrowed", class: "records" })),
    addForm(),
  );
  on("model", clear);
  on("graph", showGraph);
  on("transfers", showTransfers);
  on("lifted", showLifted);
  on("evidence", showEvidence);
  byId("lifted-show").addEventListener("click", () => openLifted(byId("lifted-body").hidden));
}

// What was open before is gone while something else is loaded.
function clear() {
  variables = new Map();
  most = FEW;
  for (const figure of [graph, lifted]) figure.clear();
  for (const id of ["graph-note", "lifted-about", "lifted-legend", "lifted-words", "borrowed-summary"]) byId(id).textContent = "";
  replace(byId("borrowed"));
}

export async function loadGraph() {
  const found = await newest("graph", request());
  if (found) change({ graph: found });
  return Boolean(found);
}

// Of both, what is not there yet.
export function loadModel() {
  return Promise.all([state.transfers ? null : load("transfers"), state.lifted || byId("lifted-body").hidden ? null : load("lifted")]);
}

async function load(what) {
  const [asked, { model }] = [JSON.stringify(request()), state];
  const found = await newest(what, request());
  const isStill = model === state.model && asked === JSON.stringify(request());
  if (found && isStill) change({ [what]: found });
}

// ---- the two figures

// Where the graph cannot be read, the lifted model is computed and shown when somebody asks for it.
function openLifted(open) {
  byId("lifted-body").hidden = !open;
  byId("lifted-show").setAttribute("aria-expanded", String(open));
  byId("lifted-show").textContent = open ? "Hide" : "Show";
  document.querySelector("[data-zooms=lifted]").hidden = !open;
  if (open && !byId("panel-model").hidden) loadModel();
}

function showGraph() {
  const { scene, note } = state.graph;
  variables = new Map((state.graph.variables ?? []).map((each) => [each.id, each]));
  byId("graph-pane").hidden = !scene;
  byId("figures").classList.toggle("one", !scene);
  byId("lifted-show").hidden = Boolean(scene);
  byId("lifted-about").textContent = note;
  openLifted(Boolean(scene));
  if (!scene) return;
  byId("graph-note").textContent = `${counted(variables.size, "variable")}, ${counted(scene.nodes.length - variables.size, "factor")}`;
  graph.show(scene, describe);
  showEvidence();
}

// What a screen reader says of a node.
function describe(node) {
  const sort = node.kind === "variable" ? "variable" : node.unknown ? "unknown factor" : "factor";
  const seen = node.kind === "variable" ? observed(variables.get(node.id)?.name) : undefined;
  return [`${sort} ${node.label || node.title}`, seen !== undefined && `observed ${inWords(seen)}`].filter(Boolean).join(", ");
}

function showEvidence() {
  if (!isDrawn()) return;
  const all = everythingObserved();
  const seen = state.graph.variables.filter(({ name }) => name in all);
  graph.observe(new Map(seen.map(({ id, name }) => [id, inWords(all[name])])), describe);
}

function showLifted() {
  const { scene, text, summary } = state.lifted;
  byId("lifted-note").textContent = `In words: ${summary}`;
  byId("lifted-legend").textContent = scene.notes.join("; ");
  byId("lifted-words").textContent = text;
  lifted.least = isDrawn() ? LEAST : READABLE;
  lifted.show(scene);
}

// ---- what was borrowed

function showTransfers() {
  const { total, filled, classes, more_classes: more, loans } = state.transfers;
  byId("borrowed-summary").textContent =
    total === 0
      ? "Every table is known: there is nothing to fill."
      : `${number(filled)} of ${counted(total, "unknown factor")} filled, ${number(total - filled)} left.`;
  showRecords(classes, more);
  if (!isDrawn()) return;
  graph.arrows(loans);
  graph.mark("filled", loans.map(([receiver]) => receiver));
}

// The first ones, the others when they are asked for.
function showRecords(classes, more) {
  const left = classes.length - most;
  const all = () => {
    most = Infinity;
    showRecords(classes, more);
    byId("borrowed").children[FEW].focus();
  };
  renew(
    byId("borrowed"),
    classes.slice(0, most).map(record),
    left > 0 ? make("li", null, make("button", { type: "button", onclick: all }, `Show ${number(left)} more`)) : [],
    more && left <= 0 ? make("li", { class: "quiet" }, `… and ${number(more)} more`) : [],
  );
}

function record({ factor, factors, count, ids, status, takes, share, reason, owner }) {
  const names = factors.slice(0, 4).join(", ") + (count > 4 ? ` and ${number(count - 4)} more` : "");
  return make(
    "li",
    { class: `record ${status}`, "data-ids": ids.join(" "), "data-key": factor, tabindex: "0" },
    make("div", { class: "record-head" }, make("strong", null, names), make("span", { class: `status ${status}` }, STATUSES[status])),
    status === "transferred" ? make("p", null, "takes ", make("strong", null, takes), share === null ? "" : `, ${percent(share)} ${owner ? "likely" : "agree"}`) : null,
    make("p", { class: "reason" }, reason),
  );
}

// A square of the graph was picked: its record, or that it is known.
function showFactor(id) {
  const entry = document.querySelector(`#borrowed [data-ids~="${id}"]`);
  if (!entry) return announce("the table of this factor is known");
  entry.scrollIntoView({ block: "nearest" });
  entry.focus();
}

// ---- somebody new

function addForm() {
  const name = make("input", { id: "add-name", required: true, maxlength: 60, autocomplete: "off" });
  const like = make("input", { id: "add-like", required: true, list: "add-likes", autocomplete: "off" });
  like.addEventListener("input", () => suggest(like.value.trim()));
  on("model", ({ model }) => {
    like.value = "";
    byId("adding").hidden = !model.has_individuals;
  });
  return make(
    "form",
    {
      id: "adding",
      class: "block",
      onsubmit: (event) => {
        event.preventDefault();
        change({ add: [...state.add, [name.value.trim(), like.value.trim()]] });
        name.value = "";
      },
    },
    make("h3", null, "Somebody new"),
    make("p", { class: "quiet" }, "A new individual with the variables of another one; all tables unknown."),
    make(
      "div",
      { class: "row" },
      make("label", null, "Name", name),
      make("label", null, "like", like),
      make("datalist", { id: "add-likes" }),
      make("button", { type: "submit" }, "Add"),
    ),
  );
}

async function suggest(text) {
  if (!text) return;
  const found = await complete(text, "likes");
  if (!found) return;
  replace(
    byId("add-likes"),
    found.filter(({ kind }) => kind === "individual").map(({ name }) => make("option", { value: name })),
  );
}
