// Where everything begins: the tabs, what is loaded when something is opened or changed, and messages.

import { Refused, ask, cancel, start } from "./api.js";
import { chooseIndividual, refreshCard, startCard } from "./card.js";
import { loadCohorts, startCohorts } from "./cohorts.js";
import { loadColours, startColours } from "./colours.js";
import { loadCompare, startCompare } from "./compare.js";
import { announce, byId, make, replace } from "./dom.js";
import { loadTransfers, showFactor, startHoles } from "./holes.js";
import { startEvidence } from "./evidence.js";
import { startKeep } from "./keep.js";
import { chooseRelation, isListed, loadList, startList } from "./list.js";
import { askAbout, refreshAnswers, startAsk } from "./ask.js";
import { startObserving } from "./observe.js";
import { loadOverview, startOverview } from "./overview.js";
import { loadGraph, loadLifted, startPanes, wantsLifted } from "./panes.js";
import { compareScenarios } from "./scenarios.js";
import { startSearch } from "./search.js";
import { startPresses } from "./press.js";
import { busy, change, complain, forgive, isDrawn, on, request, state } from "./state.js";
import { startTheme } from "./theme.js";
import { startWelcome } from "./welcome.js";

const TABS = {
  overview: "Overview",
  card: "Individual",
  list: "List",
  ask: "Ask",
  holes: "Holes",
  compare: "Compare",
  colours: "Colours",
  keep: "Keep",
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
  byId("work").dataset.tab = name;
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
  if (tab === "holes") await Promise.all([isDrawn() ? null : loadTransfers(), loadCohorts()]);
  if (tab === "colours" && !isDrawn()) await loadColours();
  if (tab === "ask") await refreshAnswers();
  if (tab === "compare") await loadCompare();
}

function opened(model) {
  const fresh = {
    theta: 0,
    method: "auto",
    steps: 4,
    unknown: "posterior",
    engine: "auto",
    transfers: null,
    colours: null,
    round: 0,
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

// Of a large model, what every card and the colours need is computed while the overview is read, one
// after the other, so that a question in between is answered in between.
async function prepare() {
  if (isDrawn() || !state.model.has_individuals) return;
  const { id } = state.model;
  try {
    await ask(id, "prepare", {});
    await ask(id, "prepare", request({ what: "colours" }));
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
  const loads = [];
  if (filling && isDrawn()) loads.push(loadTransfers());
  if (filling && wantsLifted()) loads.push(loadLifted());
  else if (filling) silently({ lifted: null }); // it is another one when it is shown again
  if (isDrawn()) loads.push(loadColours());
  await Promise.all([...loads, loadTab()]);
  return true;
}

function startRefreshing() {
  on("theta method steps unknown", () => quiet || refresh({ filling: true })); // reasons say what is used
  on("evidence engine", () => quiet || refresh({ filling: state.method === "published" }));
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

function pickFactor(id) {
  choose("holes");
  showFactor(id);
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
  startPanes(pickFactor);
  startOverview({ question: askIt, relation: openList, holes: () => choose("holes") });
  startCard();
  startList(openCard);
  startAsk();
  startEvidence(openCard);
  startHoles();
  startCohorts(openCard);
  startCompare();
  startColours();
  startKeep();
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
