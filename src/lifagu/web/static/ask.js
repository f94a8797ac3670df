// Questions: evidence beside bars, the plan and its cost, and answers that move when something is observed.

import { filterBars, showBars } from "./bars.js";
import { predictedOnCard } from "./card.js";
import { announce, byId, counted, make, number, replace } from "./dom.js";
import { evidenceTable } from "./evidence.js";
import { suppose } from "./observe.js";
import { scenariosPart, startScenarios } from "./scenarios.js";
import { change, isDrawn, newest, on, request, state } from "./state.js";

const WAYS = {
  average: "all, as observations tell",
  best: "the best one of each",
};
const ENGINES = {
  auto: "the best exact one",
  lifted: "lifted",
  ground: "ground",
  bp: "belief propagation",
};

const choice = (id, label, values, topic) =>
  make(
    "label",
    { class: "choice" },
    label,
    make(
      "select",
      { id, onchange: (event) => change({ [topic]: event.target.value }) },
      Object.entries(values).map(([value, text]) => make("option", { value }, text)),
    ),
  );

export function startAsk() {
  replace(
    byId("panel-ask"),
    make(
      "div",
      { class: "row" },
      choice("combine", "Competing tables", WAYS, "combine"),
      choice("engine", "Engine", ENGINES, "engine"),
    ),
    make(
      "form",
      { id: "naming", class: "row", onsubmit: named },
      make(
        "label",
        null,
        "Variables to ask about",
        make("input", { id: "names", autocomplete: "off", placeholder: "all; or names, separated by ;" }),
      ),
      make("button", { type: "submit" }, "Ask"),
    ),
    make(
      "form",
      { id: "observing", class: "row", onsubmit: observed },
      make(
        "label",
        null,
        "Observe",
        make("input", { id: "seen-name", autocomplete: "off", required: true, placeholder: "variable" }),
      ),
      make(
        "label",
        null,
        "as",
        make("input", { id: "seen-value", autocomplete: "off", required: true, placeholder: "value" }),
      ),
      make("button", { type: "submit" }, "Set"),
    ),
    make(
      "label",
      { class: "check" },
      make("input", { id: "at-once", type: "checkbox", checked: true, onchange: () => refreshAnswers() }),
      "Answer at once; else show the plan first",
    ),
    evidenceTable(),
    make(
      "details",
      { id: "planned", class: "plan" },
      make("summary", null, "Plan and cost: ", make("span", { id: "plan-head" })),
      make("pre", { id: "plan", tabindex: "0" }),
    ),
    make("button", { id: "run", type: "button", hidden: true, onclick: () => loadAnswers() }, "Run it"),
    make("p", { id: "answers-note", class: "summary" }),
    make(
      "label",
      { id: "filtering", class: "filter", hidden: true },
      "Show",
      make("input", {
        id: "filter",
        type: "search",
        autocomplete: "off",
        placeholder: "names with …",
        oninput: filterBars,
      }),
    ),
    make("div", { id: "answers", class: "answers" }),
    scenariosPart(),
  );
  startScenarios(() => names() ?? (isDrawn() ? state.graph.variables.map((each) => each.name).slice(0, 20) : predictedOnCard()));
  on("graph", () => {
    byId("at-once").checked = isDrawn();
    byId("observing").hidden = isDrawn();
  });
  on("model combine engine", () => {
    byId("combine").value = state.combine;
    byId("engine").value = state.engine;
  });
  on("model", () => {
    byId("names").value = "";
    showPlan("");
    byId("answers-note").textContent = "";
    byId("filtering").hidden = byId("run").hidden = true;
    byId("run").disabled = false;
    replace(byId("answers"));
  });
}

const names = () => {
  const given = byId("names")
    .value.split(";")
    .map((each) => each.trim())
    .filter(Boolean);
  return given.length ? given : null;
};

function named(event) {
  event.preventDefault();
  refreshAnswers();
}

// What cannot be observed is refused here, and stays to be mended where it was typed.
async function observed(event) {
  event.preventDefault();
  const [name, value] = [byId("seen-name").value.trim(), byId("seen-value").value.trim()];
  const evidence = { ...state.evidence, [name]: value };
  byId("run").disabled = true; // until there is the plan with what is observed now
  const found = await newest("plan", request({ variables: names(), evidence }), "observing");
  if (found === undefined) return;
  byId("run").disabled = false;
  if (!found) return;
  if (byId("seen-name").value.trim() === name && byId("seen-value").value.trim() === value) byId("observing").reset();
  suppose(name, value);
}

export async function refreshAnswers() {
  if (byId("at-once").checked) await loadAnswers();
  else {
    byId("answers").classList.add("stale");
    byId("run").disabled = true;
    const found = await newest("plan", request({ variables: names() }), "ask");
    if (found === undefined) return;
    if (found) showPlan(found.plan);
    byId("planned").open = true;
    byId("run").hidden = !found;
    byId("run").disabled = false;
  }
}

async function loadAnswers() {
  byId("run").hidden = true;
  byId("run").disabled = false;
  const found = await newest("ask", request({ variables: names() }));
  if (found) show(found);
  if (found === null) byId("answers").classList.add("stale");
}

// Ask about these, and show the answers.
export function askAbout(variables) {
  byId("names").value = variables.join("; ");
  byId("at-once").checked = true;
}

function showPlan(plan) {
  byId("plan-head").textContent = plan.split("\n", 1)[0].replace(/:$/, "");
  byId("plan").textContent = plan;
}

function show({
  plan,
  engine,
  notes,
  log_partition: logZ,
  answers,
  classes,
  left_out: left,
  left_out_count: leftCount,
}) {
  showPlan(plan);
  byId("answers").classList.remove("stale");
  const parts = [`Engine: ${engine}.`, logZ === null ? "" : `log Z = ${Number(logZ.toPrecision(8))}.`, ...notes];
  if (left.length) {
    const more = (leftCount ?? left.length) > left.length ? ` … (${number(leftCount)})` : "";
    parts.push(`Without an answer, as unknown factors are connected to them: ${left.join(", ")}${more}.`);
  }
  byId("answers-note").textContent = parts.filter(Boolean).join(" ");
  const rows = answers.length
    ? answers
    : (classes ?? []).map(({ representative, members, count, probabilities }) => ({
        name: representative,
        title: count > 1 ? `${members} (${number(count)})` : members,
        labels: Object.keys(probabilities),
        probabilities: Object.values(probabilities),
      }));
  showBars(rows);
  announce(`${counted(rows.length, "answer")}`);
}
