"""What the package says of itself: docstrings, types, and what pip would install."""

import ast
import base64
import hashlib
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from unittest import mock

import windtunnel as wt
from windtunnel import _windtunnel

from common import SOURCE, program

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

    def test_its_wheel_works_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            build = os.path.dirname(os.path.dirname(PACKAGE))
            made = subprocess.run([sys.executable, os.path.join(SOURCE, "python", "make_wheel.py"),
                                   build, folder], check=True, capture_output=True, text=True)
            wheel = os.path.join(folder, made.stdout.strip())
            with zipfile.ZipFile(wheel) as packed:
                record = packed.read(next(name for name in packed.namelist()
                                          if name.endswith("RECORD"))).decode()
                for line in record.splitlines():
                    name, digest, size = line.split(",")
                    if digest:
                        content = packed.read(name)
                        said = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
                        self.assertEqual((digest, size),
                                         ("sha256=" + said.rstrip("="), str(len(content))), name)
                self.assertEqual({line.split(",")[0] for line in record.splitlines()},
                                 set(packed.namelist()))
                packed.extractall(folder)
                for entry in packed.infolist():  # which zipfile forgets
                    os.chmod(os.path.join(folder, entry.filename), entry.external_attr >> 16)
            package = os.path.join(folder, "windtunnel")
            # README's first command, and where each library comes from.
            code = ("import windtunnel as wt, json\n"
                    "paths = {l.split()[-1] for l in open('/proc/self/maps') if '.so' in l}\n"
                    "plan = wt.command('plan', cluster='64 x dgx-h100', model='llama3-70b',"
                    " tokens='2 T')\n"
                    "print(json.dumps([sorted(paths), plan]))\n")
            said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                                  text=True, env={"PYTHONPATH": folder, "PATH": ""})
            paths, plan = json.loads(said.stdout)
            for library in ("libwindtunnel", "libsimgrid", "libyaml-cpp"):
                self.assertEqual({os.path.dirname(path) for path in paths if library in path},
                                 {os.path.join(package, "lib")}, library)
            theirs = program("plan", "--cluster", "64 x dgx-h100", "--model", "llama3-70b",
                             "--tokens", "2 T")
            self.assertEqual(plan, theirs)

    def test_a_command_that_is_refused_says_why(self):
        with self.assertRaises(wt.Error) as caught:
            wt.command("plan", cluster="64 x dgx-h10", model="llama3-70b", tokens="2 T")
        self.assertIn("did you mean", caught.exception.text)
        self.assertEqual(caught.exception.cause, "input")

    def test_options_of_a_command(self):
        expected = program("expect", "all_reduce", "--cluster", "2 x dgx-h100")
        self.assertEqual(wt.command("expect", "all_reduce", cluster="2 x dgx-h100", log=None,
                                    quiet=False), expected)
        with mock.patch.object(subprocess, "run") as run:
            run.return_value = mock.Mock(returncode=0, stdout="{}")
            wt.command("optimise", "a.yaml", for_="goodput", over=["layout", "schedule"],
                       allow_oom=True, explain=False, top=None)
            words = run.call_args.args[0][1:]
        self.assertEqual(words, ["optimise", "a.yaml", "--json", "--for", "goodput", "--over",
                                 "layout", "--over", "schedule", "--allow-oom"])
        with self.assertRaises(wt.Error) as caught:  # as its docstring says
            wt.command("schema")
        self.assertIn("--json", caught.exception.text)

    def test_another_python_is_told_which_one_it_was_built_for(self):
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "windtunnel")
            shutil.copytree(os.path.join(SOURCE, "python", "windtunnel"), package,
                            ignore=shutil.ignore_patterns("__pycache__"))
            environment = {**os.environ, "PYTHONPATH": folder,
                           "PATH": os.path.join(os.path.dirname(os.path.dirname(PACKAGE)), "bin")}
            for there in ("none", "_windtunnel.cpython-27-machine-linux-gnu.so"):
                if there != "none":
                    open(os.path.join(package, there), "wb").close()
                for code in ("from windtunnel import load", "import windtunnel; windtunnel.Case"):
                    said = subprocess.run([sys.executable, "-c", code], text=True,
                                          capture_output=True, env=environment)
                    self.assertEqual(said.returncode, 1)
                    last = said.stderr.strip().splitlines()[-1]
                    here = "{}.{}".format(*sys.version_info[:2])
                    self.assertTrue(last.startswith(
                        f"ImportError: windtunnel has no extension for Python {here} on this kind "
                        f"of machine; there is: {there}. "), last)
            # Its commands work, and a name that it never has is as of any module.
            code = ("import windtunnel as wt\n"
                    "assert not hasattr(wt, 'nothing')\n"
                    "assert wt.command('list', 'gpus')\n"
                    "try: wt.command('list', 'gpu')\n"
                    "except wt.Error as error: print(error.cause, error.text)\n")
            said = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                                  env=environment)
            self.assertEqual(said.stderr, "")
            self.assertTrue(said.stdout.startswith("input "), said.stdout)

    def test_an_editable_wheel_points_at_the_modules_of_the_tree(self):
        sys.path.insert(0, os.path.join(SOURCE, "python"))
        module = importlib.import_module("make_wheel")
        built = os.path.dirname(os.path.dirname(PACKAGE))
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.object(module, "built", return_value=built):
                made = module.build_editable(folder)
            with zipfile.ZipFile(os.path.join(folder, made)) as packed:
                path = packed.read("windtunnel.pth").decode().strip()
                self.assertTrue(any(name.endswith(".dist-info/METADATA")
                                    for name in packed.namelist()))
            code = ("import windtunnel as wt, os\n"
                    "print(os.path.realpath(wt.__file__))\n"
                    "print(wt.command('list', 'gpus')['schema'])\n")
            said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                                  text=True, env={"PYTHONPATH": path, "PATH": ""})
            self.assertEqual(said.stdout.splitlines()[0],
                             os.path.join(SOURCE, "python", "windtunnel", "__init__.py"))
            shutil.rmtree(path)

    def test_its_project_file_names_what_there_is(self):
        with open(os.path.join(SOURCE, "pyproject.toml"), encoding="utf-8") as file:
            text = file.read()
        folder = re.search(r'^backend-path = \["(.*)"\]$', text, re.M).group(1)
        backend = re.search(r'^build-backend = "(.*)"$', text, re.M).group(1)
        sys.path.insert(0, os.path.join(SOURCE, folder))
        module = importlib.import_module(backend)
        self.assertTrue(callable(module.build_wheel))
        self.assertEqual(module.version(), wt.__version__)
        # Another Python gets another folder, whose cache knows no other.
        folders = set()
        for tag in ("cpython-311", "cpython-313"):
            with mock.patch.object(sys.implementation, "cache_tag", tag):
                folders.add(module.build_folder(None))
        self.assertEqual(len(folders), 2)
        self.assertEqual(module.build_folder({"build-dir": "build/own"}), "build/own")

    def test_its_source_distribution_has_what_is_tracked(self):
        sys.path.insert(0, os.path.join(SOURCE, "python"))
        module = importlib.import_module("make_wheel")
        with tempfile.TemporaryDirectory() as folder:
            tree = os.path.join(folder, "tree")
            os.mkdir(tree)
            shutil.copy(os.path.join(SOURCE, "CMakeLists.txt"), tree)
            for name in ("tracked", "untracked"):
                open(os.path.join(tree, name), "wb").close()
            with mock.patch.object(module, "SOURCE", tree):
                with self.assertRaisesRegex(RuntimeError, "no clone"):
                    module.build_sdist(folder)
                subprocess.run(["git", "init", "-q", tree], check=True)
                subprocess.run(["git", "-C", tree, "add", "CMakeLists.txt", "tracked"], check=True)
                made = module.build_sdist(folder)
            top = f"windtunnel-{wt.__version__}"
            self.assertEqual(made, top + ".tar.gz")
            with tarfile.open(os.path.join(folder, made)) as packed:
                self.assertEqual(set(packed.getnames()), {
                    f"{top}/{name}" for name in ("PKG-INFO", "CMakeLists.txt", "tracked")})


if __name__ == "__main__":
    unittest.main()
