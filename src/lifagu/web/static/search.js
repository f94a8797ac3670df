// Search: completes individuals, relations and values as one types; everything with the keyboard.

import { byId, make, replace } from "./dom.js";
import { aside, newest, on, request, state } from "./state.js";

const PAUSE = 60; // milliseconds after which typing counts as done
const SORTS = { individual: "individual", relation: "relation", value: "value", variable: "variable" };
let found = [];
let foundFor = null; // the text that this completes
let at = -1;
let waiting = null;

export function startSearch(go) {
  const input = byId("search");
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, PAUSE);
  });
  input.addEventListener("focus", () => input.value && look());
  input.addEventListener("blur", () => setTimeout(() => document.activeElement !== input && close(), 150));
  input.addEventListener("keydown", (event) => key(event, go));
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, select, textarea, dialog *");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || byId("searching").hidden) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  byId("search-found").addEventListener("pointerdown", (event) => {
    const item = event.target.closest("[role=option]");
    if (!item) return;
    event.preventDefault();
    choose(Number(item.dataset.place), go);
  });
  on("model", () => {
    byId("searching").hidden = false;
    input.value = "";
    close();
  });
}

// What completes a text, also for other inputs; null when something newer was asked of the same kind.
export async function complete(text, kind = "find") {
  const told = await newest("find", request({ what: text }), kind);
  return told === undefined ? null : (told?.found ?? []);
}

async function look() {
  const text = byId("search").value.trim();
  if (!text || !state.model) return close();
  const told = await aside("find", request({ what: text }));
  if (!told || byId("search").value.trim() !== text || document.activeElement !== byId("search")) return;
  [found, foundFor] = [told.found, text];
  show(text);
}

function show(text) {
  at = found.length ? 0 : -1;
  replace(
    byId("search-found"),
    found.length
      ? found.map((each, place) =>
          make(
            "li",
            { id: `found-${place}`, role: "option", "data-place": place },
            make("span", { class: "found-name" }, each.label ? `${each.name} = ${each.label}` : each.name),
            make("span", { class: "found-kind" }, each.of ? `${SORTS[each.kind]}, ${each.of}` : SORTS[each.kind]),
          ),
        )
      : make("li", { class: "quiet", role: "option", "aria-disabled": "true" }, `Nothing is called “${text.slice(0, 40)}”`),
  );
  byId("search-found").hidden = false;
  byId("search").setAttribute("aria-expanded", "true");
  mark();
}

function mark() {
  for (const item of byId("search-found").children) {
    const isHere = item.id === `found-${at}`;
    item.setAttribute("aria-selected", String(isHere));
    if (isHere) item.scrollIntoView({ block: "nearest" });
  }
  if (at >= 0) byId("search").setAttribute("aria-activedescendant", `found-${at}`);
  else byId("search").removeAttribute("aria-activedescendant");
}

function close() {
  [found, foundFor] = [[], null];
  at = -1;
  byId("search-found").hidden = true;
  byId("search-found").replaceChildren();
  byId("search").setAttribute("aria-expanded", "false");
  byId("search").removeAttribute("aria-activedescendant");
}

async function key(event, go) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by && found.length) {
    event.preventDefault();
    at = (at + by + found.length) % found.length;
    mark();
  } else if (event.key === "Escape") {
    if (found.length) event.preventDefault();
    close();
  } else if (event.key === "Enter") {
    event.preventDefault();
    clearTimeout(waiting);
    const text = byId("search").value.trim();
    const told = foundFor === text ? found : await complete(text); // it was typed faster than completed
    if (!told) return;
    if (told !== found) [found, at] = [told, 0];
    choose(Math.max(at, 0), go);
  }
}

function choose(place, go) {
  const chosen = found[place];
  if (!chosen) return;
  byId("search").value = "";
  close();
  byId("search").blur();
  go(chosen);
}
