#!/usr/bin/env python3
"""Opens pages that pmend makes in a real Chromium.

    tests/html/run.py [NAME]...        in the project's folder; PMEND_SHOTS=FOLDER keeps screenshots of three widths

Prints `ok NAME` or `FAIL NAME: …`. Every page must ask for nothing but itself and give the console nothing to complain of."""
import functools
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True
os.chdir(os.path.join(HERE, "..", ".."))

import samples  # noqa: E402
from browser import Browser  # noqa: E402
from each import choose, run_each  # noqa: E402
from samples import PMEND, page, run  # noqa: E402

WIDTHS = (390, 820, 1360)
PAGE_MAX_BYTES = 10 << 20
TRACE_PAGE_MAX_BYTES = 5 << 20

SHOWN = "return [...document.querySelectorAll('article')].filter(a => a.offsetParent !== null && !a.hidden).map(a => a.id)"
ROWS = "return [...document.querySelectorAll('#index tbody tr')].filter(r => !r.hidden).map(r => +r.dataset.rank)"

# Every text that is seen has enough contrast with what is behind it (WCAG 2.1 AA). In drawings the bands behind are looked for; what is behind marks is the page.
CONTRAST = r"""
const lum = ([r, g, b]) => { const f = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return { rgb: m.slice(0, 3), a: m.length > 3 ? m[3] : 1 }; };
const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a === 1) return c.rgb; } return [255, 255, 255]; };
const bad = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let n; n = walk.nextNode();) {
  const e = n.parentElement;
  if (!n.data.trim() || /^(SCRIPT|STYLE|TITLE|OPTION)$/i.test(e.tagName) || !e.getClientRects().length) continue;
  const s = getComputedStyle(e), svg = e.closest('svg');
  const rect = svg && e.parentElement.querySelector('rect:not(.hot)');
  const back = rect && e.parentElement.tagName === 'g' && getComputedStyle(rect).fill !== 'none' && !e.parentElement.classList.contains('ev') ? parse(getComputedStyle(rect).fill).rgb : behind(svg || e);
  const a = lum(parse(svg ? s.fill : s.color).rgb), b = lum(back);
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && +s.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.5)) bad.push([n.data.trim().slice(0, 30), e.className.baseVal || e.className, +ratio.toFixed(2)]);
}
return bad;
"""


def equal(got, want, what="value"):
    if got != want:
        raise AssertionError(f"{what} is {got!r}, not {want!r}")


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def quiet(b, path):
    """Nothing was asked for but the page, and nothing is wrong with it."""
    equal([u for u in b.requests() if u != "file://" + path and not u.startswith("chrome")], [], "what was asked for besides the page")
    equal(b.complaints(), [], "what the console says")


def opened(b, path):
    b.requests(), b.complaints()
    b.open(path)
    quiet(b, path)


# ---- tests: each gets a browser and a folder ----

def test_index(b, folder):
    """Filters, order, and how many are left."""
    path = page(samples.mixed(), f"{folder}/mixed.html")
    opened(b, path)
    equal(b.js("return document.getElementById('all').open"), False, "whether the list is open")
    b.click("#all > summary")
    equal(b.js(ROWS), [1, 2, 3, 4, 5, 6], "the rows")
    for control, value, want in (("severity", "performance", [4, 5]), ("kind", "missing-fence", [3]), ("file", "tree.c", [3, 4]), ("owner", "library", [5]),
                                 ("owner", "mine", [1, 2, 3, 4, 6]), ("text", "twice TREE", [4]), ("text", "update_2", [3]), ("text", "no such thing", [])):
        b.choose("#by-" + control, value)
        equal(b.js(ROWS), want, f"rows of {control} {value}")
        equal(len(b.js(SHOWN)), len(want), f"findings of {control} {value}")
        expect(b.js("return document.getElementById('shown').value").startswith(f"{len(want)} of 6"), "the number is not said")
        b.click("#reset")
        equal(b.js(ROWS), [1, 2, 3, 4, 5, 6], "the rows after a reset")
    b.choose("#by-severity", "correctness")
    b.choose("#by-file", "tree.c")
    equal(b.js(ROWS), [3], "rows of two filters")
    b.click("#reset")
    b.choose("#sort", "file")
    equal(b.js(ROWS), [1, 2, 5, 6, 3, 4], "rows by file")
    equal(b.js(SHOWN)[4], "bug-0000000000000003", "the fifth finding by file")
    b.choose("#sort", "count")
    equal(b.js(ROWS), [6, 5, 4, 3, 2, 1], "rows by count")
    quiet(b, path)


