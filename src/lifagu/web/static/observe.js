// Evidence: set in a dialog that opens from a node, or directly beside a bar.

import { announce, byId, make, replace } from "./dom.js";
import { change, state } from "./state.js";

export function setEvidence(name, label) {
  const evidence = { ...state.evidence };
  if (label === null) delete evidence[name];
  else evidence[name] = label;
  announce(label === null ? `${name} is no longer observed` : `${name} is observed: ${label}`);
  change({ evidence });
}

export function observe({ name, labels }) {
  const dialog = byId("observe");
  const seen = state.evidence[name];
  const choice = (label, text) =>
    make(
      "button",
      { type: "submit", "aria-pressed": String((seen ?? null) === label), onclick: () => setEvidence(name, label) },
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

export function startObserving() {
  const dialog = byId("observe");
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}
