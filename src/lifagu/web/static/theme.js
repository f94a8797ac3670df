// Light, dark, or as the system is; the choice is kept by this browser.

import { byId } from "./dom.js";

const KEY = "lifagu-theme";

function apply(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

export function startTheme() {
  const select = byId("theme");
  select.value = localStorage.getItem(KEY) ?? "";
  apply(select.value);
  select.addEventListener("change", () => {
    if (select.value) localStorage.setItem(KEY, select.value);
    else localStorage.removeItem(KEY);
    apply(select.value);
  });
}
