// Holes: how they are filled, for which threshold, from whom, with what share, and why.

import { cohortsPart } from "./cohorts.js";
import { announce, byId, counted, make, number, percent, renew, replace } from "./dom.js";
import { complete } from "./search.js";
import { light } from "./panes.js";
import { change, newest, on, request, state } from "./state.js";

const METHODS = {
  auto: ["Auto", "a table on which all candidates agree, else hidden sorts"],
  share: ["Share", "individuals as a whole, where they are known"],
  profiles: ["Profiles", "individuals that agree on other tables"],
  cohorts: ["Cohorts", "hidden sorts of individuals, also where no two tables are equal"],
  steps: ["k steps", "wider neighbourhoods"],
  structure: ["Structure", "neither kinds nor individuals"],
  published: ["Published", "the paper to the letter"],
};
const FEW = 10; // records that are shown at first
let most = FEW; // records that are shown now
const NO_THETA = ["auto", "cohorts"]; // nobody has to agree there
const STATUSES = {
  transferred: "filled",
  below_threshold: "below θ",
  no_candidate: "no donor",
};

export function startHoles() {
  const theta = make("input", {
    id: "theta",
    type: "range",
    min: 0,
    max: 1,
    step: 0.01,
    value: 0,
    list: "shares",
    "aria-describedby": "theta-words",
  });
  theta.addEventListener("input", () => choose(state.method, { theta: Number(theta.value) }));
  const methods = Object.entries(METHODS).map(([name, [title, about]]) =>
    make(
      "label",
      { class: "option" },
      make("input", { type: "radio", name: "method", value: name, onchange: () => choose(name) }),
      make("span", null, make("strong", null, title), make("small", null, about)),
    ),
  );
  replace(
    byId("panel-holes"),
    make("p", { id: "holes-summary", class: "summary" }),
    make(
      "fieldset",
      { class: "options" },
      make("legend", null, "Who may lend a table"),
      methods,
      make(
        "label",
        { class: "steps", id: "steps-choice", hidden: true },
        "k = ",
        make(
          "select",
          {
            id: "steps",
            "aria-label": "How many steps",
            onchange: (event) => change({ steps: Number(event.target.value) }),
          },
          [2, 4, 6, 8].map((k) => make("option", { value: k }, `${k} steps`)),
        ),
      ),
    ),
    make(
      "div",
      { id: "threshold", class: "slider" },
      make("label", { for: "theta" }, "θ, the share of candidates that must agree"),
      make("output", { id: "theta-value", for: "theta" }, "0.00"),
      theta,
      make("datalist", { id: "shares" }),
      make("p", { id: "theta-words", class: "quiet" }),
    ),
    make("ul", { id: "holes", class: "records" }),
    cohortsPart(),
    addForm(),
  );
  on("model", () => {
    most = FEW;
    byId("holes-summary").textContent = byId("theta-words").textContent = "";
    replace(byId("holes"));
  });
  on("model theta method steps", showChoices);
  on("transfers", showTransfers);
}

// Where cohorts say how likely each table is, all are summed over unless something else is chosen after.
function choose(method, more = {}) {
  const [before, after] = [state.method, method].map((each) => each === "auto" || each === "cohorts");
  const usual = before === after ? {} : { unknown: after ? "posterior" : "one" };
  change({ method, ...usual, ...(NO_THETA.includes(method) ? { theta: 0 } : more) });
}

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
      class: "adding",
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

export async function loadTransfers() {
  const found = await newest("transfers", request());
  if (found) change({ transfers: found });
}

function showChoices() {
  byId("theta").value = state.theta;
  byId("theta-value").textContent = state.theta.toFixed(2);
  byId("threshold").hidden = NO_THETA.includes(state.method);
  byId("steps").value = state.steps;
  byId("steps-choice").hidden = state.method !== "steps";
  for (const radio of document.getElementsByName("method")) radio.checked = radio.value === state.method;
}