def test_first_screen(b, folder):
    """The first finding is what one sees first; findings of one line are one entry; few findings need no filters."""
    reports = {"one": samples.report([samples.bug(0)]), "mixed": samples.mixed(),
               "line": samples.report([samples.bug(0), samples.bug(0, kind="missing-fence") | {"id": "0" * 15 + "9"}, samples.bug(1, "performance", "flush-clean")])}
    for name, report in reports.items():
        path = page(report, f"{folder}/first-{name}.html")
        for width, height in ((1280, 900), (400, 800)):
            b.size(width, height)
            opened(b, path)
            top = b.js("return document.querySelector('article').getBoundingClientRect().top")
            expect(top < height * 0.35, f"{name}: the first finding is at {top} of {height}")
            equal(b.js("return [document.querySelectorAll('details.about').length, document.querySelector('details.about').open]"), [1, False], "what is folded")
    b.size(1360)
    opened(b, f"{folder}/first-line.html")
    equal(b.js("return document.getElementById('controls')"), None, "the filters")
    equal(b.js(ROWS), [1, 2], "the rows")
    equal(b.js(SHOWN), ["bug-0000000000000001", "bug-0000000000000002"], "the entries")
    equal(b.js("return [...document.querySelectorAll('article:first-of-type h2')].map(h => h.textContent)"), ["1 missing-flush src/app.c:10", "and missing-fence src/app.c:10"], "the kinds of the line")
    b.js("location.hash = '#bug-0000000000000009'")
    expect(b.js("return document.querySelector(':target').closest('article').id === 'bug-0000000000000001'"), "no anchor for the second kind")


def test_zeros(b, folder):
    """Zero bytes, one after the other, are one row of memory."""
    bug = samples.bug(0, **samples.evidence(8))
    row = bug["memory"][0]
    row.update(durable="00" * 64, newest="00" * 48 + "11" * 16, possible=[], possible_all=0, fields=[{"offset": 0, "size": 64, "name": "node.text"}])
    del row["found"]
    opened(b, page(samples.report([bug]), f"{folder}/zeros.html"))
    equal(b.js("return [...document.querySelector('.row table').rows].map(r => r.cells[0].textContent + ' ' + r.cells[1].textContent)")[:2],
          ["+0x0 48 zero bytes", "+0x30  node.text +0\u2026f"], "the rows")


def test_without_scripts(b, folder):
    """A plain document: all is there, and nothing that needs the script is seen."""
    path = page(samples.mixed(), f"{folder}/mixed.html")
    b.scripts(False)
    try:
        opened(b, path)
        source = b.devtools("DOMSnapshot.captureSnapshot", computedStyles=["display"])
        texts = " ".join(source["strings"])
        for part in ("a crash can lose this store", "redundant-flush", "b 9", "Replay exactly this crash state", "node.value", "81&#8239;234".replace("&#8239;", "\u202f")):
            expect(part in texts, f"{part!r} is not in the document")
        visible = b.devtools("Runtime.evaluate", expression="1")  # the devtools' own scripts still run
        equal(visible["result"]["value"], 1)
        hidden = b.devtools("Runtime.evaluate", expression="document.getElementById('controls').offsetParent === null", returnByValue=True)
        equal(hidden["result"].get("value"), True, "the controls are hidden")
        articles = b.devtools("Runtime.evaluate", expression="[...document.querySelectorAll('article')].every(a => a.offsetParent)", returnByValue=True)
        equal(articles["result"].get("value"), True, "every finding is seen")
        b.click("article .next summary")
        equal(b.devtools("Runtime.evaluate", expression="document.querySelector('article .next').open", returnByValue=True)["result"]["value"], True, "a box opens")
    finally:
        b.scripts(True)


