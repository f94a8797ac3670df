// A press and its release: what is replaced or moved in between loses its click, so nothing is.

const HELD = "button, summary, label, select, input, [role=button], [role=option]";
const FREE = "select, input:not([type=checkbox])"; // these move while they are held
const [LATE, LONGEST] = [50, 60_000]; // milliseconds: from a release to its click, and where none is told

let release = () => {};
let released = Promise.resolve();

// Whatever changes the page without being asked for by this press waits for it.
export const untilReleased = () => released;

export function startPresses() {
  const on = (name, listener) => document.addEventListener(name, listener, true);
  on("pointerdown", ({ button, target }) => {
    const held = button === 0 && target.closest?.(HELD);
    if (!held || held.matches(FREE)) return;
    release();
    released = new Promise((resolve) => (release = resolve));
    setTimeout(release, LONGEST);
  });
  on("click", () => setTimeout(release));
  on("pointerup", () => setTimeout(release, LATE));
  on("pointermove", ({ buttons }) => buttons || release()); // it was released outside
  for (const name of ["pointercancel", "contextmenu"]) on(name, () => release());
  window.addEventListener("blur", () => release());
}
