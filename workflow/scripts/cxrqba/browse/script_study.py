"""What a page shows of one study: report, films, graph, questions, regions."""

STUDY = """
"use strict";
const byId = id => document.getElementById(id);
const data = id => JSON.parse(byId(id).textContent);
const page = data("page");
function make(name, cls, ...inside) {
  const made = document.createElement(name);
  if (cls) made.className = cls;
  made.append(...inside.filter(x => x !== null && x !== undefined && x !== ""));
  return made;
}
function button(cls, act, ...inside) {
  const made = make("button", cls, ...inside);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}
const SIGNS = {pos: ["+", "pos", "positive"], neg: ["\\u2212", "neg", "negative"],
  comparison_only: ["\\u2194", "other", "comparison"],
  recommendation: ["\\u2192", "other", "recommendation"]};
const signOf = s => SIGNS[s] || ["?", "other", "not known"];
function sign(s) {
  const [mark, cls, word] = signOf(s);
  const made = make("span", "sign " + cls, mark);
  made.title = word;
  made.setAttribute("aria-label", word);
  made.setAttribute("role", "img");
  return made;
}
function grade(g, limit) {
  const cls = !g || g === "C" || g === "D" ? "out" : g === "B" ? "pre" : "fine";
  const made = make("span", "grade " + cls, g || "n.r.");
  made.title = g ? "grade " + g + (limit ? ", limited by " + limit : "") : "not rated";
  return made;
}

/* --- one study ------------------------------------------------------------------------------ */
let study = null, chosen = null, parts = [];
const studyIds = page.studies.map(s => s.id);

function openStudy(id) {
  const place = studyIds.indexOf(id);
  if (place < 0) return;
  study = data("study-" + place);
  chosen = null; parts = [];
  byId("choice").value = id;
  byId("study").replaceChildren(heading(), make("div", "study", left(), right()));
  drawBoxes(); say(HINT);
}
const HINT = "Choose a sentence, an observation, a region or an answer part " +
  "to see what belongs together.";
function heading() {
  const about = study.about.map(([name, value]) => name + " " + value).join(" \\u00b7 ");
  const made = make("div", "", make("h2", "", "Study " + study.id),
    make("p", "quiet", about || "no patient, split or date known"));
  if (study.complete === true)
    made.append(make("p", "quiet",
      "Complete: every reported sentence is accounted for, so that \\u201cno\\u201d may be said."));
  if (study.complete === false) {
    const line = make("p", "quiet",
      "Not complete, so nothing is denied that the report does not deny: ");
    for (const reason of study.reasons) {
      const [what, where] = reason.split(": ");
      const text = what.replace(/_/g, " ");
      const reasons = {kind: "reason", sentences: where ? [where] : [], text};
      line.append(button("", () => choose(reasons), text + (where ? " " + where : "")), " ");
    }
    made.append(line);
  }
  return made;
}
function left() {
  const report = make("div", "report");
  report.id = "report";
  report.tabIndex = 0;
  report.setAttribute("role", "region");
  report.setAttribute("aria-label", "report");
  for (const [text, sentence, evidence] of study.pieces) {
    const cls = (sentence ? "sentence" : "") + (evidence.length ? " held" : "");
    const piece = make("span", cls, text);
    piece.dir = "ltr";
    piece.dataset.sentence = sentence || "";
    piece.evidence = evidence;
    if (sentence) piece.addEventListener("click", () => chooseSentence(sentence));
    report.append(piece);
  }
  if (!study.pieces.length) report.append(make("span", "", "This study has no report."));
  const films = make("div", "films");
  films.id = "films";
  study.films.forEach((film, number) => films.append(filmFigure(film, number)));
  if (!study.films.length) films.append(make("p", "empty", "This study has no image."));
  const keys = make("div", "chips");
  for (const s of sentenceIds())
    keys.append(button("", () => chooseSentence(s), s));
  return make("div", "", make("h3", "", "Report"), report,
    keys.childNodes.length
      ? make("details", "", make("summary", "quiet", "Sentences by number"), keys) : null,
    make("h3", "", "Images"), films,
    make("p", "note", "Boxes: solid blue positive, dashed orange negative, dotted white neither. " +
      "Thin: all positive observations."));
}
const sentenceIds = () => [...new Set(study.pieces.map(p => p[1]).filter(Boolean))];
function filmFigure(film, number) {
  const caption = make("figcaption", "", film.view + ", " + film.id);
  if (!film.uri)
    return make("figure", "film", make("p", "empty", "No picture: " + film.note), caption);
  const image = make("img");
  image.alt = "Radiograph " + film.id + ", view " + film.view;
  image.src = film.uri;
  const boxes = document.createElementNS("http:" + "//www.w3.org/2000/svg", "svg");
  boxes.setAttribute("viewBox", "0 0 " + film.width + " " + film.height);
  boxes.setAttribute("preserveAspectRatio", "none");
  boxes.setAttribute("aria-hidden", "true");
  boxes.dataset.film = number;
  return make("figure", "film", make("div", "frame", image, boxes), caption);
}
function right() {
  const panels = {
    Graph: graphPanel(), Questions: questionPanel(), Regions: regionPanel()
  };
  return tabs(panels, "panel");
}
function tabs(panels, name) {
  const list = make("div"), box = make("div", "", list);
  list.setAttribute("role", "tablist");
  const names = Object.keys(panels);
  function show(which, focus) {
    names.forEach((n, i) => {
      panels[n].hidden = n !== which;
      const tab = list.children[i];
      tab.setAttribute("aria-selected", n === which);
      tab.tabIndex = n === which ? 0 : -1;
      if (n === which && focus) tab.focus();
    });
  }
  names.forEach((n, i) => {
    const tab = button("", () => show(n), n);
    tab.setAttribute("role", "tab");
    tab.id = name + "-" + n;
    tab.addEventListener("keydown", event => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (step) show(names[(i + step + names.length) % names.length], true);
    });
    list.append(tab);
    panels[n].setAttribute("role", "tabpanel");
    panels[n].setAttribute("aria-labelledby", tab.id);
    box.append(panels[n]);
  });
  show(names[0]);
  return box;
}
const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");
function tagsOf(o) {
  const tags = [o.findings.join(", "), o.regions.length ? "in " + o.regions.join(", ") : ""];
  if (o.side && o.side !== "unknown") tags.push(o.side);
  if (o.certainty && o.certainty !== "certain" && !SIGNS[o.certainty]) tags.push(o.certainty);
  if (o.modifiers) tags.push(o.modifiers.join(", "));
  if (o.changes && o.changes.length) tags.push("change: " + o.changes.join(", "));
  if (o.unresolved && o.unresolved.length) tags.push("not mapped: " + o.unresolved.join(", "));
  if (o.added) tags.push("added: not mentioned in a complete report");
  return tags.filter(Boolean).join(" \\u00b7 ");
}
function graphPanel() {
  const panel = make("div");
  const indication = study.indication;
  if (indication && indication.text)
    panel.append(make("h3", "", "Indication"), item(
      {kind: "indication", sentences: indication.sentences, observations: indication.observations,
       text: "indication"}, null, indication.text,
      "What the report says of it is marked when chosen."));
  const known = Object.keys(study.observations).filter(o => o !== "OIND");
  panel.append(make("h3", "", plural(known.length, "observation")));
  const shown = new Set();
  const list = ids => {
    const tree = make("ul", "tree");
    for (const id of ids) {
      const o = study.observations[id];
      if (!o || shown.has(id)) continue;
      shown.add(id);
      const entry = make("li", "", observationItem(id, o));
      if (o.children.length) entry.append(list(o.children));
      tree.append(entry);
    }
    return tree;
  };
  panel.append(list(study.top), list(known));
  if (!shown.size) panel.append(make("p", "empty", "No observation was found in this report."));
  return panel;
}
function observationItem(id, o) {
  const what = {kind: "observation", id, observations: [id], text: id};
  return item(what, o.sign, id + (o.kind ? " (" + o.kind + ")" : "") + ": " + o.name, tagsOf(o));
}
function item(what, signed, text, tags) {
  const made = button("item", () => choose(what), signed ? sign(signed) : null, text,
    tags ? make("span", "tags", tags) : null);
  made.what = what;
  made.setAttribute("aria-pressed", "false");
  parts.push(made);
  return made;
}
function questionPanel() {
  const panel = make("div");
  const strategy = make("select"), only = make("input"), count = make("span", "quiet");
  strategy.setAttribute("aria-label", "strategy");
  strategy.append(new Option("all strategies", ""));
  for (const s of new Set(study.questions.map(q => q.strategy)))
    strategy.append(new Option(s.replace(/_/g, " "), s));
  only.type = "checkbox";
  only.id = "only";
  const box = make("div");
  box.id = "questions";
  for (const q of study.questions) box.append(question(q));
  filterQuestions = () => {
    let shown = 0;
    for (const card of box.children) {
      const about = !only.checked || !chosen ||
        card.about.some(o => (chosen.observations || []).includes(o));
      card.hidden = !about || (strategy.value !== "" && card.dataset.strategy !== strategy.value);
      if (!card.hidden) shown += 1;
    }
    count.textContent = plural(shown, "question");
  };
  strategy.addEventListener("change", filterQuestions);
  only.addEventListener("change", filterQuestions);
  filterQuestions();
  const label = make("label", "", only, " about what is chosen");
  panel.append(make("div", "bar", strategy, label, count), make("p", "note",
    "Grades: A or better fine-tuning, B pre-training; C, D and n.r. (not rated) left out."), box);
  if (!study.questions.length)
    panel.append(make("p", "empty", "No question was asked of this study."));
  return panel;
}
let filterQuestions = () => {};
function question(q) {
  const card = make("details", "", make("summary", "", grade(q.grade, q.limit), q.text));
  card.dataset.strategy = q.strategy;
  card.about = [...new Set(q.parts.flatMap(p => study.contents[p[0]].observations))];
  card.append(make("p", "quiet",
    q.type + (q.grade ? "" : ": not rated") + (q.limit ? "; limited by " + q.limit : "")));
  let filled = false;
  card.addEventListener("toggle", () => {
    if (!card.open || filled) return;
    filled = true;
    q.parts.forEach(p => card.append(answerPart(p)));
    mark();
  });
  return card;
}
function answerPart([place, level, type, given, limit]) {
  const c = study.contents[place];
  const what = {kind: "answer part", observations: c.observations, text: "this answer part",
    content: c};
  const made = item(what, c.sign, c.text, type.replace(/_/g, " ") + " \\u00b7 " + tagsOf(c));
  made.classList.add("level" + Math.min(level, 2));
  made.prepend(grade(given, limit));
  return made;
}
function regionPanel() {
  const panel = make("div", ""), own = make("div", "chips"), wider = make("div", "chips");
  for (const [region, boxes] of Object.entries(study.regions)) {
    const chip = button("", () => choose(chip.what), region);
    chip.what = {kind: "region", region, boxes, text: "the region " + region +
      (region in study.wider ? ", shown by " + study.wider[region] : "")};
    chip.setAttribute("aria-pressed", "false");
    parts.push(chip);
    (region in study.wider ? wider : own).append(chip);
  }
  const titles = [[own, " with boxes"], [wider, " shown by a wider one"]];
  for (const [chips, title] of titles) if (chips.childNodes.length)
    panel.append(make("h3", "", plural(chips.childNodes.length, "region") + title), chips);
  if (!panel.childNodes.length)
    panel.append(make("p", "empty", "No region was localised in this study."));
  return panel;
}
"""
