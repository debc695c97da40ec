"""What pages do: no library, no address, no markup from data; every text is set as text."""

from cxrqba.browse.script_choice import CHOICE
from cxrqba.browse.script_study import STUDY

_PAGE = """
/* --- tables, figures ------------------------------------------------------------------------- */
function runs(paragraphs) {
  const run = ([style, text]) => style ? make(style, "", text) : text;
  return paragraphs.map(p => make("p", "", ...p.map(run)));
}
function entry(one, inside) {
  const made = make("section", "entry", make("h2", "", one.title), ...inside, ...runs(one.caption));
  made.id = one.name;
  return made;
}
function tableEntry(one) {
  const inside = [];
  for (const block of one.blocks) {
    if (block.heading) inside.push(make("h3", "", block.heading));
    const cell = (name, text, i) => make(name, block.right[i] ? "right" : "", text);
    const row = (name, cells) => make("tr", "", ...cells.map((c, i) => cell(name, c, i)));
    const head = make("thead", "", row("th", block.columns));
    const body = make("tbody", "", ...block.rows.map(r => row("td", r)));
    const scroll = make("div", "scroll", make("table", "", head, body));
    scroll.tabIndex = 0;
    inside.push(scroll);
  }
  one.notes.forEach(n => inside.push(make("p", "note", n)));
  return entry(one, inside);
}
function figureEntry(one) {
  const image = make("img");
  image.src = one.uri;
  image.alt = one.title;
  return entry(one, [image]);
}
function listing(items, build) {
  const contents = make("ul", "contents"), panel = make("div", "", contents);
  for (const one of items) {
    const made = build(one);
    contents.append(make("li", "", button("", () => made.scrollIntoView(), one.short)));
    panel.append(made);
  }
  if (!items.length) panel.append(make("p", "empty", "None was made."));
  return panel;
}

/* --- the whole page -------------------------------------------------------------------------- */
function move(step) {
  const options = [...byId("choice").options];
  const next = options[byId("choice").selectedIndex + step];
  if (next) go(next.value);
}
function go(id) {
  openStudy(id);
  const place = "#" + encodeURIComponent(id);
  try { history.replaceState(null, "", place); } catch (e) { /* not in a frame */ }
}
const KINDS = {"": () => true,
  complete: s => s.complete === true, "not complete": s => s.complete === false,
  "with images": s => s.films > 0, "without images": s => s.films === 0};
function fillChoice(kind) {
  const graph = s => s.complete === null ? "no graph" : s.complete ? "complete" : "not complete";
  const label = s => s.id + ": " +
    [graph(s), plural(s.films, "image"), plural(s.questions, "question")].join(", ");
  byId("choice").replaceChildren(
    ...page.studies.filter(KINDS[kind]).map(s => new Option(label(s), s.id)));
}
function studiesPanel() {
  const choice = make("select");
  choice.id = "choice";
  choice.setAttribute("aria-label", "study");
  choice.addEventListener("change", () => go(choice.value));
  const kind = make("select");
  kind.id = "kind";
  kind.setAttribute("aria-label", "which studies");
  for (const k of Object.keys(KINDS)) kind.append(new Option(k || "all shown", k));
  kind.addEventListener("change", () => {
    fillChoice(kind.value);
    if (choice.options.length) go(choice.value);
    else {
      byId("study").replaceChildren(make("p", "empty", "No study of this kind is shown."));
      say("");
    }
  });
  const shown = make("div");
  shown.id = "study";
  const bar = make("div", "bar", button("", () => move(-1), "\\u2190 Previous"), choice,
    button("", () => move(1), "Next \\u2192"), kind,
    make("span", "quiet", "Keys: p previous, n next, Esc clears the choice."));
  bar.hidden = page.studies.length < 2;
  const panel = make("div", "", make("p", "quiet", page.shown), bar, shown);
  return panel;
}
const panels = {Studies: studiesPanel()};
if (page.tables.length) panels.Tables = listing(page.tables, tableEntry);
if (page.figures.length) panels.Figures = listing(page.figures, figureEntry);
const whole = tabs(panels, "page");
const menu = whole.firstChild;
menu.hidden = Object.keys(panels).length < 2;
document.querySelector("header").append(menu);
document.querySelector("main").append(whole);
new MutationObserver(() => { byId("status").hidden = panels.Studies.hidden; })
  .observe(panels.Studies, {attributes: true});
fillChoice("");
document.addEventListener("keydown", event => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape" && chosen) choose(chosen);
  else if (!typing && !panels.Studies.hidden && event.key === "n") move(1);
  else if (!typing && !panels.Studies.hidden && event.key === "p") move(-1);
});
let wanted = "";
try { wanted = decodeURIComponent(location.hash.slice(1)); } catch (e) { wanted = ""; }
if (page.studies.length) openStudy(studyIds.includes(wanted) ? wanted : studyIds[0]);
else say(page.shown);
"""

SCRIPT = STUDY + CHOICE + _PAGE
