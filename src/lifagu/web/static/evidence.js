// What was observed as a table that can be searched: closed until it is asked for, a screen at a time.

import { byId, make, number, renew, replace } from "./dom.js";
import { PAGE, lastPage } from "./list.js";
import { restore, suppose } from "./observe.js";
import { newest, on, request } from "./state.js";

let offset = 0;
let waiting = null;
let showIndividual = null;

export function startEvidence(show) {
  showIndividual = show;
  on("model", () => {
    clearTimeout(waiting);
    byId("evidence").open = false;
    byId("evidence-count").textContent = "";
    byId("evidence-containing").value = "";
    offset = 0;
    replace(byId("evidence-rows"));
  });
  on("evidence model", () => byId("evidence").open && loadEvidence());
}

export function evidenceTable() {
  return make(
    "details",
    { id: "evidence", class: "plan", ontoggle: (event) => event.target.open && loadEvidence() },
    make("summary", null, "What was observed", make("span", { id: "evidence-count" })),
    make(
      "label",
      { class: "filter" },
      "Only names with",
      make("input", { id: "evidence-containing", type: "search", autocomplete: "off", maxlength: 100, oninput: typed }),
    ),
    make("div", { id: "evidence-rows" }),
    make(
      "div",
      { class: "paging", role: "group", "aria-label": "Pages of what was observed" },
      make("button", { id: "evidence-back", type: "button", onclick: () => turn(-PAGE) }, "‹ Before"),
      make("button", { id: "evidence-on", type: "button", onclick: () => turn(PAGE) }, "Next ›"),
    ),
  );
}

function typed() {
  clearTimeout(waiting);
  offset = 0;
  waiting = setTimeout(loadEvidence, 150);
}

function turn(by) {
  offset = Math.max(offset + by, 0);
  return loadEvidence();
}

async function loadEvidence() {
  const found = await newest("observed", request({ containing: byId("evidence-containing").value, offset }));
  if (!found) return;
  const { total, matching, rows } = found;
  if (offset && offset >= matching) return turn(lastPage(matching) - offset);
  const part = matching < total ? `${number(matching)} of ${number(total)}` : number(total);
  byId("evidence-count").textContent = `: ${part}`;
  byId("evidence-back").disabled = offset === 0;
  byId("evidence-on").disabled = offset + rows.length >= matching;
  renew(
    byId("evidence-rows"),
    make(
      "div",
      { class: "scrolled", tabindex: "0", role: "region", "aria-label": "What was observed", "data-key": "rows" },
      make(
        "table",
        { class: "wide" },
        make("thead", null, make("tr", null, ["Variable", "Value", "What if"].map((each) => make("th", { scope: "col" }, each)))),
        make("tbody", null, rows.map(row)),
      ),
    ),
  );
}

function row({ name, value, labels, supposed, individuals }) {
  const other = make(
    "select",
    { "aria-label": `What if ${name} were …`, "data-key": name, onchange: (event) => supposeIt(name, event.target.value) },
    make("option", { value: "" }, supposed ? "supposed" : "as observed"),
    supposed ? make("option", { value: "back" }, "as it was") : make("option", { value: "null" }, "not observed"),
    labels.filter((label) => label !== value).map((label) => make("option", { value: `=${label}` }, label)),
  );
  const who = individuals.length
    ? make("button", { type: "button", class: "link", onclick: () => showIndividual(individuals[0]) }, name)
    : name;
  return make("tr", { "data-name": name }, make("th", { scope: "row" }, who), make("td", null, value), make("td", null, labels.length ? other : "–"));
}

function supposeIt(name, choice) {
  if (choice === "back") restore(name);
  else if (choice) suppose(name, choice === "null" ? null : choice.slice(1));
}

