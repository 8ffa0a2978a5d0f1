#!/usr/bin/env python3
"""pmend, but each trace that is to be crashed is packed first, and the bundle is explored instead: PMEND=tests/bundled.py tests/crash/run.py [NAME]...
runs the tests of crashes on bundles. Where nothing can be packed, because recovery cannot be run at all, the trace itself is taken."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
PMEND = os.path.join(HERE, "..", "build", "pmend")
# What is not part of a bundle: options of the report, of the moment, and of recording.
OWN = {"--format", "-o", "--output", "--suppress", "--baseline", "--severity", "--fail-on", "--replay", "--keep", "--build", "-p"}
OWN_FLAGS = {"--gen-suppressions", "--libraries", "-v", "--verbose", "-q", "--quiet", "--gdb", "--show-choices", "--fresh", "--progress", "--explain-groups"}


def split(words):
    """Options for pack, and for crash; None: it is not about a trace."""
    packed, own, i = [], [], 0
    flags = set(re.findall(r"^      --(\S+)(?:  +\S|$)", subprocess.run([PMEND, "pack", "-h"], capture_output=True, text=True, check=True).stdout, re.M))
    if not words or not words[-1].endswith(".pmt") or "--" in words or not os.path.exists(words[-1]):
        return None
    while i < len(words) - 1:
        w = words[i]
        takes = w not in OWN_FLAGS and "=" not in w and w.lstrip("-") not in flags and not re.match(r"-[a-z].", w)
        (own if w.split("=")[0] in OWN | OWN_FLAGS else packed).extend(words[i:i + 1 + takes])
        i += 1 + takes
    return (packed, own) if i == len(words) - 1 else None


def main():
    parts = split(sys.argv[2:]) if sys.argv[1:2] == ["crash"] else None
    if parts is None:
        os.execv(PMEND, [PMEND, *sys.argv[1:]])
    with tempfile.TemporaryDirectory(prefix="bundled-", dir="/dev/shm") as d:
        bundle = os.path.join(d, "x.pmb")
        if subprocess.run([PMEND, "pack", "-q", "-o", bundle, *parts[0], sys.argv[-1]], capture_output=True).returncode != 0:
            return subprocess.run([PMEND, *sys.argv[1:]]).returncode
        p = subprocess.run([PMEND, "crash", *parts[1], bundle], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for out, text in ((sys.stdout, p.stdout), (sys.stderr, p.stderr)):
            text = re.sub(rb"(--replay \S+ )" + re.escape(bundle.encode()), lambda m: m[1] + shlex.quote(sys.argv[-1]).encode(), text)  # a line for a shell
            out.buffer.write(text.replace(bundle.encode(), sys.argv[-1].encode()))
        return p.returncode if p.returncode >= 0 else 128 - p.returncode


sys.exit(main())
