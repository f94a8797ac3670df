// Answers as bars: one block per variable, a button per value, which observes it.

import { byId, counted, make, percent, replace } from "./dom.js";
import { observed, suppose } from "./observe.js";

const MANY = 12; // from here on there is a filter

// Rows that stay keep their elements, so that bars move rather than jump.
export function showBars(rows) {
  const container = byId("answers");
  const old = [...container.children];
  const known = new Map(old.map((each) => [each.dataset.name, each]));
  const blocks = rows.map((row) => {
    const one = known.get(row.name);
    const fits = one && one.querySelectorAll(".value").length === row.labels.length && !row.title;
    const element = fits ? one : block(row);
    fill(element, row);
    return element;
  });
  if (blocks.length !== old.length || blocks.some((each, place) => each !== old[place])) replace(container, blocks);
  byId("filtering").hidden = rows.length < MANY;
  filterBars();
}

function block({ name, title, labels }) {
  return make(
    "section",
    { class: "answer", "data-name": name },
    make("h3", null, title ?? name),
    labels.map((label) =>
      make(
        "button",
        {
          type: "button",
          class: "value",
          title: `Observe ${name} = ${label}`,
          onclick: () => suppose(name, observed(name) === label ? null : label),
        },
        make("span", { class: "label" }, label),
        make(
          "span",
          { class: "bar", "aria-hidden": "true" },
          make("span", { class: "fill" }),
          make("span", { class: "range" }),
        ),
        make("span", { class: "figure" }),
        make("span", { class: "limits" }),
      ),
    ),
    make("p", { class: "support quiet" }),
    make("p", { class: "doubt" }),
  );
}

function fill(element, row) {
  const { name, labels, probabilities, lower, upper, error, rests_on_count: count, weakest_share: weakest, warnings } = row;
  const seen = observed(name);
  element.classList.toggle("observed", seen !== undefined);
  element.querySelectorAll(".value").forEach((button, place) => {
    const [bar, range] = [button.querySelector(".fill"), button.querySelector(".range")];
    bar.style.width = `${100 * probabilities[place]}%`;
    const open = lower && upper[place] - lower[place] > 1e-9;
    range.hidden = !open;
    if (open) {
      range.style.left = `${100 * lower[place]}%`;
      range.style.width = `${100 * (upper[place] - lower[place])}%`;
    }
    button.querySelector(".figure").textContent = percent(probabilities[place]);
    button.querySelector(".limits").textContent = open
      ? `between ${percent(lower[place])} and ${percent(upper[place])}`
      : error && error[place] > 0 ? `± ${percent(error[place])}` : "";
    button.setAttribute("aria-pressed", String(seen === labels[place]));
  });
  element.querySelector(".support").textContent = count
    ? `rests on ${counted(count, "transferred table")}, weakest share ${percent(weakest)}`
    : "";
  element.querySelector(".doubt").textContent = (warnings ?? []).map((each) => `Warning: ${each}`).join(" ");
}

export function filterBars() {
  const wanted = byId("filtering").hidden ? "" : byId("filter").value.toLowerCase();
  for (const each of byId("answers").children) each.hidden = !each.dataset.name.toLowerCase().includes(wanted);
}
