// Cohorts as a picture: a dot for each individual where it most likely belongs, a ring where its tables are unknown.

import { byId, counted, make, number, percent, replace } from "./dom.js";
import { newest, on, request } from "./state.js";

let showIndividual = null;

export function startCohorts(show) {
  showIndividual = show;
  on("model", () => {
    byId("cohorts-note").textContent = "";
    replace(byId("cohorts"));
  });
}

export const cohortsPart = () =>
  make(
    "section",
    { class: "block cohorts-part" },
    make("h3", null, "Cohorts: who is where, and what tells them apart"),
    make("p", { id: "cohorts-note", class: "quiet" }),
    make("ol", { id: "cohorts", class: "cohorts" }),
  );

export async function loadCohorts() {
  const found = await newest("cohorts", request());
  if (!found) return;
  const { cohorts, note, more } = found;
  byId("cohorts-note").textContent =
    note ||
    "A dot is an individual, fainter where it is less sure; a ring means that some of its tables are unknown." +
      (more ? ` ${counted(more, "smaller cohort")} left out.` : "");
  replace(byId("cohorts"), cohorts.map(cohort));
}

function cohort({ number: rank, size, members, holes, told_by: told }) {
  const left = size - members.length;
  return make(
    "li",
    { class: "cohort" },
    make(
      "div",
      { class: "cohort-head" },
      make("strong", null, `Cohort ${rank}`),
      make("span", { class: "quiet" }, `${counted(size, "individual")}${holes ? `, ${number(holes)} with unknown tables` : ""}`),
    ),
    make("div", { class: "dots" }, members.map(dot), left > 0 ? make("span", { class: "quiet" }, `+ ${number(left)}`) : []),
    told.length ? make("div", { class: "told" }, told.map(table)) : make("p", { class: "quiet" }, "Its tables are as usual."),
  );
}

function dot({ name, share, has_holes: open }) {
  const title = `${name || "somebody without a name"}: ${percent(share)}${open ? ", with unknown tables" : ""}`;
  const element = make(name ? "button" : "span", {
    type: name ? "button" : null,
    class: `dot-of${open ? " open" : ""}`,
    title,
    "aria-label": name ? title : null,
    onclick: () => name && showIndividual(name),
  });
  element.style.opacity = String(0.3 + 0.7 * share);
  return element;
}

// The table to expect in a cohort beside the usual one, a bar for each state.
function table({ name, table: own, usual, states, apart }) {
  const most = Math.max(...own, ...usual);
  const words = states
    .map((state, place) => [state, own[place], usual[place]])
    .sort((one, other) => Math.abs(other[1] - other[2]) - Math.abs(one[1] - one[2]))
    .slice(0, 1)
    .map(([state, here, elsewhere]) => `${state}: ${percent(here)}, usually ${percent(elsewhere)}`);
  return make(
    "figure",
    { class: "told-table" },
    make(
      "span",
      { class: "columns", "aria-hidden": "true" },
      own.map((value, place) => column(value / most, usual[place] / most, `${states[place]}: ${percent(value)}, usually ${percent(usual[place])}`)),
    ),
    make("figcaption", null, make("strong", null, name), ` ${percent(apart)} apart`, make("small", null, words.join(""))),
  );
}

function column(height, usual, title) {
  const [fill, mark] = [make("span", { class: "column-fill" }), make("span", { class: "column-mark" })];
  fill.style.height = `${100 * height}%`;
  mark.style.bottom = `${100 * usual}%`;
  return make("span", { class: "column", title }, fill, mark);
}
