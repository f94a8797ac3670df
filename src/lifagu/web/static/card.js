// One individual's card: known, filled and predicted, whom it is like, what is around it, and what if.

import { announce, byId, counted, make, number, percent, renew, replace } from "./dom.js";
import { Figure } from "./figure.js";
import { restore, suppose } from "./observe.js";
import { complete } from "./search.js";
import { change, forgive, newest, on, request, state } from "./state.js";

let around = null; // the figure
let opened = []; // variables around which more is shown
const NOTHING_USUAL = { key: null, probabilities: new Map() };
let usual = NOTHING_USUAL; // answers with nothing supposed, by variable
let shown = null; // the individual whose card stands there
let answered = null; // the request that this card answers
let predictions = []; // the variables that it predicts
let chosen = 0; // how often somebody was chosen
let turns = 0; // only the newest card is shown, whatever comes after it

export function startCard() {
  replace(
    byId("panel-card"),
    make(
      "form",
      { id: "looking-up", class: "row", onsubmit: lookUp },
      make(
        "label",
        null,
        "Whom to show",
        make("input", { id: "card-name", autocomplete: "off", required: true, placeholder: "a name" }),
      ),
      make("button", { type: "submit" }, "Show"),
    ),
    make("div", { id: "card" }),
    make(
      "section",
      { id: "around-pane", hidden: true },
      make(
        "div",
        { class: "around-head" },
        make("h3", { id: "around-title" }, "Around it"),
        make("div", { class: "zoom", role: "group", "aria-label": "Zoom what is around it", "data-zooms": "around" }),
      ),
      make("p", { id: "around-note", class: "quiet" }),
      make("div", { id: "around", class: "canvas" }),
    ),
  );
  around = new Figure(byId("around"), document.querySelector("[data-zooms=around]"), { least: 0.85, onPick: pick });
  on("model", () => {
    change({ individual: null });
    shown = answered = null;
    predictions = [];
    turns++;
    byId("card-name").value = "";
    replace(byId("card"), make("p", { class: "quiet" }, hint()));
    byId("around-pane").hidden = true;
    byId("looking-up").hidden = !state.model.has_individuals;
  });
}

// What the open card predicts.
export const predictedOnCard = () => predictions;

const hint = () =>
  state.model.has_individuals
    ? "Name an individual, or search for one above, to see all that is known and expected of it."
    : "This model names no individuals; ask about its variables instead.";

async function lookUp(event) {
  event.preventDefault();
  const [text, before] = [byId("card-name").value.trim(), chosen];
  const found = await complete(text, "whom");
  if (!found || chosen !== before) return; // somebody else was chosen meanwhile
  showIndividual(found.find((each) => each.kind === "individual")?.name ?? text);
}

function showIndividual(name) {
  chooseIndividual(name);
  return refreshCard();
}

export function chooseIndividual(name) {
  chosen++;
  forgive();
  opened = [];
  change({ individual: name });
  byId("card-name").value = name;
}

export async function refreshCard() {
  if (state.individual === null) return;
  const body = request({ what: state.individual });
  const key = JSON.stringify([state.model.id, body]);
  if (key === answered) return;
  answered = null;
  const turn = ++turns;
  const isNewest = () => turn === turns;
  const [found] = await Promise.all([newest("card", body), loadAround()]);
  if (found === null && isNewest()) state.individual = shown; // whose card is still there
  if (!found || !isNewest()) return;
  const before = await findUsual(found, body);
  if (!isNewest()) return;
  usual = before;
  show(found);
  answered = key;
}

// What was expected before anything was supposed, to show by how much each answer moved.
async function findUsual(found, body) {
  const { evidence, ...rest } = body;
  const key = JSON.stringify([state.model.id, rest]);
  if (!Object.keys(evidence).length) return { key, probabilities: byVariable(found) };
  if (usual.key === key) return usual;
  const before = await newest("card", { ...body, evidence: {} }, "card before");
  return before ? { key, probabilities: byVariable(before) } : NOTHING_USUAL;
}

const byVariable = ({ predicted, known }) =>
  new Map([
    ...predicted.map(({ variable, labels, probabilities }) => [
      variable,
      new Map(labels.map((label, place) => [label, probabilities[place]])),
    ]),
    ...known.filter(({ certain }) => certain).map(({ variable, value }) => [variable, new Map([[value, 1]])]),
  ]);

