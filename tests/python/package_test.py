"""What the package says of itself: docstrings, types, and what pip would install."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import windtunnel as wt
from windtunnel import _windtunnel

from common import SMALL, SOURCE

PACKAGE = os.path.dirname(wt.__file__)


def members(tree):
    """Name -> names of its members, of the classes and functions of a stub."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names = set()
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
                    names.add(each.name)
                elif isinstance(each, ast.AnnAssign):
                    names.add(each.target.id)
            found[node.name] = names
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = None
    return found


class Package(unittest.TestCase):
    def test_the_stub_says_what_the_module_has(self):
        with open(os.path.join(PACKAGE, "_windtunnel.pyi"), encoding="utf-8") as stub:
            said = members(ast.parse(stub.read()))
        public = {name for name in dir(_windtunnel) if not name.startswith("_")}
        self.assertEqual(set(said), public)
        for name in public - {"Error"}:  # whose attributes belong to its values
            kind = getattr(_windtunnel, name)
            if inspect.isclass(kind):
                has = {each for each in vars(kind) if not each.startswith("_")}
                self.assertEqual(said[name], has, name)
        with self.assertRaises(wt.Error) as caught:
            wt.load("/nowhere.yaml").check()
        for attribute in said["Error"]:
            self.assertTrue(hasattr(caught.exception, attribute), attribute)

    def test_every_public_member_has_a_docstring(self):
        for name in wt.__all__:
            member = getattr(wt, name)
            self.assertGreater(len((member.__doc__ or "").split()), 2, name)
            if not inspect.isclass(member) or name in ("Error", "Action"):
                continue
            for each, value in vars(member).items():
                if each.startswith("_") or not (callable(value) or inspect.isdatadescriptor(value)):
                    continue
                self.assertGreater(len((inspect.getdoc(value) or "").split()), 2, f"{name}.{each}")

    def test_its_wheel_imports_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            build = os.path.dirname(os.path.dirname(PACKAGE))
            subprocess.run(["cmake", "--install", build, "--component", "wheel", "--prefix", folder],
                           check=True, capture_output=True)
            for name in os.listdir(os.path.join(SOURCE, "python", "windtunnel")):
                os.symlink(os.path.join(SOURCE, "python", "windtunnel", name),
                           os.path.join(folder, "windtunnel", name))
            code = ("import windtunnel as wt, os\n"
                    "print(os.path.dirname(wt._windtunnel.__file__))\n"
                    "print([l.split()[-1] for l in open('/proc/self/maps') "
                    "if 'libwindtunnel' in l][0])\n"
                    f"print(wt.load({SMALL!r}).name)\n")
            said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                                  text=True, env={**os.environ, "PYTHONPATH": folder})
            place, library, name = said.stdout.split()
            self.assertEqual(place, os.path.join(folder, "windtunnel"))
            self.assertEqual(os.path.dirname(library), place)
            self.assertEqual(name, "small")

    def test_another_python_is_told_which_one_it_was_built_for(self):
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "windtunnel")
            shutil.copytree(os.path.join(SOURCE, "python", "windtunnel"), package,
                            ignore=shutil.ignore_patterns("__pycache__"))
            for there in ("none", "_windtunnel.cpython-27-machine-linux-gnu.so"):
                if there != "none":
                    open(os.path.join(package, there), "wb").close()
                said = subprocess.run([sys.executable, "-c", "import windtunnel"], text=True,
                                      capture_output=True, env={**os.environ, "PYTHONPATH": folder})
                self.assertEqual(said.returncode, 1)
                last = said.stderr.strip().splitlines()[-1]
                here = "{}.{}".format(*sys.version_info[:2])
                self.assertTrue(last.startswith(
                    f"ImportError: windtunnel has no extension for Python {here} on this kind of "
                    f"machine; there is: {there}. "), last)

    def test_its_project_file_names_what_there_is(self):
        with open(os.path.join(SOURCE, "pyproject.toml"), encoding="utf-8") as file:
            text = file.read()
        pattern = re.search(r"^regex = '(.*)'$", text, re.M).group(1)
        with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
            version = re.search(pattern, file.read()).group("value")
        self.assertEqual(version, wt.__version__)
        package = re.search(r'wheel.packages = \["(.*)"\]', text).group(1)
        self.assertTrue(os.path.exists(os.path.join(SOURCE, package, "__init__.py")))


if __name__ == "__main__":
    unittest.main()