def test_keyboard(b, folder):
    path = page(samples.mixed(), f"{folder}/mixed.html")
    opened(b, path)
    focus = "return document.activeElement.id"
    b.press("j")
    equal(b.js(focus), "bug-0000000000000001", "the first finding")
    b.press("j", "j")
    equal(b.js(focus), "bug-0000000000000003", "two further")
    b.press("k")
    equal(b.js(focus), "bug-0000000000000002", "one back")
    b.press("/")
    equal(b.js(focus), "by-text", "the search field")
    b.press("t", "w", "i", "c", "e")
    equal(b.js(ROWS), [4], "what is left of the search")
    b.press("Escape")
    equal(b.js("return document.querySelectorAll('#index tr[hidden]').length"), 0, "rows that are still hidden")
    b.js("document.querySelector('.time').focus()")
    b.press("ArrowRight", "ArrowRight")
    detail = b.js("return document.querySelector('.time').nextElementSibling.textContent")
    expect("event 101" in detail and "lost" in detail and "app.c:11" in detail, f"the second event is not told: {detail!r}")
    b.press("ArrowLeft")
    expect("event 100" in b.js("return document.querySelector('.time').nextElementSibling.textContent"), "the first event is not told")
    unreachable = b.js("return [...document.querySelectorAll('.scroll, pre')].filter(e => e.tabIndex < 0).length")
    equal(unreachable, 0, "parts that scroll and cannot be reached by keyboard")
    quiet(b, path)


def test_copy(b, folder):
    """What is copied is the command itself."""
    path = page(samples.mixed(), f"{folder}/mixed.html")
    opened(b, path)
    b.js("window.copied = []; navigator.clipboard.writeText = async t => { window.copied.push(t); }; document.querySelector('.next').open = true;")
    b.click("article .copy button")
    equal(b.js("return window.copied"), [samples.crash()["replay"]], "what was copied")
    commands = b.js("return [...document.querySelectorAll('article:first-of-type .copy pre')].map(p => p.textContent)")
    expect(commands[1] == samples.crash()["replay"].replace("pmend crash ", "pmend crash --gdb "), f"no command for gdb: {commands[1]!r}")
    expect("--show-choices" in commands[2], f"no command for choices: {commands[2]!r}")
    expect("\tid: 0000000000000001" in commands[3], f"no suppression: {commands[3]!r}")
    quiet(b, path)


def test_hostile(b, folder):
    """Names and output of a program that means harm: shown as text, cut, and nothing more."""
    path = page(samples.hostile(), f"{folder}/hostile.html")
    expect(os.path.getsize(path) < 1 << 20, f"{os.path.getsize(path)} bytes for two findings")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    equal([c for c in sorted(set(text)) if ord(c) < 32 and c not in "\n\t"], [], "control characters in the page")
    expect("\u202e" not in text, "a character that reverses the direction of writing")
    opened(b, path)
    equal(b.js("return [document.scripts.length, document.querySelectorAll('img').length, document.querySelectorAll('style').length]"), [1, 0, 1], "scripts, pictures and styles")
    expect(samples.HOSTILE.split(" ")[0] in b.js("return document.querySelector('article .message').textContent"), "the message is not shown")
    equal(len(b.js(SHOWN)), 2, "the findings")
    equal(b.js("return [...document.querySelectorAll('*')].filter(e => e.hasAttribute('style') || [...e.attributes].some(a => a.name.startsWith('on'))).length"), 0,
          "elements with a style or a handler of their own")
    equal(b.js("return [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => /[\"'<>=]/.test(a.name))).length"), 0, "attributes that are pieces of text")
    equal(b.js("return [document.querySelectorAll('.time svg .ev').length, document.querySelectorAll('.time svg > .bx').length > 0]"), [24, True], "marks and bands in the drawing")
    b.size(390)
    expect(b.js("return document.documentElement.scrollWidth <= innerWidth"), "the page is wider than a phone")
    quiet(b, path)


