// The overview: what the model is about, what is missing, where tables come from, how well it predicts, what to ask.

import { byId, counted, make, number, percent, replace } from "./dom.js";
import { aside, newest, on, request, state } from "./state.js";

let shown = null; // the model whose overview stands there
let asked = null; // for what, once for each model
let open = {}; // what leads elsewhere

export function startOverview(leads) {
  open = leads;
  replace(
    byId("panel-overview"),
    make("p", { id: "overview-summary", class: "summary" }),
    make("div", { id: "overview-warnings" }),
    make("section", { id: "overview-questions" }),
    make("section", { id: "overview-relations" }),
    make("section", { id: "overview-tables" }),
    make("section", { id: "overview-quality" }),
  );
  on("model", () => (shown = asked = null));
}

// What there is to say about the model, which nothing that is supposed changes.
export function findOverview() {
  asked ??= newest("overview", request());
  const mine = asked;
  mine.then((found) => !found && asked === mine && (asked = null)); // and may be asked for again
  return mine;
}

export async function loadOverview() {
  if (shown === state.model) return;
  const { model } = state;
  byId("overview-summary").textContent = `${readable(model.summary)}.`;
  for (const part of ["warnings", "questions", "relations", "tables", "quality"]) replace(byId(`overview-${part}`));
  const found = await findOverview();
  if (!found || shown === state.model || model !== state.model) return;
  shown = model;
  show(found);
}

function show(found) {
  const { relations, tables, questions, warnings, observed, can_check: canCheck, checked_at_once: atOnce } = found;
  const missing = relations.reduce((sum, each) => sum + each.missing, 0);
  byId("overview-summary").textContent = `${readable(state.model.summary)}; ${number(observed)} observed, ${number(missing)} to be predicted.`;
  replace(byId("overview-warnings"), warnings.length ? told(warnings) : []);
  replace(byId("overview-questions"), questions.length ? inQuestions(questions, relations) : []);
  replace(byId("overview-relations"), make("h3", null, "What it is about"), inRelations(relations));
  replace(byId("overview-tables"), make("h3", null, "Where tables come from"), inTables(tables));
  replace(byId("overview-quality"), canCheck ? quality() : []);
  if (atOnce) loadQuality();
}

const readable = (summary) => summary.replace(/\d+/g, (digits) => number(Number(digits)));

const told = (warnings) =>
  make(
    "details",
    { class: "warnings", open: warnings.length < 4 },
    make("summary", null, counted(warnings.length, "warning")),
    make(
      "ul",
      { class: "plain" },
      warnings.map((each) => make("li", null, each)),
    ),
  );

// A question names a variable, or a whole relation, which is a list.
function inQuestions(questions, relations) {
  const names = relations.map(({ name }) => name);
  const ask = (each) => (names.includes(each) ? open.relation(each) : open.question(each));
  const button = (each) => make("button", { type: "button", onclick: () => ask(each) }, each);
  return [
    make("h3", null, "Its own questions"),
    make(
      "ul",
      { class: "chips" },
      questions.map((each) => make("li", null, button(each))),
    ),
  ];
}

function inRelations(relations) {
  const head = ["Relation", "Of", "Values", "Observed", "Missing"];
  const row = ({ name, of, labels, total, observed, missing }) =>
    make(
      "tr",
      null,
      make(
        "th",
        { scope: "row" },
        name ? make("button", { type: "button", class: "link", onclick: () => open.relation(name) }, name) : "(no kind)",
      ),
      make("td", null, of.join(", ") || "–"),
      make("td", { class: "quiet" }, few(labels)),
      make("td", { class: "number" }, part(observed, total)),
      make("td", { class: "number" }, number(missing)),
    );
  return grid("Relations", head, relations.map(row));
}

const few = (labels) => labels.slice(0, 4).join(" · ") + (labels.length > 4 ? ` · … (${labels.length})` : "");

function part(observed, total) {
  const inner = make("span", { class: "fill" });
  inner.style.width = `${total ? (100 * observed) / total : 0}%`;
  return [make("span", { class: "bar", "aria-hidden": "true" }, inner), `${number(observed)} of ${number(total)}`];
}

function inTables(tables) {
  const head = ["Table", "About", "Comes from", "How many", "Unknown"];
  const row = ({ name, scope, source, count, unknown, records }) =>
    make(
      "tr",
      null,
      make("th", { scope: "row" }, name),
      make("td", { class: "quiet" }, scope || "–"),
      make("td", null, source, records ? make("small", null, ` (${between(records)})`) : ""),
      make("td", { class: "number" }, count ? number(count) : "–"),
      make(
        "td",
        { class: "number" },
        unknown ? make("button", { type: "button", class: "link", onclick: () => open.model() }, count ? number(unknown) : "all") : "–",
      ),
    );
  return grid("Tables", head, tables.map(row));
}

function between([least, most]) {
  const [from, to] = [Math.round(least), Math.round(most)];
  return from === to ? `${number(from)} records each` : `${number(from)} to ${number(to)} records each`;
}

export const grid = (label, head, rows) =>
  make(
    "div",
    { class: "scrolled", tabindex: "0", role: "region", "aria-label": label },
    make(
      "table",
      { class: "wide" },
      make("thead", null, make("tr", null, head.map((each) => make("th", { scope: "col" }, each)))),
      make("tbody", null, rows),
    ),
  );

const quality = () => [
  make("h3", null, "How well it predicts"),
  make(
    "div",
    { id: "quality" },
    make("p", { class: "quiet" }, "A fifth of what was observed is hidden, and predicted from the rest; the page can be used meanwhile."),
    make("button", { id: "check", type: "button", onclick: loadQuality }, "Check it"),
  ),
];

async function loadQuality() {
  byId("check").disabled = true;
  byId("check").textContent = "Being checked …";
  const found = await aside("check", request());
  if (found === undefined) return;
  if (found && byId("quality")) showQuality(found);
  else if (byId("check")) {
    byId("check").disabled = false;
    byId("check").textContent = "Check it";
  }
}

function showQuality({ judgement, hidden, log_loss: loss, accuracy, baseline, relations }) {
  const row = (name, each, scope) =>
    make(
      "tr",
      { class: scope },
      make("th", { scope: "row" }, name),
      make("td", { class: "number" }, number(each.hidden)),
      make("td", { class: "number" }, `${percent(each.accuracy)} (${percent(each.baseline.accuracy)})`),
      make("td", { class: "number" }, `${each.log_loss.toFixed(3)} (${each.baseline.log_loss.toFixed(3)})`),
    );
  const shown = Object.entries(relations).filter(([, each]) => each.log_loss !== null && each.accuracy !== null);
  const total = loss === null || accuracy === null ? [] : [row("all", { hidden, log_loss: loss, accuracy, baseline }, "total")];
  replace(
    byId("quality"),
    make("p", { id: "judgement", class: "summary" }, `In short: ${judgement}.`),
    grid(
      "Quality",
      ["Relation", "Hidden", "Right (by frequencies)", "Log loss (by frequencies)"],
      [...shown.map(([name, each]) => row(name, each, "")), ...total],
    ),
  );
}
