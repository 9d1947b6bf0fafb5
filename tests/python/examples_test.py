"""The examples in examples/python print what stands beside each in NAME.expected."""

import glob
import os
import subprocess
import sys
import unittest

from common import SOURCE


class Examples(unittest.TestCase):
    def test_each_prints_what_stands_beside_it(self):
        programs = sorted(glob.glob(os.path.join(SOURCE, "examples", "python", "*.py")))
        self.assertGreaterEqual(len(programs), 18)
        for program in programs:
            with self.subTest(os.path.basename(program)):
                with open(program[:-len("py")] + "expected", encoding="utf-8") as file:
                    expected = file.read()
                done = subprocess.run([sys.executable, program], cwd=SOURCE, check=False,
                                      capture_output=True, text=True)
                self.assertEqual(done.stderr, "")
                self.assertEqual(done.stdout, expected)


if __name__ == "__main__":
    unittest.main()
