"""The examples of docs/reference/python.md, run in their order as one program."""

import os
import re
import tempfile
import unittest

from common import SOURCE


class Page(unittest.TestCase):
    def test_its_examples_run(self):
        with open(os.path.join(SOURCE, "docs", "reference", "python.md"), encoding="utf-8") as file:
            page = file.read()
        blocks = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
        self.assertGreaterEqual(len(blocks), 5)
        here = os.getcwd()
        known = {}
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(SOURCE, "scenarios"), os.path.join(folder, "scenarios"))
            os.chdir(folder)
            try:
                for i, block in enumerate(blocks):
                    exec(compile(block, f"docs/reference/python.md, example {i}", "exec"), known)
            finally:
                os.chdir(here)
            self.assertTrue(os.path.getsize(os.path.join(folder, "report.html")))


if __name__ == "__main__":
    unittest.main()
