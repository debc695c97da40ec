"""The review sheet as one page that works from a file, without a server or the network (Sec. C.1).

The page holds the cases as data, keeps what was chosen in the browser's own storage, and gives the
filled sheet as a CSV that ``evaluate.ratings`` of the dataset file takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from cxrqba.judge.review import COLUMNS

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>Review sheet: @TITLE@</title>
<style>
body { font: 15px/1.45 sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; color: #222; }
header { position: sticky; top: 0; background: #fff; border-bottom: 1px solid #ccc; }
section { border: 1px solid #ccc; border-radius: 4px; margin: 1rem 0; padding: .5rem 1rem; }
section.done { border-color: #009e73; }
pre { white-space: pre-wrap; background: #f5f5f5; padding: .5rem; font: 13px/1.4 monospace; }
.part { font-weight: bold; border-left: 4px solid #0072b2; padding-left: .5rem; }
label { margin-right: 1rem; white-space: nowrap; }
h2 { font-size: 1rem; margin: .25rem 0; }
</style>
</head>
<body>
<header>
<strong>Review sheet: @TITLE@</strong>
<label>Rater <input id="rater" autocomplete="off"></label>
<label>Show <select id="filter"><option value="">all criteria</option></select></label>
<button id="save">Save as CSV</button> <span id="count"></span>
</header>
<p>For each case choose the level that fits what is shown. Judge only what is shown; what the judge
said is not. Choices are kept in this browser until they are saved.</p>
<main id="cases"></main>
<script id="data" type="application/json">@DATA@</script>
<script>
"use strict";
const {columns, rows, store} = JSON.parse(document.getElementById("data").textContent);
const rater = document.getElementById("rater");
const filter = document.getElementById("filter");
let kept = {};
try { kept = JSON.parse(localStorage.getItem(store) || "{}"); } catch (e) { kept = {}; }
rater.value = kept.rater || "";
kept.levels = kept.levels || {};
kept.comments = kept.comments || {};
function keep() {
  kept.rater = rater.value;
  try { localStorage.setItem(store, JSON.stringify(kept)); } catch (e) { /* private window */ }
  const done = Object.keys(kept.levels).length;
  document.getElementById("count").textContent = done + " of " + rows.length + " rated";
}
function element(name, text, cls) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (cls) made.className = cls;
  return made;
}
function card(row, number) {
  const box = element("section");
  box.dataset.criterion = row.criterion;
  box.append(element("h2", (number + 1) + ". " + row.criterion.replace("_", " ")));
  if (row.report) box.append(element("pre", row.report));
  if (row.question) box.append(element("p", "Question: " + row.question));
  if (row.parts) for (const part of row.parts.split("\\n"))
    box.append(element("p", part, part === row.part ? "part" : ""));
  for (const level of row.levels.split(" ")) {
    const label = element("label");
    const choice = element("input");
    choice.type = "radio"; choice.name = "case" + number; choice.value = level;
    choice.checked = kept.levels[number] === level;
    choice.addEventListener("change", () => {
      kept.levels[number] = level; box.className = "done"; keep();
    });
    label.append(choice, " " + level);
    box.append(label);
  }
  const comment = element("input");
  comment.placeholder = "comment"; comment.size = 60; comment.value = kept.comments[number] || "";
  comment.addEventListener("input", () => { kept.comments[number] = comment.value; keep(); });
  box.append(element("br"), comment);
  if (kept.levels[number]) box.className = "done";
  return box;
}
function cell(text) {
  return /[",\\n\\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}
function filledSheet() {
  const lines = [columns.join(",")];
  rows.forEach((row, number) => {
    const filled = Object.assign({}, row, {
      level: kept.levels[number] || "",
      rater: kept.levels[number] ? rater.value : "",
      comment: kept.comments[number] || ""
    });
    lines.push(columns.map(c => cell(filled[c] || "")).join(","));
  });
  return lines.join("\\n") + "\\n";
}
function save() {
  if (!rater.value.trim()) { rater.focus(); rater.style.outline = "2px solid #d55e00"; return; }
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([filledSheet()], {type: "text/csv"}));
  link.download = "review_" + rater.value.trim().replace(/\\W+/g, "_") + ".csv";
  link.click();
}
rows.forEach((row, number) => document.getElementById("cases").append(card(row, number)));
for (const name of new Set(rows.map(r => r.criterion))) {
  const option = element("option", name.replace("_", " "));
  option.value = name;
  filter.append(option);
}
filter.addEventListener("change", () => {
  for (const box of document.querySelectorAll("section"))
    box.hidden = filter.value !== "" && box.dataset.criterion !== filter.value;
});
rater.addEventListener("input", keep);
document.getElementById("save").addEventListener("click", save);
keep();
</script>
</body>
</html>
"""


def review_page(rows: Sequence[Mapping[str, str]], title: str, store: str) -> str:
    """The page; ``store`` names the browser's storage, so that two sheets do not mix."""
    data = json.dumps({"columns": COLUMNS, "rows": list(rows), "store": store}, ensure_ascii=False)
    safe = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    plain = title.replace("&", "&amp;").replace("<", "&lt;")
    return _PAGE.replace("@TITLE@", plain).replace("@DATA@", safe)
