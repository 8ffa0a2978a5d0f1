"""tools/Containerfile: its steps, run in bare folders of Debian by tools/on, and then docs/ci.md's in the image that this makes."""
import os
import re
import shutil
import subprocess
import sys

from cli import contains, equal, folder, write
from suites import suite_of_folders
from test_ci import steps as ci_steps


def instructions():
    """(word, rest) of each instruction."""
    with open("tools/Containerfile", encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line and not line.startswith("#"):
                yield tuple(line.split(" ", 1))


def stages():
    """[(image, [(word, rest)])], with the arguments' defaults filled in."""
    arguments, found = {}, []
    for word, rest in instructions():
        rest = re.sub(r"\$\{(\w+)\}", lambda m: arguments.get(m[1], m[0]), rest)
        if word == "ARG":
            name, value = rest.split("=")
            arguments[name] = value
        elif word == "FROM":
            found.append((rest, []))
        else:
            found[-1][1].append((word, rest))
    return found


def script(steps, copied):
    """The steps as a shell script; copied: COPY's words to what they are in the folder."""
    lines = ["set -e"]
    for word, rest in steps:
        if word == "RUN":
            lines.append(f"( {rest} )")
        elif word == "WORKDIR":
            lines.append(f"mkdir -p {rest} && cd {rest}")
        elif word == "COPY":
            *source, to = rest.split()
            lines.append(f"mkdir -p {to} && cp -a {copied[' '.join(source)]} {to}")
        else:
            raise AssertionError(f"what is {word}?")
    return "\n".join(lines) + "\n"


def sources(d):
    """What `COPY .` copies: the clone without what .dockerignore names."""
    to = os.path.join(d, "pmend")
    with open(".dockerignore", encoding="utf-8") as f:
        ignored = [line for line in f.read().split("\n") if line and not line.startswith("#")]
    equal(ignored, ["build", ".git"])
    shutil.copytree(".", to, symlinks=True, ignore=lambda at, names: ignored if at == "." else [])
    return to


def on(suite, files, text, out=None):
    p = subprocess.run(["tools/on", suite, "--bare", *files, "--", "sh", "-c", text], stdout=out or subprocess.PIPE, stderr=subprocess.STDOUT if not out else sys.stderr,
                       timeout=3000, check=False)
    if p.returncode != 0:
        raise AssertionError(f"status {p.returncode}: {(p.stdout or b'').decode(errors='replace')[-1500:]}")
    return (p.stdout or b"").decode(errors="replace")


def test_form():
    (first, build), (second, final) = stages()
    equal((first, second), ("debian:bookworm AS build", "debian:bookworm-slim"))
    script(build, {".": "x"})
    script(final, {"--from=build /src/build/deb/pmend_*.deb": "x"})


def test_steps():
    suite = suite_of_folders("takes ten minutes and Debian's mirror")
    (_, build), (_, final) = stages()
    with folder() as d:
        package = os.path.join(d, "pmend_0_any.deb")
        with open(package, "wb") as f:
            on(suite, [sources(d)], f"{{ {script(build, {'.': '/root/pmend/.'})} }} >&2 && cat /src/build/deb/pmend_*.deb", f)
        recipe = dict(ci_steps())
        app = write(os.path.join(d, "Makefile"), "app: append_log.c; $(CC) $(CFLAGS) -DFORGET_FLUSH -o $@ $<\n")
        write(os.path.join(d, "app.sh"), '#!/bin/sh\nif [ -s "$1" ]; then exec ./app "$1"; else exec ./app "$1" hello; fi\n')
        text = script(final, {"--from=build /src/build/deb/pmend_*.deb": "/root/pmend_*.deb"}) + "pwd\ncp /root/* .\nchmod +x app.sh\n"
        text += "\n".join(recipe[n] for n in ("what the program is built with", "what works here", "build"))
        text += "\n" + recipe["look for new bugs"].replace("./app", "./app.sh").replace("--baseline pmend-baseline.json ", "")
        text += "\nls pmend.sarif pmend.html\n" + recipe["fail on new bugs"].replace("./app", "./app.sh").replace("--baseline pmend-baseline.json ", "") + " || echo status $?\n"
        out = on(suite, [package, app, os.path.join(d, "app.sh"), "examples/append_log.c", "examples/flush.h", "include/pmend.h"], text)
        contains(out, "\n/work\n")
        contains(out, "pmend can record and crash programs on this machine.")
        contains(out, "append_log.c:32: missing-flush")
        contains(out, "status 1\n")
