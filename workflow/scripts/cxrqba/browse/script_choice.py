"""What a page does when something is chosen: report, films and lists show what goes with it."""

CHOICE = """
/* --- what belongs together ------------------------------------------------------------------- */
function chooseSentence(id) {
  const observations = Object.keys(study.observations)
    .filter(o => study.observations[o].sentences.includes(id));
  choose({kind: "sentence", sentences: [id], observations, text: "sentence " + id});
}
function choose(what) {
  chosen = chosen === what ? null : what;
  mark(); drawBoxes(); filterQuestions();
  if (!chosen) { say(HINT); return; }
  say(summary());
  const first = document.querySelector(".report .key, .report .on");
  if (first) {
    const report = byId("report");
    report.scrollTop = Math.max(0, first.offsetTop - report.clientHeight / 3);
  }
}
function sentencesOf(what) {
  const own = (what.observations || [])
    .flatMap(o => (study.observations[o] || {sentences: []}).sentences);
  return [...new Set([...(what.sentences || []), ...own])];
}
function mark() {
  const obs = chosen ? chosen.observations || [] : [];
  const sentences = chosen ? sentencesOf(chosen) : [];
  for (const piece of byId("report").children) {
    piece.classList.toggle("on", sentences.includes(piece.dataset.sentence));
    piece.classList.toggle("key", (piece.evidence || []).some(o => obs.includes(o)));
  }
  for (const one of parts) {
    const here = one.what === chosen;
    one.setAttribute("aria-pressed", here);
    const shared = (one.what.observations || []).some(o => obs.includes(o));
    one.classList.toggle("related", !here && shared);
  }
}
function boxesOf(what) {
  const found = [];
  const add = (boxes, cls) => {
    for (const [film, list] of Object.entries(boxes || {})) found.push([Number(film), list, cls]);
  };
  if (what.kind === "region") add(what.boxes, "other");
  else if (what.content) {
    const cls = signOf(what.content.sign)[1];
    for (const o of what.content.boxes) add((study.observations[o] || {}).boxes, cls);
    for (const r of what.content.places) add(study.regions[r], cls);
  } else for (const o of what.observations || [])
    add((study.observations[o] || {}).boxes, signOf((study.observations[o] || {}).sign)[1]);
  return found;
}
function drawBoxes() {
  const all = [];
  if (chosen) all.push(...boxesOf(chosen));
  else for (const o of Object.values(study.observations))
    if (o.sign === "pos")
      for (const [film, list] of Object.entries(o.boxes))
        all.push([Number(film), list, "pos faint"]);
  for (const svg of document.querySelectorAll("#films svg")) {
    svg.replaceChildren();
    for (const [film, list, cls] of all) if (film === Number(svg.dataset.film))
      for (const [x1, y1, x2, y2] of list) for (const look of ["halo", cls]) {
        if (look === "halo" && !chosen) continue;
        const rect = document.createElementNS(svg.namespaceURI, "rect");
        const at = {x: x1, y: y1, width: x2 - x1, height: y2 - y1, class: look};
        for (const name of Object.keys(at)) rect.setAttribute(name, at[name]);
        svg.append(rect);
      }
  }
}
function summary() {
  const what = chosen, sentences = sentencesOf(what), obs = what.observations || [];
  const boxes = boxesOf(what).reduce((sum, b) => sum + b[1].length, 0);
  const told = [what.text.charAt(0).toUpperCase() + what.text.slice(1)];
  if (what.kind === "answer part" && obs.length) told.push("from " + obs.join(", "));
  if (what.kind === "sentence")
    told.push(obs.length ? "gives " + obs.join(", ") : "gives no observation");
  if (what.kind !== "region")
    told.push(sentences.length ? "stands in " + sentences.join(", ")
      : what.content && what.content.stated === false || obs.length
        ? "stands in no sentence: it was added because the complete report does not mention it"
        : "stands in no single sentence: it follows from the whole report");
  const wide = (what.content ? what.content.boxes : obs)
    .some(o => (study.observations[o] || {}).fallback) ||
    (what.content ? what.content.places : []).some(r => r in study.wider);
  if (boxes && wide) told.push("a wider region stands in for one without boxes");
  told.push(boxes ? plural(boxes, "box").replace("boxs", "boxes") : "no box");
  return told.join(" \\u00b7 ");
}
function say(text) { byId("status").textContent = text; }
"""
