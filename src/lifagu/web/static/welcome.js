// Opening: examples, the model that the server was started with, and files.

import { Refused, close, open } from "./api.js";
import { byId, make, replace } from "./dom.js";
import { complain, forgive, state } from "./state.js";

export function startWelcome(offer, opened) {
  const openAs = async (title, query, body) => {
    forgive();
    replace(byId("upload-help"));
    try {
      const model = await open(query, body);
      if (!model) return;
      if (state.model) close(state.model.id);
      opened({ ...model, title });
    } catch (error) {
      if (body) error.message = error.message.replaceAll(`upload${query.ending}`, title); // as the server calls it
      if (body) explain(title, error);
      complain(error);
    }
  };
  const card = (title, about, query) =>
    make(
      "li",
      null,
      make(
        "button",
        { type: "button", class: "card", onclick: () => openAs(title, query) },
        make("strong", null, title),
        make("span", null, about),
      ),
    );
  replace(
    byId("examples"),
    offer.given ? [card(offer.given, "The model that the server was started with.", { given: "yes" })] : [],
    offer.examples.map(({ name, title, about }) => card(title, about, { example: name })),
  );
  byId("version").textContent = `lifagu ${offer.version}`;
  byId("uploading").hidden = offer.read_only;
  if (!offer.read_only) startUpload(offer, openAs);
  if (offer.given) openAs(offer.given, { given: "yes" });
}

// A template leads to a database, which an upload may not: how to open it all the same.
function explain(name, error) {
  const isTemplate = error instanceof Refused && error.message.includes("part of a template");
  if (!isTemplate) return;
  replace(
    byId("upload-help"),
    make("p", null, `${name} is a template: it reads a database, and uploads lead nowhere. Open it where the database is:`),
    make("pre", { tabindex: "0" }, `lifagu serve ${name}\nlifagu serve ${name} --db sqlite:///my.db`),
  );
  byId("upload-help").scrollIntoView({ block: "nearest" });
}

function startUpload(offer, openAs) {
  const most = Math.round(offer.upload_limit / 2 ** 20);
  const plain = offer.endings.filter((ending) => !ending.endsWith(".gz"));
  byId("upload-hint").textContent = `${plain.join(", ")}, each also with .gz; up to ${most} MB unpacked`;
  const take = (file) => {
    if (!file) return;
    const name = file.name.toLowerCase();
    const ending = offer.endings.filter((each) => name.endsWith(each)).sort((a, b) => b.length - a.length)[0];
    if (!ending)
      complain(new Refused(`${file.name}: the ending tells no format that can be opened here (${plain.join(", ")})`));
    else if (file.size > offer.upload_limit) complain(new Refused(`${file.name}: this is more than ${most} MB`));
    else openAs(file.name, { ending }, file);
  };
  byId("upload").addEventListener("change", (event) => {
    take(event.target.files[0]);
    event.target.value = "";
  });
  const drop = byId("drop");
  for (const kind of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
}
