"""pytest: does table_put() survive a crash at any moment? APP is the built app.c, PMEND is pmend.

    APP=build/app python3 -m pytest test_table.py
"""
import json
import os
import shlex
import subprocess

import pytest

APP = os.path.abspath(os.environ.get("APP", "app"))
PMEND = os.environ.get("PMEND", "pmend")


@pytest.fixture
def pool(tmp_path):
    """A table with one row."""
    path = tmp_path / "pool"
    subprocess.run([APP, path, "put", "1", "10"], check=True)
    return path


def findings(pool, *operation):
    """What pmend finds in one operation of the program: (kind, file, line) of each bug."""
    p = subprocess.run([PMEND, "test", "--format", "json", "--trace", pool.parent / "trace.pmt",
                        "--dump", f"{shlex.quote(APP)} {{}} print", "--", APP, pool, *operation],
                       stdout=subprocess.PIPE, text=True)
    assert p.returncode in (0, 1), "pmend could not do its work; standard error says why"
    places = [(bug["kind"], bug["locations"][0]) for bug in json.loads(p.stdout)["bugs"]]
    return [(kind, os.path.basename(at["file"]), at["line"]) for kind, at in places]


def test_put_survives_crashes(pool):
    assert findings(pool, "put", "2", "20") == []
