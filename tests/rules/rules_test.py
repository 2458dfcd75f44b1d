#!/usr/bin/python3
"""The checks of this folder can fail: each test makes a tree or a table that breaks one rule."""
import pathlib
import tempfile
import unittest

import house_rules
import rules


def offences(**files):
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory).resolve()
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("_hpp", ".hpp").replace("_cpp", ".cpp").replace("_md", ".md")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return house_rules.check(root)[0]


class HouseRules(unittest.TestCase):
    def test_an_allowed_include_is_no_offence(self):
        self.assertEqual(offences(framework__base__a_hpp="", framework__spec__b_hpp='#include "base/a.hpp"'), [])

    def test_an_include_against_the_direction_is_found_with_file_and_line(self):
        found = offences(framework__run__a_hpp="", framework__base__b_hpp='\n#include "run/a.hpp"')
        self.assertEqual(len(found), 1)
        self.assertIn("framework/base/b.hpp:2: framework/base may not include framework/run/a.hpp", found[0])

    def test_an_adapter_may_not_include_another_one(self):
        found = offences(adapters__slurm__a_hpp="", adapters__k8s__b_cpp='#include "../slurm/a.hpp"')
        self.assertIn("adapters/k8s may not include adapters/slurm/a.hpp", found[0])

    def test_a_plugin_may_not_include_the_host(self):
        found = offences(framework__host__a_hpp="", plugins__quota__b_cpp='#include "host/a.hpp"')
        self.assertIn("plugins/quota may not include framework/host/a.hpp", found[0])

    def test_a_quoted_name_that_is_no_file_is_found(self):
        self.assertIn('"base/x.hpp" is no file of ours', offences(framework__base__a_hpp='#include "base/x.hpp"')[0])

    def test_a_third_party_header_in_two_folders_is_found(self):
        found = offences(framework__run__a_cpp="#include <sqlite3.h>", framework__spec__b_cpp="#include <sqlite3.h>")
        self.assertIn("<sqlite3.h...> stands in 2 folders", found[0])

    def test_a_third_party_header_in_two_files_of_one_folder_is_no_offence(self):
        self.assertEqual(offences(framework__run__a_cpp="#include <sqlite3.h>",
                                  framework__run__b_cpp="#include <sqlite3.h>"), [])

    def test_a_clock_lock_file_log_or_chance_in_a_pure_folder_is_found(self):
        for line in ("auto t = std::chrono::steady_clock::now();", "#include <mutex>", "#include <fstream>",
                     "#include <spdlog/spdlog.h>", "int i = rand();", "auto t = clock_.Now();"):
            with self.subTest(line):
                self.assertIn("framework/cycle is pure", offences(framework__cycle__a_cpp=line)[0])
                self.assertEqual(offences(framework__run__a_cpp=line), [])

    def test_a_section_that_the_contract_does_not_have_is_found(self):
        contract = "# What\n## 2. Open\n### 2.1 Failures\n"
        self.assertEqual(offences(docs__semantics_md=contract, policies__a_cpp="// (semantics 2.1)"), [])
        self.assertIn("policies/a.cpp:2: docs/semantics.md has no section 2.9, it has 2, 2.1",
                      offences(docs__semantics_md=contract, policies__a_cpp="\n// semantics 2.9")[0])

    def test_a_comment_in_a_pure_folder_may_speak_of_clocks(self):
        self.assertEqual(offences(policies__a_cpp="// no steady_clock::now() here\n/* nor\n rand() */"), [])


class Table(unittest.TestCase):
    def table(self, **changed):
        full = {f"S{n}": {"title": "t", "core": "not yet", "slurm": "not yet", "kubernetes": "not yet"}
                for n in range(1, 127)}
        for rule, entry in changed.items():
            full[rule] = {**full[rule], **entry}
        return rules.load(rules.yaml.safe_dump(full))

    def test_a_whole_table_is_right(self):
        self.assertEqual(self.table()[1], [])

    def test_a_missing_a_double_and_an_unknown_rule_are_found(self):
        self.assertIn("semantics.yaml: S126 is missing", rules.load("S1: {}")[1])
        self.assertIn("S1 is written twice", rules.load("S1: {}\nS1: {}")[1][0])
        self.assertIn("semantics.yaml: S127 is no rule", rules.load("S127: {}")[1])

    def test_a_value_that_is_no_list_of_tests_is_found(self):
        for value in ("yes", [], None, [3]):
            with self.subTest(value):
                self.assertIn("S7.core", self.table(S7={"core": value})[1][0])

    def test_a_named_test_that_does_not_exist_is_found(self):
        table, _ = self.table(S7={"core": ["A.B", "C.D"]})
        self.assertEqual(rules.compare(table, {"A.B"}, "is no test"), ["semantics.yaml: S7.core: C.D is no test"])

    def test_only_a_test_that_ran_and_passed_counts_as_run(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write('<testsuite><testcase name="good" status="run"/><testcase name="off" status="disabled"/>'
                       '<testcase name="skipped" status="notrun"><skipped/></testcase>'
                       '<testcase name="bad" status="fail"><failure/></testcase></testsuite>')
            file.flush()
            self.assertEqual(rules.tests_that_passed(file.name), {"good"})

    def test_the_counts_name_each_place(self):
        table, _ = self.table(S7={"core": ["A.B"], "slurm": ["E.F"]}, S8={"core": ["A.B"]})
        self.assertEqual(rules.counts(table), "core 2, slurm 1, kubernetes 0 of 126 rules")


if __name__ == "__main__":
    unittest.main()
