// Scenarios side by side: what was supposed and kept, and what is answered then.

import { announce, byId, make, percent, replace } from "./dom.js";
import { change, newest, on, request, state } from "./state.js";

const HINT =
  "Suppose something, keep it as a scenario, and compare what is answered then: about what is named above, " +
  "else about whoever was shown last.";
let namesOf = () => null; // the variables that are asked about

export function startScenarios(names) {
  namesOf = names;
  on("scenarios model", showKept);
}

export const scenariosPart = () =>
  make(
    "section",
    { id: "scenarios-part", class: "block" },
    make("h3", null, "Scenarios side by side"),
    make("p", { id: "scenarios-hint", class: "quiet" }, HINT),
    make("ul", { id: "scenarios", class: "chips" }),
    make("button", { id: "scenarios-compare", type: "button", hidden: true, onclick: compareScenarios }, "Compare"),
    make("div", { id: "scenarios-told" }),
  );

function showKept() {
  const names = Object.keys(state.scenarios);
  byId("scenarios-compare").hidden = names.length === 0;
  replace(
    byId("scenarios"),
    names.map((name) =>
      make(
        "li",
        null,
        make(
          "button",
          { type: "button", onclick: () => leaveOut(name) },
          `${name} `,
          make("span", { "aria-hidden": "true" }, "×"),
          make("span", { class: "hidden" }, "leave this scenario out"),
        ),
      ),
    ),
  );
  if (!names.length) replace(byId("scenarios-told"));
  else if (byId("scenarios-told").firstChild) compareScenarios(); // what stands there is about others
}

function leaveOut(name) {
  const { [name]: left, ...scenarios } = state.scenarios;
  change({ scenarios });
}

export async function compareScenarios() {
  const variables = namesOf();
  if (!variables?.length) {
    byId("names").focus();
    announce("name the variables to compare first");
    byId("scenarios-hint").textContent = "Name the variables to ask about above, or show an individual, then compare.";
    return;
  }
  const found = await newest("scenarios", request({ variables, evidence: {}, scenarios: state.scenarios }));
  if (found) show(found);
}

function show({ scenarios, answers }) {
  const rows = answers.flatMap(({ name, labels, probabilities }) =>
    labels.map((label, place) =>
      make(
        "tr",
        { class: place === 0 ? "first" : "" },
        make("th", { scope: "row" }, `${name} = ${label}`),
        scenarios.map((each) => cell(probabilities[each][place], probabilities[scenarios[0]][place], each === scenarios[0])),
      ),
    ),
  );
  byId("scenarios-hint").textContent = HINT;
  replace(
    byId("scenarios-told"),
    make(
      "div",
      { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Scenarios" },
      make(
        "table",
        { class: "wide" },
        make("thead", null, make("tr", null, make("td"), scenarios.map((each) => make("th", { scope: "col" }, each)))),
        make("tbody", null, rows),
      ),
    ),
  );
  announce(`${answers.length} answers under ${scenarios.length - 1} scenarios`);
}

function cell(value, before, isFirst) {
  const moved = 100 * (value - before);
  const points = isFirst || Math.abs(moved) < 0.05 ? "" : ` ${moved > 0 ? "+" : "−"}${Math.abs(moved).toFixed(1)}`;
  return make("td", { class: "number" }, percent(value), points ? make("span", { class: "moved" }, points) : []);
}
