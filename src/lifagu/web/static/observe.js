// What is supposed: evidence beside the model's own, set beside a bar, on a card, or in a dialog that opens from a node.

import { announce, byId, make, renew, replace } from "./dom.js";
import { change, on, state } from "./state.js";

const MOST_CHIPS = 8;
let compareScenarios = null;

// What was observed of a variable as far as the page knows it: all that is supposed, and what a small model itself says.
export const observed = (name) => (name in state.evidence ? state.evidence[name] ?? undefined : state.model.evidence[name]);

// All of it, for drawings of small models.
export function everythingObserved() {
  const all = Object.entries({ ...state.model.evidence, ...state.evidence });
  return Object.fromEntries(all.filter(([, seen]) => seen !== null));
}

// label null: as if it had not been observed.
export function suppose(name, label) {
  const evidence = { ...state.evidence };
  const own = state.model.evidence[name];
  const isOurs = name in evidence && own === undefined;
  if (label === own || (label === null && isOurs)) delete evidence[name];
  else evidence[name] = label;
  announce(label === null ? `${name} is no longer observed` : `${name} is observed: ${label}`);
  change({ evidence });
}

// As it was before anything was supposed of it.
export function restore(name) {
  const { [name]: left, ...evidence } = state.evidence;
  announce(`${name} is as it was`);
  change({ evidence });
}

export const inWords = (seen) => (seen === null ? "not observed" : typeof seen === "string" ? seen : "in part");

export function observe({ name, labels }) {
  const dialog = byId("observe");
  const seen = observed(name);
  const choice = (label, text) =>
    make(
      "button",
      { type: "submit", "aria-pressed": String((seen ?? null) === label), onclick: () => suppose(name, label) },
      text,
    );
  byId("observe-title").textContent = name;
  replace(
    byId("observe-values"),
    labels.map((label) => choice(label, label)),
    choice(null, "nothing"),
  );
  dialog.showModal();
  dialog.querySelector(seen === undefined ? "button" : "[aria-pressed=true]")?.focus();
}

export function startObserving(compare) {
  compareScenarios = compare;
  const dialog = byId("observe");
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  on("model evidence scenarios", showSupposed);
}

// The strip above every panel: what is supposed now, to be taken back one by one or at once, or to be kept.
function showSupposed() {
  const all = Object.entries(state.evidence);
  const strip = byId("supposed");
  const hadFocus = strip.contains(document.activeElement);
  strip.hidden = all.length === 0;
  renew(
    strip,
    make("strong", null, "Supposed"),
    make(
      "ul",
      { id: "seen", class: "chips" },
      all.slice(0, MOST_CHIPS).map(([name, seen]) =>
        make(
          "li",
          null,
          make(
            "button",
            { type: "button", "data-key": `supposed ${name}`, onclick: () => restore(name) },
            `${name} = ${inWords(seen)} `,
            make("span", { "aria-hidden": "true" }, "×"),
            make("span", { class: "hidden" }, "take it back"),
          ),
        ),
      ),
      all.length > MOST_CHIPS ? make("li", { class: "quiet" }, `and ${all.length - MOST_CHIPS} more`) : [],
    ),
    make(
      "span",
      { class: "supposed-tools" },
      isKept()
        ? make("button", { type: "button", "data-key": "keep", onclick: compareScenarios }, "Kept: compare scenarios")
        : make("button", { type: "button", "data-key": "keep", onclick: keepScenario }, "Keep as a scenario"),
      make("button", { type: "button", onclick: () => change({ evidence: {} }) }, "Clear"),
    ),
  );
  if (hadFocus && !strip.contains(document.activeElement)) (strip.querySelector("button") ?? byId("tabs").querySelector("[aria-selected=true]")).focus();
}

const isSupposed = (scenario) => JSON.stringify(scenario) === JSON.stringify(state.evidence);

const isKept = () => Object.values(state.scenarios).some(isSupposed);

function keepScenario() {
  const { scenarios, evidence } = state;
  const names = Object.entries(evidence).map(([name, seen]) => `${name} = ${inWords(seen)}`);
  const title = names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(", ");
  let name = title;
  for (let number = 2; name in scenarios; number++) name = `${title} (${number})`;
  change({ scenarios: { ...scenarios, [name]: evidence } });
  announce(`kept as a scenario: ${name}; scenarios are compared under Ask`);
}
