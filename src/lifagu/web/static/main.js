// Where everything begins: the tabs, what is loaded when something is opened or changed, and messages.

import { Refused, ask, cancel, start } from "./api.js";
import { chooseIndividual, refreshCard, startCard } from "./card.js";
import { announce, byId, make, replace } from "./dom.js";
import { startEvidence } from "./evidence.js";
import { chooseRelation, isListed, loadList, startList } from "./list.js";
import { askAbout, refreshAnswers, startAsk } from "./ask.js";
import { loadGraph, loadModel, startModel } from "./model.js";
import { startObserving } from "./observe.js";
import { loadOverview, startOverview } from "./overview.js";
import { compareScenarios } from "./scenarios.js";
import { startSearch } from "./search.js";
import { startPresses } from "./press.js";
import { busy, change, complain, forgive, isDrawn, on, state } from "./state.js";
import { startTheme } from "./theme.js";
import { startWelcome } from "./welcome.js";

const TABS = {
  overview: "Overview",
  card: "Individual",
  list: "List",
  ask: "Ask",
  model: "Model",
};
let tab = "overview";

function startTabs() {
  const names = Object.keys(TABS);
  replace(
    byId("tabs"),
    names.map((name) =>
      make(
        "button",
        {
          id: `tab-${name}`,
          type: "button",
          role: "tab",
          "aria-controls": `panel-${name}`,
          onclick: () => choose(name),
        },
        TABS[name],
      ),
    ),
  );
  byId("tabs").addEventListener("keydown", ({ key }) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    const next = by
      ? names[(names.indexOf(tab) + by + names.length) % names.length]
      : { Home: names[0], End: names[names.length - 1] }[key];
    if (!next) return;
    choose(next);
    byId(`tab-${next}`).focus();
  });
  show(tab);
}

function show(name) {
  tab = name;
  for (const each of Object.keys(TABS)) {
    byId(`tab-${each}`).setAttribute("aria-selected", String(each === name));
    byId(`tab-${each}`).tabIndex = each === name ? 0 : -1;
    byId(`panel-${each}`).hidden = each !== name;
  }
}

function choose(name) {
  show(name);
  return busy(loadTab());
}

// What only one tab shows is loaded when that tab is open.
async function loadTab() {
  if (tab === "overview") await loadOverview();
  if (tab === "card") await refreshCard();
  if (tab === "list") await loadList();
  if (tab === "ask") await refreshAnswers();
  if (tab === "model") await loadModel();
}

function opened(model) {
  const fresh = {
    combine: "average",
    engine: "auto",
    transfers: null,
    lifted: null,
    graph: null,
  };
  joined = model.add;
  silently({ ...fresh, model, add: model.add, evidence: {}, scenarios: {} });
  byId("title").textContent = model.title;
  document.title = `${model.title} – lifagu`;
  byId("another").hidden = false;
  showWelcome(false);
  show("overview");
  announce(`${model.title} is open: ${model.summary}`);
  refresh({ graph: true, filling: true }).then(prepare);
}

// Of a large model, what every card needs is computed while the overview is read.
async function prepare() {
  if (isDrawn() || !state.model.has_individuals) return;
  try {
    await ask(state.model.id, "prepare", {});
  } catch (error) {
    if (!(error instanceof Refused)) throw error; // what could not be is said where it is asked for
  }
}

let quiet = false;

// A change after which nothing is loaded.
function silently(values) {
  quiet = true;
  change(values);
  quiet = false;
}

const refresh = (what) => busy(load(what));

async function load({ graph, filling }) {
  forgive();
  if (graph && !(await loadGraph())) return false;
  if (filling) silently({ transfers: null, lifted: null }); // they are others when they are shown again
  await loadTab();
  return true;
}

function startRefreshing() {
  on("combine", () => quiet || refresh({ filling: true })); // reasons say what is used
  on("evidence engine", () => quiet || refresh({}));
  on("add", () => quiet || refreshAdded());
}

let joined = []; // who could be added

// Somebody who cannot be added is left out again.
async function refreshAdded() {
  const added = state.add;
  const isDone = await refresh({ graph: true, filling: true });
  if (isDone) joined = added;
  else if (state.add === added) silently({ add: joined });
}

function showWelcome(shown) {
  byId("welcome").hidden = !shown;
  byId("work").hidden = shown;
  byId("another").textContent = shown ? "Back" : "Open…";
  byId("main").focus();
}

// ---- from one place to another

function openCard(individual) {
  chooseIndividual(individual);
  choose("card");
}

async function openList(relation, value) {
  const { model } = state;
  const hasList = await isListed(relation);
  if (state.model !== model) return;
  if (!hasList) return askIt(relation);
  chooseRelation(relation, value);
  choose("list");
}

function askIt(question) {
  askAbout([question]);
  choose("ask");
}

async function showScenarios() {
  await choose("ask");
  await compareScenarios();
  byId("scenarios-part").scrollIntoView();
}

// What was found by searching.
function go({ kind, name, label }) {
  if (kind === "individual") openCard(name);
  else if (kind === "variable") askIt(name);
  else openList(name, label);
}

async function begin() {
  startTheme();
  startPresses();
  startModel();
  startOverview({ question: askIt, relation: openList, model: () => choose("model") });
  startCard();
  startList(openCard);
  startAsk();
  startEvidence(openCard);
  startTabs();
  startObserving(showScenarios);
  startSearch(go);
  startRefreshing();
  byId("cancel").addEventListener("click", cancel);
  byId("message-close").addEventListener("click", forgive);
  byId("another").addEventListener("click", () => showWelcome(byId("welcome").hidden));
  try {
    startWelcome(await start(), opened);
  } catch (error) {
    complain(error);
  }
}

begin();