def test_widths_and_contrast(b, folder):
    """Three widths, light and dark."""
    path = page(samples.mixed(), f"{folder}/mixed.html")
    for scheme in ("light", "dark"):
        b.scheme(scheme)
        for width in WIDTHS:
            b.size(width)
            opened(b, path)
            expect(b.js("return document.documentElement.scrollWidth <= innerWidth"), f"wider than {width}")
            b.js("for (const d of document.querySelectorAll('details')) d.open = true")
            equal(b.js(CONTRAST), [], f"texts without contrast ({scheme}, {width})")
            if shots := os.environ.get("PMEND_SHOTS"):
                b.screenshot(os.path.join(shots, f"{scheme}-{width}.png"))
    b.scheme("light")
    b.size(1360)


def test_thousand(b, folder):
    """A thousand findings: below 10 MB, and filtering takes no time that one notices. The middle one of five counts: others use the machine, too."""
    kinds = ("missing-flush", "missing-fence", "ordering", "redundant-flush")
    bugs = [samples.bug(i, "performance" if i % 4 == 3 else "correctness", kinds[i % 4], f"file{i % 40}.c", **samples.evidence(40), crash=samples.crash()) for i in range(1000)]
    path = page(samples.report(bugs), f"{folder}/thousand.html")
    expect(os.path.getsize(path) < PAGE_MAX_BYTES, f"{os.path.getsize(path)} bytes")
    opened(b, path)
    spent = b.js("""
      const field = document.getElementById('by-text'), spent = [];
      for (const word of ['file7.c', 'update_9', '', 'ordering', '']) {
        const begin = performance.now();
        field.value = word;
        field.dispatchEvent(new Event('input', { bubbles: true }));
        document.body.getBoundingClientRect();
        spent.push(performance.now() - begin);
      }
      return spent;""")
    print(f"# {os.path.getsize(path) >> 10} KiB; ms to filter: {', '.join(f'{s:.0f}' for s in spent)}")
    b.choose("#by-kind", "ordering")
    equal(len(b.js(ROWS)), 250, "rows of one kind")
    quiet(b, path)


def hex_of(b, article, row):
    """The bytes that the page shows of a row of memory: {label: [(offset, "aa bb …")]}."""
    return b.js("""
      const rows = document.querySelectorAll('#' + arguments[0] + ' .row')[arguments[1]].querySelector('table').rows, got = {};
      let at = null;
      for (const r of rows) {
        if (r.classList.contains('field')) { at = parseInt(r.cells[0].textContent.slice(1), 16); continue; }
        (got[r.cells[0].textContent] ??= []).push([at, r.cells[1].textContent.replaceAll(' ', '')]);
      }
      return got;""", article, row)


