"""Whether a file that the program wrote is whole, by the end of its name."""

import csv
import json
import xml.etree.ElementTree

import jsonschema
import yaml
from program import SCHEMAS, problems

FORMATS = {name: json.loads((SCHEMAS / f"{name.replace('/', '-')}.schema.json").read_text())
           for name in ("overlap-fleet/1", "overlap-comparison/1")}


def check_json(text):
    document = json.loads(text)
    if "traceEvents" in document:
        return
    schema = FORMATS.get(document.get("schema"))
    if schema is not None:
        jsonschema.validate(document, schema)
    elif found := problems(document):
        raise ValueError(found)


def check_html(text):
    if not text.rstrip().endswith("</html>"):
        raise ValueError("no end")


def check_rows(text):
    rows = list(csv.reader(text.splitlines()))
    if not text.endswith("\n") or {len(row) for row in rows} != {len(rows[0])}:
        raise ValueError("torn rows")


def check_lines(text):
    if not text.endswith("\n"):
        raise ValueError("no end")


CHECKS = {".json": check_json, ".csv": check_rows, ".xml": xml.etree.ElementTree.fromstring, ".html": check_html,
          ".svg": xml.etree.ElementTree.fromstring, ".yaml": lambda text: yaml.safe_load(text)["entries"][0], ".txt": check_lines}