function showTransfers() {
  const { total, filled, by_theta: byTheta, classes, more_classes: more } = state.transfers;
  const summary =
    total === 0
      ? "Every table is known: there is nothing to fill."
      : `${number(filled)} of ${counted(total, "unknown factor")} filled, ${number(total - filled)} left.`;
  if (byId("holes-summary").textContent !== summary) {
    byId("holes-summary").textContent = summary;
    announce(summary);
  }
  replace(
    byId("shares"),
    byTheta.map(([theta]) => make("option", { value: theta })),
  );
  const thresholds = byTheta.map(([theta, count]) => `${Number(theta.toFixed(3))}: ${number(count)}`).join(" · ");
  byId("theta-words").textContent = total === 0 ? "" : `Filled at θ = ${thresholds}`;
  byId("panel-holes").classList.toggle("whole", total === 0); // no rule has anything to fill
  showRecords(classes, more);
}

// The first ones, the others when they are asked for.
function showRecords(classes, more) {
  const left = classes.length - most;
  const all = () => {
    most = Infinity;
    showRecords(classes, more);
    byId("holes").children[FEW].focus();
  };
  renew(
    byId("holes"),
    classes.slice(0, most).map(record),
    left > 0 ? make("li", null, make("button", { type: "button", onclick: all }, `Show ${number(left)} more`)) : [],
    more && left <= 0 ? make("li", { class: "quiet" }, `… and ${number(more)} more`) : [],
  );
}

function record(entry) {
  const { factor, factors, count, ids, status, takes, donor_id: donorId, share, reason, competing, owner } = entry;
  const names = factors.slice(0, 4).join(", ") + (count > 4 ? ` and ${number(count - 4)} more` : "");
  const related = [...ids, ...(status === "transferred" && donorId ? [donorId] : [])];
  return make(
    "li",
    {
      class: `record ${status}`,
      "data-ids": ids.join(" "),
      "data-key": factor,
      tabindex: "0",
      onpointerenter: () => light(related),
      onpointerleave: () => light([]),
      onfocus: () => light(related),
      onblur: () => light([]),
    },
    make(
      "div",
      { class: "record-head" },
      make("strong", null, names),
      make("span", { class: `status ${status}` }, STATUSES[status]),
    ),
    status === "transferred" ? make("p", null, "takes ", make("strong", null, takes)) : null,
    share === null ? null : make("div", { class: "share" }, bar(share), make("span", null, `${percent(share)} ${owner ? "likely" : "agree"}`)),
    make("p", { class: "reason" }, reason),
    competing.length > 1
      ? make(
          "details",
          { "data-key": `tables of ${factor}` },
          make("summary", null, `${entry.tables} tables compete`),
          make(
            "ul",
            { class: "plain" },
            competing.map((each) =>
              make(
                "li",
                null,
                owner
                  ? `as of ${each.donor}: ${percent(each.share)}, table ${shortened(each.table)}`
                  : `${each.donor}: ${each.agreeing} (${percent(each.share)}), table ${shortened(each.table)}`,
              ),
            ),
          ),
        )
      : null,
    explanation(factor),
  );
}

// Who agrees, who is nearest, what would settle it: asked for when it is opened.
function explanation(factor) {
  const text = make("p", { class: "reason explanation" });
  const summary = make("summary", null, "Who is nearest, and what would settle it");
  const details = make("details", { "data-key": `nearest ${factor}` }, summary, text);
  details.addEventListener("toggle", async () => {
    if (!details.open || text.textContent) return;
    const found = await newest("explain", request({ what: factor }), `explain ${factor}`);
    if (found) text.textContent = found.text;
  });
  return details;
}

const shortened = (table) => table.slice(0, 16).join(" ") + (table.length > 16 ? " …" : "");

function bar(share) {
  const inner = make("span", { class: "fill" });
  const mark = make("span", { class: "mark" });
  inner.style.width = `${100 * share}%`;
  mark.style.left = `${100 * state.theta}%`;
  return make("span", { class: "bar", "aria-hidden": "true" }, inner, mark);
}

// A square of the graph was picked: its record, or that it is known.
export function showFactor(id) {
  const entry = document.querySelector(`#holes [data-ids~="${id}"]`);
  if (entry) {
    entry.scrollIntoView({ block: "nearest" });
    entry.focus();
  } else announce("the table of this factor is known");
  return Boolean(entry);
}
