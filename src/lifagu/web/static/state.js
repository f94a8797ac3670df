// What is open and chosen, who wants to know when it changes, and requests of which only the newest counts.

import { Refused, ask } from "./api.js";
import { byId } from "./dom.js";
import { untilReleased } from "./press.js";

export const state = {
  model: null, // what the server said when it was opened
  graph: null, // scene and variables
  add: [],
  evidence: {}, // what differs from the model's own: name → value, null where it is to count as not observed
  scenarios: {}, // name → such evidence
  individual: null, // whose card is open
  combine: "average",
  engine: "auto",
  transfers: null,
  lifted: null,
};

const listeners = [];

export const on = (topics, listener) => listeners.push([topics.split(" "), listener]);

// What is set to null is not there yet: nobody has anything to show of it.
export function change(values) {
  Object.assign(state, values);
  const changed = Object.keys(values).filter((topic) => values[topic] !== null);
  for (const [topics, listener] of listeners) {
    if (topics.some((topic) => changed.includes(topic))) listener(state);
  }
}

export const isDrawn = () => state.graph?.scene != null;

// What every request says about filling, evidence and questions.
export function request(more) {
  const { add, evidence, combine, engine } = state;
  return { add, evidence, combine, engine, ...more };
}

let loading = 0;

// While anything is loaded the page says that it is busy.
export async function busy(work) {
  byId("work").setAttribute("aria-busy", String(++loading > 0));
  try {
    return await work;
  } finally {
    byId("work").setAttribute("aria-busy", String(--loading > 0));
  }
}

const turns = {};

let complaining = null; // the kind of request that the message is about

// Asks the server; resolves to null when it was refused, to undefined when something newer was asked of the same kind.
export const newest = (operation, body, kind = operation) => busy(aside(operation, body, kind));

// The same where nobody waits for it.
export async function aside(operation, body, kind = operation) {
  const { model } = state;
  const turn = (turns[kind] = (turns[kind] ?? 0) + 1);
  const isNewest = () => turns[kind] === turn && state.model === model;
  try {
    while (turns[`${kind} runs`]) await turns[`${kind} runs`];
    if (!isNewest()) return undefined;
    const running = ask(model.id, operation, body);
    turns[`${kind} runs`] = running.then(
      () => {},
      () => {},
    );
    const found = await running.finally(() => (turns[`${kind} runs`] = null));
    await untilReleased();
    if (!isNewest()) return undefined;
    if (complaining === kind) forgive();
    return found;
  } catch (error) {
    await untilReleased();
    if (!isNewest()) return undefined;
    complain(error, kind);
    return null;
  }
}

export function complain(error, kind = null) {
  if (!(error instanceof Refused)) throw error;
  complaining = kind;
  byId("message-text").textContent = error.message;
  byId("message").hidden = false;
}

export function forgive() {
  byId("message").hidden = true;
}