def compare(b, bug):
    """What the page shows of a finding is what the report says."""
    article = "bug-" + bug["id"]
    inside = f"document.getElementById('{article}')"
    events = bug["timeline"]["events"]
    titles = b.js(f"return [...{inside}.querySelectorAll('.time .ev title')].map(t => t.textContent)")
    equal(len(titles), len(events), "the number of marks")
    for title, event in zip(titles, events):
        expect(title.startswith(f"event {event['event']}, ") and f"thread {event['thread']}: {event['kind']}" in title, f"{title!r} is not {event}")
        expect("line" not in event or f":{event['line']}" in title, f"{title!r} has not the line of {event}")
        expect("field" not in event or event["field"] in title, f"{title!r} has not the field of {event}")
    equal(b.js(f"return [...{inside}.querySelectorAll('.time .gap text')].length"),
          sum(1 for e in events if e.get("skipped")) + bool(bug["timeline"].get("skipped_at_end")), "the number of gaps")
    equal(b.js(f"return {inside}.querySelectorAll('.time .crash').length"), int("crash_before" in bug["timeline"]), "the line of the crash")
    for i, row in enumerate(bug["memory"]):
        changes = [e["states"][i] for e in events]
        runs = 1 + sum(1 for a, c in zip(changes, changes[1:]) if a != c)
        drawn = b.js(f"return [...{inside}.querySelectorAll('.time svg > .bd, .time svg > .bx, .time svg > .bp')].map(g => [g.getAttribute('class'), +g.querySelector('rect').getAttribute('y')])")
        band = [c[1] for c, y in drawn if y == sorted({y for _, y in drawn})[i]]
        equal(len(band), runs, f"states of row {i}")
        equal(band[-1], changes[-1], f"the last state of row {i}")
    shown = [r for r in bug["memory"] if "durable" in r]
    for i, row in enumerate(shown):
        for label, key in (("durable", "durable"), ("program sees", "newest"), ("after the crash", "found")):
            for at, text in hex_of(b, article, i).get(label, []):
                start = 2 * (at - row["offset"])
                equal(text, row[key][start:start + 32], f"{label} at {at:#x}")
    lost = b.js(f"return [...{inside}.querySelectorAll('.row .lo')].map(e => e.textContent.replaceAll(' ', '')).join('')")
    differ = sum(1 for r in shown if "found" in r for k in range(0, 128, 2) if r["found"][k:k + 2] != r["newest"][k:k + 2])
    equal(len(lost) // 2, differ, "bytes that are shown as lost")
    if comparison := bug.get("crash", {}).get("comparison"):
        got = b.js(f"return [...{inside}.querySelectorAll('.side pre')].map(p => p.textContent)")
        for key, text in zip(("before", "after", "found"), got):
            expect(not comparison.get(key) or comparison[key].rstrip("\n") in text, f"{key} is {text!r}, not {comparison.get(key)!r}")
    steps = b.js(f"return [...{inside}.querySelectorAll('.code .at')].map(p => p.textContent)")
    expect(steps and any(s.startswith("1 ") for s in steps), f"no first step in {steps}")


def mutant(folder, name, number, *command):
    """A mutant's run, recorded and judged: the JSON report, and its path."""
    pool, trace, out = f"{folder}/{name}.pool", f"{folder}/{name}.pmt", f"{folder}/{name}.json"
    program = f"build/mutants/{name}-any"
    env = {"PMEND_MUTANT": str(number)}
    if os.path.exists(pool):
        os.unlink(pool)
    run(PMEND, "record", "-q", "-o", trace, "--", program, pool, "run", "12", "1", env=env)
    words = [w.replace("{PROGRAM}", program) for w in command]
    run(PMEND, *words, "--format", "json", "-o", out, trace, env=env)
    with open(out, encoding="utf-8") as f:
        return json.load(f), out


CRASH = ("crash", "--recover", "'{PROGRAM}' {} check", "--dump", "'{PROGRAM}' {} dump", "--sample", "8", "--seed", "1", "--timeout", "60")
MUTANTS = (("log", 4, CRASH), ("hash", 9, CRASH), ("radix", 5, CRASH), ("btree", 1, ("check",)), ("list", 1, ("check",)))


def check_elements(bugs):
    """A store of a line such as `n->key[i] = …` is one to an element of that array."""
    for e in (e for x in bugs for e in x["timeline"]["events"] if e["kind"] == "store" and "field" in e):
        with open(e["file"], encoding="utf-8") as f:
            left = re.match(r"\s*n->(\w+)\[i\] = ", f.read().splitlines()[e["line"] - 1])
        expect(not left or re.match(rf"\w+\.{left.group(1)}\[\d+\]", e["field"]), f"{e['file']}:{e['line']} stores to {e['field']}")


def test_mutants(b, folder):
    """Findings of five mutants, each compared with its JSON."""
    for name, number, command in MUTANTS:
        report, out = mutant(folder, name, number, *command)
        told = [x for x in report["bugs"] if "timeline" in x]
        check_elements(told)
        expect(told, f"no timeline in the report of {name} {number}")
        path = page(out, f"{folder}/{name}.html")
        opened(b, path)
        for x in told[:3]:
            try:
                compare(b, x)
            except AssertionError as e:
                raise AssertionError(f"{name} {number}, {x['kind']} {x['id']}: {e}") from None
        if shots := os.environ.get("PMEND_SHOTS"):
            b.screenshot(os.path.join(shots, f"mutant-{name}.png"))


def test_crash_state(b, folder):
    """The bytes of the crash state are those that a replay makes."""
    report, out = mutant(folder, "hash", 9, *CRASH)
    bug = report["bugs"][0]
    state = re.search(r"--replay (\S+)", bug["crash"]["replay"]).group(1)
    keep = f"{folder}/kept"
    run(PMEND, "crash", "--recover", "'build/mutants/hash-any' {} check", "--replay", state, "--keep", keep, f"{folder}/hash.pmt", env={"PMEND_MUTANT": "9"}, status=(0, 1))
    files = [os.path.join(at, f) for at, _, names in os.walk(keep) for f in names] if os.path.isdir(keep) else [keep]
    with open(max(files, key=os.path.getsize), "rb") as f:
        pool = f.read()
    for row in bug["memory"]:
        equal(row["found"], pool[row["offset"]:row["offset"] + 64].hex(), f"what the report says of {row['offset']:#x}")


LEDGER = {"count": 0, "entry": 64, "entry bytes": 64, "id": 0, "text": 8, "sum": 56}  # where the parts of tests/html/ledger.c are


def ledger(folder):
    """Its report, the path of that, and the content of the pool after the crash of the first finding."""
    program, trace, out, keep = (f"{folder}/{n}" for n in ("ledger", "ledger.pmt", "ledger.json", "ledger.kept"))
    if os.path.exists(f"{folder}/ledger.pool"):
        os.unlink(f"{folder}/ledger.pool")
    run("cc", "-g", "-O1", "-Itests", "-o", program, "tests/html/ledger.c", status=(0,))
    run(PMEND, "record", "-q", "-o", trace, "--", program, f"{folder}/ledger.pool", "run", status=(0,))
    run(PMEND, "crash", "--recover", f"'{program}' {{}} check", "--format", "json", "-o", out, trace, status=(1,))
    with open(out, encoding="utf-8") as f:
        report = json.load(f)
    state = re.search(r"--replay (\S+)", report["bugs"][0]["crash"]["replay"]).group(1)
    run(PMEND, "crash", "--recover", f"'{program}' {{}} check", "--replay", state, "--keep", keep, trace, status=(1,))
    with open(f"{keep}/ledger.pool", "rb") as f:
        return report, out, f.read()


def part_name(offset):
    """What is there, by the program."""
    if offset < LEDGER["entry"]:
        return "ledger.count"
    index, at = divmod(offset - LEDGER["entry"], LEDGER["entry bytes"])
    return f"ledger.entry[{index}]." + ("id" if at < LEDGER["text"] else "text" if at < LEDGER["sum"] else "sum")


def test_choices(b, folder):
    """The reads that had a choice are those of the program; what was read is what the replayed state has; the page shows them all."""
    report, out, pool = ledger(folder)
    bug = report["bugs"][0]
    choices = bug["crash"]["choices"]
    equal(len(choices), bug["crash"]["choices_all"], "how many reads had a choice")
    with open("tests/html/ledger.c", encoding="utf-8") as f:
        lines = f.read().splitlines()
    point = bug["timeline"]["crash_before"]
    expect(point > 0 and any("count" in lines[c["read"]["line"] - 1] for c in choices) and any("sum" in lines[c["read"]["line"] - 1] for c in choices), choices)
    rows = {r["offset"]: r for r in bug["memory"]}
    for c in choices:
        equal((c["by"], c["read"]["function"]), ("recover", "check"), "who reads")
        equal(c["read"]["text"], lines[c["read"]["line"] - 1].strip(), "the line that reads")
        taken = [v["bytes"] for v in c["values"] if v.get("taken")]
        equal(taken, [pool[c["offset"]:c["offset"] + c["size"]].hex()], f"what was read at {c['offset']:#x}")
        row = rows[c["offset"] // 64 * 64]
        start = 2 * (c["offset"] % 64)
        equal({v["bytes"] for v in c["values"]}, {p[start:start + 2 * c["size"]] for p in row["possible"]}, f"the values at {c['offset']:#x}")
        equal("lost" in c["values"][0], False, "the newest value loses nothing")
        expect(all("append" == s["function"] for v in c["values"][1:] for s in v["lost"]), c)
    opened(b, page(out, f"{folder}/ledger.html"))
    shown = b.js("return [...document.querySelectorAll('article:first-of-type .choices tbody tr')].map(r => [...r.cells].map(c => c.textContent).concat([[...r.querySelectorAll('.taken .hex')].map(h => h.textContent.replaceAll(' ', ''))]))")
    equal(len(shown), len(choices), "rows of the table")
    steps = b.js("return [...document.querySelectorAll('article:first-of-type .code .hit')].map(h => [+h.querySelector('.l').textContent, h.querySelector('.at').textContent])")
    expect([line for line, text in steps if "recovery reads" in text] == [c["read"]["line"] for c in choices if "taken" not in c["values"][0]][:1], steps)
    for (reader, place, values, taken), c in zip(shown, choices):
        expect(f"ledger.c:{c['read']['line']}" in reader and c["read"]["text"] in reader, reader)
        expect(place.startswith(part_name(c["offset"])) and f"+{c['offset']:#x}, {c['size']} byte" in place, place)
        equal(taken, [v["bytes"] for v in c["values"] if v.get("taken")], "what is marked")
        equal(values.count("if the crash loses") + values.count("if nothing is lost"), len(c["values"]), "the values")
    if shots := os.environ.get("PMEND_SHOTS"):
        b.screenshot(os.path.join(shots, "choices.png"))
    for width in WIDTHS:
        b.size(width)
        expect(b.js("return document.documentElement.scrollWidth <= innerWidth"), f"the page is wider than {width}")
        expect(b.js("return Math.min(...[...document.querySelectorAll('.choices td')].map(c => c.clientWidth))") > 150, f"a column without room at {width}")


def test_fields(b, folder):
    """Fields of elements have the index of the element, in the timeline and in memory."""
    report, _, _ = ledger(folder)
    names = set()
    for bug in report["bugs"]:
        for row in bug["memory"]:
            for f in row.get("fields", []):
                equal(f["name"], part_name(row["offset"] + f["offset"]), f"what is at {row['offset'] + f['offset']:#x}")
                names.add(f["name"])
        for e in bug["timeline"]["events"]:
            if "field" in e:
                equal(e["field"], part_name(e["offset"]), f"what event {e['event']} stores to")
    expect({"ledger.count", "ledger.entry[3].id", "ledger.entry[3].text", "ledger.entry[3].sum"} <= names, sorted(names))


def test_trace(b, folder):
    """A trace as a page: all of it, an operation, a source line, a range."""
    mutant(folder, "hash", 9, "check")
    trace = f"{folder}/hash.pmt"
    marks = "return [...document.querySelectorAll('.time .ev title')].map(t => t.textContent)"
    events = [json.loads(line) for line in run(PMEND, "show", "--format", "json", trace).splitlines()]
    begin = next(e["seq"] for e in events if e["kind"] == "op-begin")
    for options, holds in ((["--op", "put"], f"event {begin}, "), (["--at", "hash.c:237"], "hash.c:237"), (["--range", "30-60"], "event 3"), ([], "store")):
        path = f"{folder}/trace.html"
        run(PMEND, "show", "--format", "html", *options, "-o", path, trace)
        expect(os.path.getsize(path) < TRACE_PAGE_MAX_BYTES, f"{os.path.getsize(path)} bytes")
        opened(b, path)
        titles = b.js(marks)
        expect(any(holds in t for t in titles), f"{options}: {holds!r} is not in {titles[:3]}")
    run(PMEND, "show", "--format", "html", "--range", "30-60", "-o", path, trace)
    opened(b, path)
    expect(all(30 <= int(re.match(r"event (\d+)", t).group(1)) <= 60 for t in b.js(marks)), "an event outside the range")


def test_patch(b, folder):
    """A patch is shown whole, and with the finding that it is about."""
    diff = f"{folder}/fix.diff"
    with open(diff, "w", encoding="utf-8") as f:
        f.write("--- a/src/app.c\n+++ b/src/app.c\n@@ -9,3 +9,4 @@\n \tnode->value = v;\n+\tpersist(&node->value, 8); /* <b> */\n \treturn 0;\n")
    path = page(samples.mixed(), f"{folder}/patched.html", "--patch", diff)
    opened(b, path)
    per = b.js("return [...document.querySelectorAll('article')].map(a => a.querySelectorAll('.diff').length)")
    equal(per, [1, 1, 0, 0, 1, 1], "findings that the patch is shown with")
    expect("persist(&node->value, 8); /* <b> */" in b.js("return document.querySelector('article .diff .add').textContent"), "the added line is not shown")
    equal(b.js("return document.querySelectorAll('.coverage .diff').length"), 1, "the whole patch")


def test_groups_and_inputs(b, folder):
    """What stands for what, and which input shows what."""
    path = page(samples.explored(), f"{folder}/explored.html")
    opened(b, path)
    rows = b.js("return [...document.querySelectorAll('.plain:not(.found) tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    equal(rows, [["out/corpus/000012", "9", "missing-flush", "src/app.c:10"], ["node", "key, value, next", "hash_put (hash.c:236)", "24", "fails"],
                 ["head", "count", "hash_put (hash.c:243)", "91", "not tested"]], "the rows")
    expect("pmend check -- ./app pool out/corpus/000012" in b.js("return document.querySelector('article .copy pre').textContent"), "no command for the input")
    titles = b.js("return [...document.querySelectorAll('article h3')].map(h => h.textContent)")
    expect("Timeline with the input out/corpus/000003" in titles, titles)


def test_progress(b, folder):
    """Which input found what: the drawing and the table are what the report says."""
    report = samples.explored()
    path = page(report, f"{folder}/explored.html")
    opened(b, path)
    rows = b.js("return [...document.querySelectorAll('.found tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    equal(rows, [["1", "out/corpus/000000", "7", "7", ""], ["4", "out/corpus/000003", "2", "9", "missing-flush src/app.c:10; 1 listed under another finding, or hidden"],
                 ["9", "out/corpus/000008", "0", "9", "1 listed under another finding, or hidden"], ["15", "out/corpus/000014", "1", "10", ""]], "the rows")
    equal(b.js("return document.querySelector('.found a').getAttribute('href')"), "#bug-0000000000000001", "the finding that is linked")
    marks = b.js("return [...document.querySelectorAll('.progress circle')].map(c => [c.getAttribute('class'), +c.getAttribute('cx'), +c.getAttribute('cy')])")
    found = report["coverage"]["progress"]
    equal([m[0] for m in marks], ["bug" if f.get("new_bugs") else "pm" for f in found], "what is marked")
    left, right, top, bottom = b.js("const p = document.querySelector('.progress .axis').getBBox(); return [p.x, p.x + p.width, p.y, p.y + p.height]")
    pm, total = 0, sum(f.get("new_pm", 0) for f in found)
    for (_, x, y), f in zip(marks, found):
        pm += f.get("new_pm", 0)
        expect(abs(x - (left + (right - left) * f["input"] / 20)) <= 1, f"input {f['input']} is at {x}")
        expect(abs(y - (bottom - (bottom - top) * pm / total)) <= 1, f"{pm} of {total} is at {y}")
    b.size(390)
    expect(b.js("return document.documentElement.scrollWidth <= innerWidth"), "the page is wider than a phone")
    quiet(b, path)


def test_empty(b, folder):
    path = page(samples.report([]), f"{folder}/empty.html")
    opened(b, path)
    expect("found nothing" in b.js("return document.body.textContent"), "it does not say that nothing was found")
    expect("the budget ended" in b.js("return document.body.textContent"), "it does not say what was left out")


def main():
    tests = {n[len("test_"):]: f for n, f in globals().items() if n.startswith("test_")}
    names = choose(list(tests), sys.argv[1:])
    with Browser() as b, tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        def on_wide_window(test):
            b.size(1360)
            test(b, os.path.realpath(folder))

        return run_each("html", [(n, functools.partial(on_wide_window, tests[n])) for n in names])


sys.exit(main())
