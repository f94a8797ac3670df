// A relation as a ranked list, a screen at a time, with filters; all of it as a file.

import { download } from "./api.js";
import { findOverview } from "./overview.js";
import { announce, byId, counted, make, number, percent, replace } from "./dom.js";
import { complain, forgive, newest, on, request, state } from "./state.js";

export const PAGE = 50;
const chosen = { relation: "", value: "", unobserved: true, containing: "", having: "", offset: 0 };
let relations = []; // name, labels
let showIndividual = null;
let waiting = null;

export function startList(show) {
  showIndividual = show;
  const select = (id, label, topic) =>
    make("label", { class: "choice" }, label, make("select", { id, onchange: (event) => choose({ [topic]: event.target.value }) }));
  replace(
    byId("panel-list"),
    make(
      "div",
      { class: "filters" },
      select("list-relation", "Relation", "relation"),
      select("list-value", "Ranked by", "value"),
      select("list-having", "Only where it was observed that", "having"),
      make(
        "label",
        { class: "filter" },
        "Only names with",
        make("input", { id: "list-containing", type: "search", autocomplete: "off", oninput: typed, maxlength: 100 }),
      ),
      make(
        "label",
        { class: "check" },
        make("input", { id: "list-unobserved", type: "checkbox", checked: true, onchange: (event) => choose({ unobserved: event.target.checked }) }),
        "Only those of whom it was not observed",
      ),
    ),
    make(
      "div",
      { class: "list-head" },
      make("p", { id: "list-note", class: "summary" }),
      make("button", { id: "list-save", type: "button", onclick: save }, "Download as CSV"),
    ),
    make("div", { id: "list" }),
    make(
      "div",
      { class: "paging", role: "group", "aria-label": "Pages" },
      make("button", { id: "list-back", type: "button", onclick: () => turn(-PAGE) }, "‹ Before"),
      make("button", { id: "list-on", type: "button", onclick: () => turn(PAGE) }, "Next ›"),
    ),
  );
  on("model", () => {
    clearTimeout(waiting);
    relations = [];
    Object.assign(chosen, { relation: "", value: "", unobserved: true, containing: "", having: "", offset: 0 });
    byId("list-containing").value = "";
    byId("list-unobserved").checked = true;
    replace(byId("list"));
  });
}

// Whether there is a list of it; what is a single variable has none.
export async function isListed(relation) {
  await findRelations();
  return relations.some(({ name }) => name === relation);
}

// Go to a relation, perhaps ranked by one of its values.
export function chooseRelation(relation, value = "") {
  clearTimeout(waiting);
  Object.assign(chosen, { relation, value, offset: 0, having: "", containing: "" });
  byId("list-containing").value = "";
}

function choose(values) {
  if ("relation" in values) values = { ...values, value: "" };
  Object.assign(chosen, values, { offset: 0 });
  return loadList();
}

function typed(event) {
  clearTimeout(waiting);
  const containing = event.target.value;
  waiting = setTimeout(() => choose({ containing }), 150);
}

function turn(by) {
  chosen.offset = Math.max(chosen.offset + by, 0);
  return loadList();
}

// Where the last page begins: there may be fewer now, or it was asked for more than there is.
export const lastPage = (total) => PAGE * Math.max(Math.ceil(total / PAGE) - 1, 0);

function asked() {
  const { relation, value, unobserved, containing, having, offset } = chosen;
  return { what: relation, value, unobserved, containing, having: having ? [JSON.parse(having)] : [], offset };
}

async function findRelations() {
  if (relations.length) return;
  const found = await findOverview();
  if (!found || relations.length) return;
  relations = found.relations.filter(({ name, single }) => name && !single);
  replace(
    byId("list-relation"),
    relations.map(({ name }) => make("option", { value: name }, name)),
  );
  replace(
    byId("list-having"),
    make("option", { value: "" }, "anything"),
    relations
      .filter(({ observed }) => observed)
      .flatMap(({ name, labels }) =>
        labels.slice(0, 50).map((label) => make("option", { value: JSON.stringify([name, label]) }, `${name} = ${label}`)),
      ),
  );
}