function show(found) {
  const { individual, domain, known, predicted, filled, filled_count: filledCount, alike, why, links, notes } = found;
  const isNew = shown !== individual;
  shown = individual;
  predictions = predicted.map(({ variable }) => variable);
  renew(
    byId("card"),
    make(
      "div",
      { class: "card-head" },
      make("h3", { id: "card-title", tabindex: "-1" }, individual),
      make("p", { class: "quiet" }, [domain, ...links.map(linked)].filter(Boolean).join(" · ")),
    ),
    column(
      block("Known", known.length ? make("div", { class: "facts" }, known.map(fact)) : nothing("Nothing was observed."), more(found.more_known)),
      filledCount ? block(`Filled tables: ${number(filledCount)}`, filled.map(hole), more([], filledCount - filled.length)) : [],
    ),
    column(
      block(
        "Predicted",
        predicted.length ? predicted.map(expected) : nothing("Nothing is left to predict."),
        more(found.more_predicted),
        restsOn(predicted),
      ),
      why.length ? block("Why", why.map(reason)) : [],
    ),
    column(alike.length ? block("Like", alike.map(likeness)) : []),
    notes.map((each) => make("p", { class: "quiet" }, each)),
  );
  if (isNew) {
    announce(`${individual}: ${counted(known.length, "fact")} known, ${predicted.length} predicted`);
    byId("card-title").focus();
  }
}

const column = (...blocks) => make("div", { class: "card-column" }, blocks);

const block = (title, ...parts) => make("section", { class: "block" }, make("h4", null, title), parts);

const nothing = (text) => make("p", { class: "quiet" }, text);

const more = (left, count = 0) =>
  count > 0 || left.length || Object.keys(left).length
    ? make("p", { class: "quiet" }, `and ${[...Object.entries(left).map(([name, many]) => `${number(many)} more of ${name}`), ...(count > 0 ? [`${number(count)} more`] : [])].join(", ")}`)
    : [];

function linked({ by, sort, count, names }) {
  const list = names.slice(0, 4).join(", ") + (count > names.slice(0, 4).length ? ` and ${number(count - Math.min(names.length, 4))} more` : "");
  if (sort === "group") return `${by} ${names[0]}, with ${counted(count, "other")}`;
  return sort === "shared" ? `${by}: ${list}, shared` : `${by}: ${list}`;
}

const titled = ({ relation, others, count }) =>
  `${relation}${others.length ? ` (${others.join(", ")})` : ""}${count > 1 ? ` × ${number(count)}` : ""}`;

function fact(known) {
  const { variable, value, certain, share, observed: many, count } = known;
  const changed = variable in state.evidence;
  const usualShare = share === null ? "" : `so are ${percent(share)} of ${number(many)} observed`;
  return make(
    "div",
    { class: `fact${changed ? " changed" : ""}`, "data-variable": variable, "data-key": variable },
    make("span", { class: "fact-name" }, titled(known)),
    make("strong", null, certain ? value : `probably ${value}`),
    count > 1 ? make("span") : whatIf(variable, changed),
    make("span", { class: "quiet" }, usualShare),
  );
}

const whatIf = (variable, changed) =>
  make(
    "span",
    { class: "what-if" },
    changed
      ? make("button", { type: "button", "data-key": `${variable} back`, onclick: () => restore(variable) }, "as it was")
      : make(
          "button",
          { type: "button", "data-key": `${variable} back`, title: `As if ${variable} had not been observed`, onclick: () => suppose(variable, null) },
          "what if unknown?",
        ),
  );

function expected(predicted) {
  const { variable, labels, probabilities, usual: elsewhere, warnings, guess, no_answer: none, count } = predicted;
  const before = usual.probabilities.get(variable);
  const supposedUnknown = state.evidence[variable] === null;
  return make(
    "div",
    { class: "expected", "data-variable": variable, "data-key": variable },
    make(
      "div",
      { class: "expected-head" },
      make("strong", null, titled(predicted)),
      elsewhere.length ? make("span", { class: "quiet" }, `usually ${labels[0]}: ${percent(elsewhere[0])}`) : [],
      guess && !none ? make("span", { class: "status" }, "hardly better than a guess") : [],
      supposedUnknown ? whatIf(variable, true) : [],
    ),
    none ? make("p", { class: "doubt" }, none) : labels.map((label, place) => value(variable, label, probabilities[place], elsewhere[place], before, count)),
    warnings.map((each) => make("p", { class: "doubt" }, `Warning: ${each}`)),
  );
}

// What all of them rest on, said once.
function restsOn(predicted) {
  const most = Math.max(0, ...predicted.map((each) => each.rests_on));
  const weakest = Math.min(...predicted.map((each) => each.weakest_share ?? 1));
  return most ? make("p", { class: "quiet" }, `rests on ${counted(most, "lent table")}, weakest share ${percent(weakest)}`) : [];
}

function value(variable, label, probability, elsewhere, before, count) {
  const inner = make("span", { class: "fill" });
  inner.style.width = `${100 * probability}%`;
  const mark = elsewhere === undefined ? [] : make("span", { class: "mark" });
  if (elsewhere !== undefined) mark.style.left = `${100 * elsewhere}%`;
  const moved = before && Object.keys(state.evidence).length ? probability - (before.get(label) ?? 0) : 0;
  const points = `${moved > 0 ? "+" : "−"}${Math.abs(100 * moved).toFixed(1)}`;
  const note = elsewhere === undefined ? "" : `; usually ${percent(elsewhere)}`;
  const content = [
    make("span", { class: "label" }, label),
    make("span", { class: "bar", "aria-hidden": "true" }, inner, mark),
    make("span", { class: "figure" }, percent(probability)),
    make("span", { class: "moved" }, Math.abs(moved) >= 0.0005 ? points : ""),
  ];
  if (count > 1) return make("div", { class: "value with-move" }, content);
  return make(
    "button",
    {
      type: "button",
      class: "value with-move",
      "data-key": `${variable} ${label}`,
      title: `What if ${variable} were ${label}?${note}`,
      onclick: () => suppose(variable, label),
    },
    content,
  );
}

