#!/usr/bin/env python3
"""Dependencies point one way: cmd -> {check, crash, explore, repair, report} -> {model, source} -> trace -> util.
Fails when an #include goes against it. recorder/, runtime/ and tracer/ may include only their own headers and include/."""
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LAYER = {"util": 0, "trace": 1, "model": 2, "source": 2, "check": 3, "crash": 3, "explore": 3, "repair": 3,
         "report": 3, "cmd": 4}
ALONE = ("recorder", "runtime", "tracer")
SHARED = {"tracer": ("explore/expr.h", "decode.h")}  # what the tracer has in common with others
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def wrong(folder, path, text):
    """The includes of one file that are not allowed."""
    bad = []
    for name in INCLUDE.findall(text):
        target = name.split("/")[0] if "/" in name else None
        if folder in ALONE:
            own = os.path.exists(os.path.join(TOP, folder, name)) or os.path.exists(os.path.join(TOP, "include", name))
            own = own or name in SHARED.get(folder, ())
            allowed = own or name.startswith(("pub_tool_", "libvex")) or name == "valgrind.h"
        elif folder == "include":
            allowed = os.path.exists(os.path.join(TOP, "include", name))
        elif target is None:
            allowed = os.path.exists(os.path.join(TOP, "include", name))
        else:
            allowed = target in LAYER and (LAYER[target] < LAYER[folder] or target == folder)
        if not allowed:
            bad.append(f"{path}: #include \"{name}\" goes against the direction of dependencies")
    return bad


def main():
    assert wrong("trace", "x.c", '#include "cmd/cmd.h"\n'), "the test itself must be able to fail"
    assert wrong("recorder", "x.c", '#include "util/error.h"\n')
    bad = []
    for folder in list(LAYER) + list(ALONE) + ["include"]:
        for root, _, files in os.walk(os.path.join(TOP, folder)):
            for f in sorted(files):
                if f.endswith((".c", ".h")):
                    path = os.path.relpath(os.path.join(root, f), TOP)
                    with open(os.path.join(root, f), encoding="utf-8") as h:
                        bad += wrong(folder, path, h.read())
    for b in bad:
        print(f"FAIL includes: {b}")
    if not bad:
        print("ok includes: every #include follows the direction of dependencies")
    return 1 if bad else 0


sys.exit(main())
