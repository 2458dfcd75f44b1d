#!/usr/bin/python3
"""The contract as a table: which test proves which rule of semantics.yaml, and where.

    rules.py table              print the rules and how many are proved
    rules.py exist BUILD_DIR    every test named in the table is a test of this build
    rules.py ran TESTS_XML      every one of them ran and passed; the file is CTest's JUnit output
"""
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import yaml

TABLE = pathlib.Path(__file__).with_name("semantics.yaml")
RULES = 126
PLACES = ("core", "slurm", "kubernetes")
NOT_YET = "not yet"


class _Loader(yaml.SafeLoader):
    """Refuses a rule that is written twice; plain YAML would keep the last one silently."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"{key} is written twice, line {node.start_mark.line + 1}")
        return super().construct_mapping(node, deep)


def load(text):
    """{rule: entry}, and what is wrong with the table."""
    try:
        table = yaml.load(text, _Loader) or {}
    except yaml.YAMLError as error:
        return {}, [f"semantics.yaml: {error}"]
    wrong = []
    expected = [f"S{number}" for number in range(1, RULES + 1)]
    wrong += [f"semantics.yaml: {rule} is missing" for rule in expected if rule not in table]
    wrong += [f"semantics.yaml: {rule} is no rule" for rule in table if rule not in expected]
    for rule, entry in table.items():
        if not isinstance(entry, dict) or sorted(entry) != sorted(("title", *PLACES)):
            wrong.append(f"semantics.yaml: {rule}: needs exactly the keys title, {', '.join(PLACES)}")
            continue
        for place in PLACES:
            value = entry[place]
            names = isinstance(value, list) and value and all(isinstance(name, str) for name in value)
            if value != NOT_YET and not names:
                wrong.append(f"semantics.yaml: {rule}.{place}: {value!r} must be a list of tests or {NOT_YET!r}")
    return table, wrong


def named_tests(table):
    """(rule, place, test) for every test that the table names."""
    return [(rule, place, test) for rule, entry in table.items() for place in PLACES
            if entry[place] != NOT_YET for test in entry[place]]


def tests_of_build(build_dir):
    """Names of the tests that CTest would run, a disabled one is none."""
    done = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build_dir, check=True, stdout=subprocess.PIPE)
    enabled = lambda test: {"name": "DISABLED", "value": True} not in test.get("properties", [])
    return {test["name"] for test in json.loads(done.stdout)["tests"] if enabled(test)}


def tests_that_passed(xml_file):
    cases = xml.etree.ElementTree.parse(xml_file).iter("testcase")
    return {case.get("name") for case in cases if case.get("status") == "run" and case.find("failure") is None}


def compare(table, tests, verdict):
    return [f"semantics.yaml: {rule}.{place}: {test} {verdict}"
            for rule, place, test in named_tests(table) if test not in tests]


def counts(table):
    proved = {place: sum(entry[place] != NOT_YET for entry in table.values()) for place in PLACES}
    return ", ".join(f"{place} {number}" for place, number in proved.items()) + f" of {len(table)} rules"


def print_table(table):
    print(f"{'rule':5} {'core':>5} {'slurm':>5} {'k8s':>5}  title        (number of tests; . is not yet)")
    for rule, entry in table.items():
        cells = ["." if entry[place] == NOT_YET else str(len(entry[place])) for place in PLACES]
        print(f"{rule:5} {cells[0]:>5} {cells[1]:>5} {cells[2]:>5}  {entry['title']}")


def main(verb="table", where=None):
    table, wrong = load(TABLE.read_text(encoding="utf-8"))
    if not wrong and verb == "exist":
        wrong = compare(table, tests_of_build(where), "is no test of this build")
    elif not wrong and verb == "ran":
        wrong = compare(table, tests_that_passed(where), "did not run and pass")
    elif not wrong and verb == "table":
        print_table(table)
    elif not wrong:
        wrong = [__doc__]
    print("\n".join(wrong) or f"rules proved: {counts(table)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