function reason({ variable, value: label, probability, observations, tables }) {
  const told = observations
    .filter(({ without }) => Math.abs(without - probability) >= 0.005)
    .map(({ variable: name, value: seen, without }) => make("li", null, `without ${name} = ${seen} it would be ${percent(without)}`));
  const learned = tables.map(({ table, group, records }) =>
    make("li", null, `${table}: learned from ${counted(Math.round(records), "record")}${group ? ` of ${group}` : ""}`),
  );
  return make(
    "details",
    { "data-key": `why ${variable}` },
    make("summary", null, `${variable} is ${label} with ${percent(probability)}`),
    make("ul", { class: "plain" }, told, learned),
  );
}

function hole({ factor, status, takes, reason: why, share, guess, told }) {
  return make(
    "details",
    { "data-key": `hole ${factor}` },
    make(
      "summary",
      null,
      status === "transferred" ? `${factor} takes ${takes}` : `${factor} stays unknown`,
      share === null ? "" : ` (${percent(share)})`,
      guess ? make("span", { class: "status" }, "hardly better than a guess") : [],
    ),
    make("p", { class: "reason" }, why),
    told?.text ? make("p", { class: "reason explanation" }, told.text) : [],
  );
}

function likeness({ measure, nearest, as_near: asNear }) {
  return make(
    "div",
    { class: "likeness" },
    make("p", { class: "quiet" }, `by ${measure}`),
    make(
      "ul",
      { class: "plain" },
      nearest.map(({ individual, likeness: how, same, differs }) =>
        make(
          "li",
          null,
          make("button", { type: "button", class: "link", onclick: () => showIndividual(individual) }, individual),
          ` ${percent(Math.min(how, 1))}`,
          same.length ? make("span", { class: "quiet" }, ` same ${same.join(", ")}`) : [],
          differs.length ? make("span", { class: "quiet" }, ` differs in ${differs.join(", ")}`) : [],
        ),
      ),
    ),
    asNear > nearest.length ? make("p", { class: "quiet" }, `${number(asNear)} are as near as the first`) : [],
  );
}

// ---- what is around it

const SHORT = new Intl.NumberFormat("en", { notation: "compact" });
let variables = new Map();

async function loadAround() {
  const found = await newest("around", request({ what: state.individual, variables: opened }));
  if (found === undefined) return;
  byId("around-pane").hidden = !found?.scene;
  if (!found?.scene) return;
  variables = new Map(found.variables.map((each) => [each.id, each]));
  const scene = { ...found.scene, nodes: found.scene.nodes.map(withMore) };
  byId("around").style.height = `min(${Math.round(scene.height) + 2}px, 70vh)`; // with its borders
  around.show(scene, describe);
  const own = found.variables.filter(({ central }) => central).map(({ id }) => id);
  around.mark("central", own);
  around.centre(own);
  around.observe(new Map(found.variables.filter(({ observed }) => observed !== null).map(({ id, observed }) => [id, observed])), describe);
  const isShared = ({ name, more: many, individuals, central }) =>
    many > 0 && (central || !individuals.length) && !opened.includes(name);
  const hubs = found.variables.filter(isShared).map(({ name }) => name);
  byId("around-title").textContent = `Around ${state.individual}`;
  const others = found.variables.some(({ central, individuals }) => !central && individuals.length);
  byId("around-note").textContent = [
    "Two steps of the graph.",
    others ? "Click somebody else to go there." : "",
    hubs.length ? `Click ${hubs.slice(0, 3).join(" or ")} to see more of what it leads to.` : "",
  ].join(" ");
}

const withMore = (node) => {
  const many = variables.get(node.id)?.more;
  if (!many) return node;
  const [caption, title] = [`+ ${SHORT.format(many)}`, `${node.title}, ${number(many)} more factors`];
  return { ...node, caption, title, height: node.height + 8, width: Math.max(node.width, 60) };
};

function describe(node) {
  const variable = variables.get(node.id);
  if (!variable) return `factor ${node.label || node.title}`;
  return [`variable ${variable.name}`, variable.observed !== null && `observed ${variable.observed}`, variable.more && `${number(variable.more)} more factors`]
    .filter(Boolean)
    .join(", ");
}

function pick(node) {
  const variable = variables.get(node.id);
  if (!variable) return;
  const other = variable.individuals.find((each) => each !== shown);
  if (other && !variable.central) showIndividual(other);
  else if (variable.more > 0 && !opened.includes(variable.name)) {
    opened = [...opened, variable.name];
    loadAround();
  }
}
