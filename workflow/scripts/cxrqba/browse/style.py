"""How pages look: readable on a laptop, blue and orange for yes and no, marks besides colours."""

STYLE = """
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0; color: #1b1b1b; background: #fff; }
h1 { font-size: 1.05rem; margin: 0; } h2 { font-size: 1.05rem; margin: .2rem 0 .5rem; }
h3 { font-size: .95rem; margin: .9rem 0 .35rem; }
header { position: sticky; top: 0; z-index: 2; background: #fff; border-bottom: 1px solid #bbb;
 padding: .45rem 1rem; display: flex; flex-wrap: wrap; gap: .35rem 1rem; align-items: center; }
p { margin: .35rem 0; }
main { padding: .4rem 1rem 2rem; max-width: 1500px; margin: 0 auto; }
button, select, input { font: inherit; color: inherit; }
button { background: #fff; border: 1px solid #bbb; border-radius: 4px; padding: .1rem .5rem;
 cursor: pointer; }
button:hover { border-color: #0072b2; }
:focus-visible { outline: 3px solid #0072b2; outline-offset: 1px; }
[aria-pressed=true], [aria-selected=true] { background: #d6ebf8; border-color: #0072b2; }
[role=tablist] { display: flex; gap: .25rem; flex-wrap: wrap; }
[hidden] { display: none !important; }
.bar { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: center;
 margin: .4rem 0 .5rem; }
.bar select { max-width: 26rem; }
.quiet, .tags, .note { color: #555; font-size: .87rem; }
.study { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 1.4rem; }
.study > :first-child { position: sticky; top: 2.9rem; align-self: start; overflow: auto;
 max-height: calc(100vh - 5.3rem); padding: 0 3px; }
@media (max-width: 700px) { .study { grid-template-columns: minmax(0, 1fr); }
 .study > :first-child { position: static; max-height: none; } }
#status { position: sticky; bottom: 0; background: #fff8e1; border-top: 1px solid #bbb;
 padding: .35rem 1rem; min-height: 2.1rem; font-size: .9rem; }
.report { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f6f6; padding: .6rem;
 border: 1px solid #ddd; border-radius: 4px; max-height: 20rem; overflow: auto;
 position: relative; }
.report span { unicode-bidi: isolate; border-radius: 2px; }
.report .sentence { cursor: pointer; }
.report .sentence:hover { background: #e9e9e9; }
.report .held { text-decoration: underline dotted #777 1.5px; text-underline-offset: 3px; }
.report .on { background: #fff0b3; }
.report .key { background: #ffc94d; text-decoration: underline solid #000 2px; }
.films { display: flex; flex-wrap: wrap; gap: .6rem; }
figure { margin: 0; } figcaption { font-size: .85rem; color: #555; overflow-wrap: anywhere; }
.film { flex: 1 1 10rem; max-width: 26rem; }
.frame { position: relative; background: #000; }
.frame img, .frame svg { display: block; width: 100%; height: auto; }
.frame svg { position: absolute; inset: 0; height: 100%; }
.frame rect { fill: none; stroke-width: 2.5px; vector-effect: non-scaling-stroke; }
.frame .halo { stroke: #000; stroke-width: 5px; opacity: .55; }
.frame .pos { stroke: #56b4e9; } .frame .neg { stroke: #ffb000; stroke-dasharray: 7 5; }
.frame .other { stroke: #fff; stroke-dasharray: 2 4; } .frame .faint { stroke-width: 1.2px; }
.empty { padding: 2rem .8rem; text-align: center; background: #eee; color: #444; }
.tree, .tree ul { list-style: none; margin: 0; padding: 0; }
.tree ul { margin-left: .7rem; padding-left: .7rem; border-left: 2px solid #ccc; }
.tree li { margin: .3rem 0; }
.item { display: block; width: 100%; text-align: left; padding: .25rem .5rem;
 overflow-wrap: anywhere; }
.sign { display: inline-block; min-width: 1.25rem; text-align: center; font-weight: 700;
 border-radius: 3px; color: #fff; background: #0072b2; margin-right: .4rem; }
.sign.neg { background: #a04000; } .sign.other { background: #666; }
.item.related { box-shadow: inset 4px 0 #e69f00; }
.tags { display: block; }
details { border: 1px solid #ddd; border-radius: 4px; margin: .3rem 0; padding: .25rem .5rem; }
details[open] { border-color: #888; }
summary { cursor: pointer; overflow-wrap: anywhere; }
details .item { margin-top: .25rem; }
.level1 { margin-left: 1.2rem; width: calc(100% - 1.2rem); }
.level2 { margin-left: 2.4rem; width: calc(100% - 2.4rem); }
.grade { display: inline-block; min-width: 2.4rem; text-align: center; border: 1px solid #888;
 border-radius: 3px; font-weight: 700; font-size: .85rem; margin-right: .35rem; background: #fff; }
.grade.fine { background: #cfe8f7; } .grade.pre { background: #fdf0d0; }
.grade.out { background: #eee; color: #555; }
.chips { display: flex; flex-wrap: wrap; gap: .3rem; }
.scroll { overflow-x: auto; margin-bottom: .6rem; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .15rem .55rem; text-align: left; vertical-align: top; white-space: nowrap; }
thead th { border-top: 2px solid #333; border-bottom: 1px solid #333; white-space: normal;
 vertical-align: bottom; }
tbody tr:last-child td { border-bottom: 2px solid #333; }
tbody tr:nth-child(even) { background: #f6f6f6; }
.right { text-align: right; font-variant-numeric: tabular-nums; }
section.entry { border-bottom: 1px solid #ddd; padding: .6rem 0 1rem; scroll-margin-top: 4rem; }
section.entry p { max-width: 62rem; }
section.entry img { max-width: 100%; height: auto; border: 1px solid #eee; }
.contents { columns: 20rem; font-size: .9rem; padding: 0; list-style: none; }
.contents li { break-inside: avoid; margin: .1rem 0; }
.contents button { border: 0; padding: 0; text-align: left; color: #005a8c;
 text-decoration: underline; }
"""
