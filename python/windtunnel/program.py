"""The program that comes with the package: its commands from Python, and in a shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

from windtunnel._extension import Error

_HERE = os.path.dirname(os.path.abspath(__file__))
# In a wheel, in a build folder, in an installation.
_PLACES = ("bin", "../../bin", "../../../../bin")


def _path() -> str:
    for place in _PLACES:
        path = os.path.normpath(os.path.join(_HERE, place, "windtunnel"))
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    found = shutil.which("windtunnel")
    if found is None:
        raise FileNotFoundError("the program windtunnel is neither beside its package nor in PATH")
    return found


def command(name: str, *arguments: str, **options: Any) -> dict[str, Any]:
    """The JSON document of a command of the program.

    ``command("plan", cluster="64 x dgx-h100", model="llama3-70b", tokens="2 T")`` is what
    ``windtunnel plan --cluster '64 x dgx-h100' ... --json`` prints. A list repeats its option, True
    stands for one without a value, False and None leave it out, ``_`` stands for ``-``. An
    underscore at the end is dropped, for options that are words of Python: ``for_="goodput"``.
    Commands without an option ``--json`` (init, schema, man, completion, serve, ``trace export``)
    are refused. Raises :class:`windtunnel.Error` with what the program says where it refuses or
    fails; ``cause`` is ``"input"`` or ``"failed"``.
    """
    words = [name, *map(os.fspath, arguments), "--json"]
    for option, value in options.items():
        flag = "--" + option.rstrip("_").replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is not None and each is not False:
                words += [flag] if each is True else [flag, str(each)]
    done = subprocess.run([_path(), *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        text = done.stderr.strip() or f"{name} ended with {done.returncode}"
        error = Error(text)
        error.text = text
        error.file = error.key = ""
        error.line = error.column = 0
        error.cause = "input" if done.returncode == 2 else "failed"
        raise error
    return json.loads(done.stdout)


def main() -> None:
    """The command `windtunnel` of an installed wheel."""
    path = _path()
    os.execv(path, [path, *sys.argv[1:]])
