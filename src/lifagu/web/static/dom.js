// Elements without markup in strings: whatever a model is called, it stays text.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const make = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);

export const draw = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined));
}

// The same, where what was open stays open and what had the focus keeps it, as far as it is found again by its key.
export function renew(element, ...children) {
  const byKey = (key) => element.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const opened = [...element.querySelectorAll("details[open][data-key]")].map((each) => each.dataset.key);
  const focused = [];
  if (element.contains(document.activeElement)) {
    for (let each = document.activeElement; each !== element; each = each.parentElement) {
      if (each.dataset.key) focused.push(each.dataset.key);
    }
  }
  replace(element, ...children);
  for (const key of opened) byKey(key)?.setAttribute("open", "");
  const found = focused.map(byKey).find(Boolean);
  (found?.matches("button, select, [tabindex]") ? found : found?.querySelector("button, summary"))?.focus();
}

export const percent = (value) =>
  value > 0 && value < 0.0005
    ? "<\u202f0.1\u202f%"
    : value < 1 && value > 0.9995
      ? ">\u202f99.9\u202f%"
      : `${(100 * value).toFixed(1)}\u202f%`;

export const number = (value) => value.toLocaleString("en");

export const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

// Says something to people who do not see it change.
export function announce(text) {
  byId("live").textContent = text;
}
