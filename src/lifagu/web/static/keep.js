// Files to keep: models and figures.

import { download } from "./api.js";
import { announce, byId, make, replace } from "./dom.js";
import { complain, forgive, isDrawn, on, request, state } from "./state.js";

const FIGURES = {
  graph: "The graph",
  colours: "Its groups in colour",
  transfers: "Who lends to whom",
  lifted: "The lifted model",
};
const MODELS = { completed: "The completed model", lifted: "The lifted model" };

export function startKeep() {
  replace(
    byId("panel-keep"),
    section(
      "Models",
      MODELS,
      "file",
      [".json", ".uai", ".fg", ".blog"],
      "With the evidence, where the format holds it (.json, .blog).",
    ),
    section("Figures", FIGURES, "figure", [".svg", ".png", ".pdf"], "As they are on the page, drawn for print."),
  );
  on("graph", () => {
    for (const row of document.querySelectorAll("[data-drawn]")) row.hidden = !isDrawn();
  });
}

function section(title, entries, operation, endings, about) {
  return make(
    "section",
    null,
    make("h3", null, title),
    make("p", { class: "quiet" }, about),
    Object.entries(entries).map(([what, text]) =>
      make(
        "div",
        { class: "keep", "data-drawn": operation === "figure" && what !== "lifted" },
        make("span", null, text),
        make(
          "span",
          { class: "endings" },
          endings.map((ending) =>
            make(
              "button",
              {
                type: "button",
                "aria-label": `${text} as ${ending}`,
                onclick: () => save(operation, { what, ending }),
              },
              ending,
            ),
          ),
        ),
      ),
    ),
  );
}

export async function save(operation, wanted) {
  forgive();
  try {
    const { name, content } = await download(state.model.id, operation, request(wanted));
    const link = make("a", { href: URL.createObjectURL(content), download: name });
    link.click();
    URL.revokeObjectURL(link.href);
    announce(`${name} was saved`);
  } catch (error) {
    complain(error);
  }
}
