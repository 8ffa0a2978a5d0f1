"""docs/report.schema.json, checked against every report that a test reads: whoever imports this gets a json.load and json.loads that look at what they return.
The schema allows fields that it does not know, so that pmend can add some. Here it does not: what is added must be described. Without the module jsonschema (Debian's
python3-jsonschema), nothing is checked; tests/cli has a test that says so."""
import functools
import json
import os

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "report.schema.json")
plain_load, plain_loads = json.load, json.loads

try:
    import jsonschema
except ImportError:
    jsonschema = None


def closed(schema):
    """The same without fields that are not described."""
    if isinstance(schema, list):
        return [closed(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {k: closed(v) for k, v in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        copy["additionalProperties"] = False
    return copy


@functools.cache
def validator():
    with open(SCHEMA, encoding="utf-8") as f:
        schema = plain_load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(closed(schema))


def is_report(value):
    """What `pmend fix --outcome` writes is none: it names the report that it is about."""
    return isinstance(value, dict) and "pmend" in value and "bugs" in value and "report" not in value


def check_report(report):
    """Raises AssertionError if the report is not what the schema says."""
    if jsonschema is None:
        return
    error = next(iter(sorted(validator().iter_errors(report), key=lambda e: list(map(str, e.absolute_path)))), None)
    if error:
        raise AssertionError(f"a report is not as docs/report.schema.json says: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")


def load(*args, **kw):
    value = plain_load(*args, **kw)
    if is_report(value):
        check_report(value)
    return value


def loads(*args, **kw):
    value = plain_loads(*args, **kw)
    if is_report(value):
        check_report(value)
    return value


json.load, json.loads = load, loads
