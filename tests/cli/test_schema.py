"""docs/report.schema.json: that it is checked at all, and that it refuses what is wrong."""
import copy
import json
import os

import schema
from cli import Skip, equal, folder, need_pool, pmend
from missing import IS_EMULATED

LOG = os.path.abspath("build/examples/append_log")


def need_module():
    if schema.jsonschema is None and IS_EMULATED:
        raise Skip("the emulated machine has no python3-jsonschema")
    assert schema.jsonschema is not None, "install Debian's python3-jsonschema"


def report_of(*args):
    need_pool()
    need_module()
    with folder() as d:
        path = os.path.join(d, "r.json")
        status, _, err = pmend(*args[:1], "--format", "json", "-o", path, *args[1:], cwd=d)
        assert status in (0, 1), err
        with open(path, encoding="utf-8") as f:
            return schema.plain_load(f)


def refused(report):
    try:
        schema.check_report(report)
    except AssertionError:
        return True
    return False


def test_reports_of_commands():
    for args in (["check", "--", LOG + "_buggy", "{pool}", "x"], ["crash", "--dump", f"{LOG} {{}}", "--", LOG + "_buggy", "{pool}", "x"],
                 ["test", "--recover", f"{LOG} {{}}", "--races", "--", LOG, "{pool}", "x"], ["check", "--platform", "all", "--", LOG, "{pool}", "x"],
                 ["crash", "--strategy", "representative", "--dump", f"{LOG} {{}}", "--", LOG, "{pool}", "x"]):
        schema.check_report(report_of(*[a for a in args if a != "--races"]))


def test_refuses():
    """A field of the contract that is gone, or has another type, and one that nobody described."""
    good = report_of("crash", "--dump", f"{LOG} {{}}", "--", LOG + "_buggy", "{pool}", "x")
    schema.check_report(good)
    assert good["bugs"] and "crash" in good["bugs"][0], good

    def without(*path):
        bad = copy.deepcopy(good)
        at = bad
        for key in path[:-1]:
            at = at[key]
        del at[path[-1]]
        return bad

    for path in (["pmend"], ["bugs"], ["command"], ["bugs", 0, "id"], ["bugs", 0, "locations"], ["bugs", 0, "locations", 0, "role"],
                 ["bugs", 0, "crash", "failure_point"], ["coverage", "complete"]):
        assert refused(without(*path)), f"a report without {path} passes"
    for path, value in ((["bugs", 0, "count"], "1"), (["bugs", 0, "severity"], "bad"), (["coverage", "new"], 1), (["bugs", 0, "locations", 0, "new"], 1)):
        bad = copy.deepcopy(good)
        at = bad
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        assert refused(bad), f"a report with {path} = {value!r} passes"


def test_hook():
    """json.loads of a test looks at reports, and at nothing else."""
    need_module()
    equal(json.loads('{"bugs": 1}'), {"bugs": 1})
    try:
        json.loads('{"pmend": "0.1.0", "bugs": 1}')
    except AssertionError:
        return
    raise AssertionError("a report with a wrong list of bugs passes")
