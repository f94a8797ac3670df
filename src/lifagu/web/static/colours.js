// Colour passing, round by round, forwards and back.

import { announce, byId, make, number, replace } from "./dom.js";
import { change, newest, on, request, state } from "./state.js";

export function startColours() {
  const step = (by) => () => go(state.round + by);
  replace(
    byId("panel-colours"),
    make(
      "p",
      { class: "quiet" },
      "Each factor tells its arguments its own colour and theirs. ",
      "Variables that hear something different get colours of their own.",
    ),
    make(
      "div",
      { id: "rounds", class: "rounds", role: "group", "aria-label": "Rounds" },
      make("button", { id: "round-first", type: "button", "aria-label": "To the start", onclick: () => go(0) }, "«"),
      make("button", { id: "round-back", type: "button", "aria-label": "Back", onclick: step(-1) }, "‹"),
      make("strong", { id: "round-title" }),
      make("button", { id: "round-on", type: "button", "aria-label": "Forwards", onclick: step(1) }, "›"),
      make(
        "button",
        { id: "round-last", type: "button", "aria-label": "To the end", onclick: () => go(Infinity) },
        "»",
      ),
    ),
    make("p", { id: "round-words" }),
    make("div", { id: "groups", class: "groups" }),
  );
  on("model", () => {
    byId("rounds").hidden = true;
    byId("round-words").textContent = "";
    replace(byId("groups"));
  });
  on("colours round", show);
}

export async function loadColours() {
  const found = await newest("colours", request());
  if (found) change({ colours: found, round: Math.max(found.rounds.length - 1, 0) });
}

function go(round) {
  const last = state.colours.rounds.length - 1;
  change({ round: Math.min(Math.max(round, 0), last) });
  announce(`${byId("round-title").textContent}: ${byId("round-words").textContent}`);
}

function show() {
  if (!state.colours) return;
  const { rounds, groups, cut } = state.colours;
  const round = rounds[state.round];
  byId("rounds").hidden = !round;
  byId("round-words").textContent = round?.words ?? state.colours.note;
  if (round) {
    byId("round-title").textContent =
      `${round.title}${cut && state.round === rounds.length - 1 ? " (rounds between are left out)" : ""}`;
    for (const [id, edge] of [
      ["round-first", 0],
      ["round-back", 0],
      ["round-on", rounds.length - 1],
      ["round-last", rounds.length - 1],
    ]) {
      byId(id).disabled = state.round === edge;
    }
  }
  replace(
    byId("groups"),
    round
      ? [listed("Variables", "v", round.variables), listed("Factors", "f", round.factors)]
      : [largest("Variables", groups.variables), largest("Factors", groups.factors)],
  );
}

function listed(title, letter, colours) {
  const names = namesOf(letter);
  const groups = new Map();
  colours.forEach((group, place) => groups.set(group, [...(groups.get(group) ?? []), names[place]]));
  return make(
    "section",
    null,
    make("h3", null, `${title}: ${groups.size} ${groups.size === 1 ? "group" : "groups"}`),
    make(
      "ul",
      { class: "plain" },
      [...groups]
        .slice(0, 60)
        .map(([group, members]) =>
          make(
            "li",
            null,
            make("span", { class: `dot c${(letter === "f" ? group + 4 : group) % 8}` }, sign(letter, group)),
            make("span", null, `${members.slice(0, 5).join(", ")}${members.length > 5 ? ` … (${members.length})` : ""}`),
          ),
        ),
    ),
  );
}

function sign(letter, group) {
  if (letter === "v") return `${group + 1}`;
  return (group < 26 ? "" : String.fromCharCode(96 + Math.floor(group / 26))) + String.fromCharCode(97 + (group % 26));
}

function namesOf(letter) {
  if (!state.graph?.scene) return [];
  if (letter === "v") return state.graph.variables.map((each) => each.name);
  return state.graph.factors;
}

const largest = (title, groups) =>
  make(
    "section",
    null,
    make("h3", null, `${title}, largest groups first`),
    make(
      "ul",
      { class: "plain" },
      groups.map(({ size, first }) =>
        make(
          "li",
          null,
          make("strong", { class: "times" }, `${number(size)} ×`),
          make("span", null, `${first.join(", ")}${size > first.length ? " …" : ""}`),
        ),
      ),
    ),
  );
