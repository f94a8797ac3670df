// Every way to fill holes side by side: who lends to whom, and what that does to answers.

import { byId, make, number, percent, replace } from "./dom.js";
import { newest, on, request, state } from "./state.js";

const TITLES = {
  auto: "Auto",
  published: "Published",
  share: "Share",
  profiles: "Profiles",
  steps: "k steps",
  cohorts: "Cohorts",
  structure: "Structure",
};

export function startCompare() {
  replace(
    byId("panel-compare"),
    make("p", { class: "quiet" }, "The same model, the same evidence and, where it counts, the same θ: seven ways to fill holes."),
    make("div", { id: "compared", class: "compared" }),
  );
  on("model", () => replace(byId("compared")));
}

export async function loadCompare() {
  const { unknown, ...body } = request({ engine: "auto" }); // each as is usual with it
  const found = await newest("compare", body);
  if (found) show(found);
}

function show({ total, methods, variables }) {
  const heads = methods.map(({ method }) =>
    make("th", { scope: "col" }, method === "steps" ? `${state.steps} steps` : TITLES[method]),
  );
  const isSame = total === 0 && methods.every((each) => rounded(each) === rounded(methods[0]));
  replace(
    byId("compared"),
    total === 0
      ? make("p", { class: "summary" }, `Every table is known${isSame ? ", so all agree" : ""}.`)
      : holes(total, methods, heads),
    variables.length && !isSame
      ? answers(
          methods,
          variables,
          heads.map((each) => each.cloneNode(true)),
        )
      : [],
  );
}

const rounded = ({ answers: { answers: found } }) => JSON.stringify(found.map(({ probabilities }) => probabilities.map((each) => each.toFixed(6))));

function holes(total, methods, heads) {
  const rows = methods[0].records.map(({ factor }, place) =>
    make(
      "tr",
      null,
      make("th", { scope: "row" }, factor),
      methods.map(({ records }) => hole(records[place])),
    ),
  );
  const filled = make(
    "tr",
    { class: "total" },
    make("th", { scope: "row" }, "filled"),
    methods.map((each) => make("td", null, `${number(each.filled)} of ${number(total)}`)),
  );
  return scrolled(
    "Holes",
    make(
      "table",
      { class: "side-by-side" },
      make("caption", null, "Who lends a table to each hole"),
      make("thead", null, make("tr", null, make("td"), heads)),
      make("tbody", null, rows, filled),
    ),
    total > rows.length ? make("p", { class: "quiet" }, `The first ${number(rows.length)} of ${number(total)} holes; the last row counts all of them.`) : [],
  );
}

function hole(record) {
  if (!record) return make("td", null, "–");
  const { status, donor, share, reason, owner, takes, way } = record;
  if (status !== "transferred") {
    return make(
      "td",
      { title: reason },
      make("span", { class: "status" }, status.replace("_", " ")),
      share === null ? null : make("small", null, ` ${percent(share)}`),
    );
  }
  const taken = owner && way !== "one" ? takes : donor;
  return make("td", { title: reason }, taken, make("small", null, ` ${percent(share)}`));
}

function answers(methods, variables, heads) {
  const rows = variables.flatMap((name) => {
    const found = methods.map(({ answers: each }) => each.answers.find((answer) => answer.name === name));
    const labels = found.find(Boolean)?.labels ?? [];
    return labels.map((label, place) =>
      make(
        "tr",
        { class: place === 0 ? "first" : "" },
        make("th", { scope: "row" }, `${name} = ${label}`),
        found.map((answer) =>
          make("td", null, answer ? [bar(answer.probabilities[place]), percent(answer.probabilities[place])] : "–"),
        ),
      ),
    );
  });
  const errors = methods
    .filter(({ answers: each }) => each.error)
    .map(({ method, answers: each }) => make("p", { class: "reason" }, `${TITLES[method]}: ${each.error}`));
  return [
    rows.length
      ? scrolled(
          "Answers",
          make(
            "table",
            { class: "side-by-side" },
            make("caption", null, "What is answered then"),
            make("thead", null, make("tr", null, make("td"), heads)),
            make("tbody", null, rows),
          ),
        )
      : [],
    errors,
  ];
}

const scrolled = (label, ...parts) =>
  make("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": label }, parts);

function bar(value) {
  const inner = make("span", { class: "fill" });
  inner.style.width = `${100 * value}%`;
  return make("span", { class: "bar", "aria-hidden": "true" }, inner);
}
