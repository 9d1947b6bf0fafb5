"""What command_speed.py says where it was interrupted and where a line of its list is wrong."""

import os
import types
import unittest
from unittest import mock

import command_speed

SOURCE = os.path.dirname(command_speed.HERE)


def runs(codes):
    """In place of run_with: the exit codes one after the other, then Ctrl-C."""
    left = list(codes)

    def run(program, line):
        del program, line
        if not left:
            raise KeyboardInterrupt
        code = left.pop(0)
        return types.SimpleNamespace(code=code, cpu_s=1.0, said=b"", cell=lambda: f"exit {code}")

    return mock.patch.object(command_speed, "run_with", run)


class CommandSpeed(unittest.TestCase):
    def setUp(self):
        os.chdir(SOURCE)
        lines = ["list models", "run SCENARIO", "compare SCENARIO"]
        files = ["scenarios/a.yaml", "scenarios/b.yaml", "scenarios/c.yaml"]
        for name, said in (("command_lines", lines), ("scenarios", files)):
            patch = mock.patch.object(command_speed, name, lambda said=said: said)
            patch.start()
            self.addCleanup(patch.stop)

    def test_an_interrupted_page_says_how_many_scenarios_it_has(self):
        with runs([0, 0, 0, 0]):  # the list, both commands on a, one on b
            page = command_speed.page("program", [])
        self.assertIn("\n2 of 3 scenarios: interrupted.\n", page)
        with runs([0] * 7):
            page = command_speed.page("program", [])
        self.assertIn("\n3 of 3 scenarios.\n", page)

    def test_a_command_without_a_scenario_that_is_refused_is_an_error(self):
        for call in (lambda: command_speed.page("program", []),
                     lambda: command_speed.comparison("program", "other", [])):
            with runs([2, 2]), self.assertRaisesRegex(SystemExit, "`list models`.*exit code 2"):
                call()

    def test_a_scenario_that_a_command_does_not_take_is_none(self):
        with runs([0, 2, 0]):
            page = command_speed.page("program", [])
        self.assertIn("| a.yaml | exit 2 | exit 0 |", page)


if __name__ == "__main__":
    unittest.main()
