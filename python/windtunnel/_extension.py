"""Whether the extension is there for the Python that runs. Without it the commands of the program work
from Python, and nothing else does."""

from __future__ import annotations

import glob
import os
import sys

try:
    from windtunnel._windtunnel import Error

    MISSING = ""
except ModuleNotFoundError as missing:
    if missing.name != "windtunnel._windtunnel":
        raise

    class Error(Exception):
        """What the program refuses, or where it fails: ``text``, and a ``cause``, ``"input"`` or
        ``"failed"``."""

    # Python looks for the name of its own version alone, and would say that there is none.
    _there = glob.glob(os.path.join(os.path.dirname(__file__), "_windtunnel.*.so"))
    MISSING = (
        "windtunnel has no extension for Python {}.{} on this kind of machine; there is: {}. "
        "windtunnel.command() works without it; for all else start the Python that it was built for, "
        "or build it for this one (docs/reference/python.md)".format(
            *sys.version_info[:2], ", ".join(map(os.path.basename, _there)) or "none"))