export async function loadList() {
  await findRelations();
  for (const each of byId("panel-list").querySelectorAll(".filters, .paging, #list-save")) each.hidden = !relations.length;
  if (!relations.length) {
    byId("list-note").textContent = "This model has no relations to list; ask about its variables by name.";
    return;
  }
  if (!relations.some(({ name }) => name === chosen.relation)) chosen.relation = mostMissing();
  byId("list-relation").value = chosen.relation;
  byId("list-having").value = chosen.having;
  const found = await newest("ranked", request(asked()));
  if (found && chosen.offset && chosen.offset >= found.total) return turn(lastPage(found.total) - chosen.offset);
  if (found) show(found);
  if (found === null) {
    byId("list-note").textContent = "";
    replace(byId("list"));
  }
}

async function save() {
  forgive();
  try {
    const { name, content } = await download(state.model.id, "list", request(asked()));
    const link = make("a", { href: URL.createObjectURL(content), download: name });
    link.click();
    URL.revokeObjectURL(link.href);
    announce(`${name} was saved`);
  } catch (error) {
    complain(error);
  }
}

const mostMissing = () => relations.reduce((one, other) => (other.missing > one.missing ? other : one)).name;

function show({ relation, labels, value, total, offset, rows, left_out: left, by_class: byClass }) {
  chosen.value = value;
  replace(
    byId("list-value"),
    labels.map((label) => make("option", { value: label }, label)),
  );
  byId("list-value").value = value;
  const until = offset + rows.length;
  const what = byClass ? "groups of individuals that cannot be told apart" : "individuals";
  const range = `${number(offset + 1)} to ${number(until)} of ${number(total)} ${what}`;
  const without = left ? `; ${number(left)} have no answer` : "";
  const lent = Math.max(0, ...rows.map((each) => each.lent));
  const isSame = rows.every((each) => each.lent === lent); // which is then said once
  const resting = isSame && lent ? ` Each rests on ${counted(lent, "lent table")}.` : "";
  byId("list-note").textContent = rows.length
    ? `${range}${without}, by P(${relation} = ${value}).${resting}`
    : `Nobody fits these filters${without}.`;
  announce(byId("list-note").textContent);
  const notes = rows.map((each) => note(each, isSame));
  const isNoted = notes.some(Boolean);
  byId("list-back").disabled = offset === 0;
  byId("list-on").disabled = until >= total;
  byId("list-save").disabled = total === 0;
  if (!rows.length) return replace(byId("list"));
  replace(
    byId("list"),
    make(
      "div",
      { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Ranked list" },
      make(
        "table",
        { class: "wide" },
        make("thead", null, make("tr", null, ["Rank", "Who", `P(${value})`, "Likeliest", ...(isNoted ? ["Note"] : [])].map((each) => make("th", { scope: "col" }, each)))),
        make("tbody", null, rows.map((each, place) => row(each, offset + place + 1, value, isNoted ? notes[place] : null))),
      ),
    ),
  );
}

const note = ({ observed, supposed, lent }, isSame) =>
  [supposed ? "supposed" : observed && "observed", !isSame && lent && `rests on ${counted(lent, "lent table")}`].filter(Boolean).join(", ");

function row({ name, labels, probabilities, individuals }, rank, value, told) {
  const share = probabilities[labels.indexOf(value)] ?? 0;
  const best = labels[probabilities.indexOf(Math.max(...probabilities))];
  const inner = make("span", { class: "fill" });
  inner.style.width = `${100 * share}%`;
  const who = individuals.length
    ? individuals.map((each) => make("button", { type: "button", class: "link", onclick: () => showIndividual(each) }, each))
    : name;
  return make(
    "tr",
    { "data-name": name },
    make("td", { class: "number" }, number(rank)),
    make("th", { scope: "row" }, who),
    make("td", null, make("span", { class: "bar", "aria-hidden": "true" }, inner), percent(share)),
    make("td", null, `${best} ${percent(Math.max(...probabilities))}`),
    told === null ? [] : make("td", { class: "quiet" }, told),
  );
}
