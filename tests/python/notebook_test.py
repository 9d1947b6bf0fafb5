import json
import os
import unittest

from common import SOURCE

try:
    import nbclient
    import nbformat
except ImportError:
    nbclient = None

PLANNING = os.path.join(SOURCE, "examples", "python", "planning.ipynb")


@unittest.skipIf(nbclient is None, "nbclient is not installed")
class Notebooks(unittest.TestCase):
    def test_planning_runs_from_top_to_bottom(self):
        notebook = nbformat.read(PLANNING, as_version=4)
        self.assertEqual(len(notebook.cells), 10)
        nbclient.NotebookClient(
            notebook, timeout=120, kernel_name="python3",
            resources={"metadata": {"path": SOURCE}}).execute()
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        page = json.dumps(code[0].outputs)
        self.assertIn("<iframe", page)
        layouts = json.dumps(code[1].outputs)
        self.assertIn("does not divide the 16 GPUs", layouts)  # a point that cannot be
        self.assertIn("layout.tp", json.dumps(code[2].outputs))
        self.assertIn("mine", json.dumps(code[3].outputs))
        goodput = json.dumps(code[4].outputs)
        self.assertIn("4 h", goodput)
        self.assertIn("step time", json.dumps(code[5].outputs))


if __name__ == "__main__":
    unittest.main()
