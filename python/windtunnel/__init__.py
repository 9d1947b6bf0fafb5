"""How long an iteration of a training job takes, and what of months of it survives failures.

    import windtunnel as wt

    case = wt.load("scenarios/small.yaml").set("layout.tp", 8)
    result = case.run()
    result["iteration"]["time_s"]

A :class:`Case` is a scenario with values set over it; its methods return new cases and leave it as
it is. ``run`` simulates it, ``compare`` and ``sweep`` do so at every point of a grid. All figures
are those of the program ``windtunnel``, bit for bit.
"""

import glob as _glob
import os as _os
import sys as _sys

try:
    from windtunnel._windtunnel import (
        CompressorRequest,
        Error,
        GradientTensor,
        Kernel,
        Recipe,
        RecipeStep,
        SavingMoment,
        ScheduleRequest,
        StageWork,
        keys,
        names,
        product,
        version,
    )
except ModuleNotFoundError as missing:
    if missing.name != "windtunnel._windtunnel":
        raise
    # Python looks for the name of its own version alone, and would say that there is none.
    _there = _glob.glob(_os.path.join(_os.path.dirname(__file__), "_windtunnel.*.so"))
    raise ImportError(
        "windtunnel has no extension for Python {}.{} on this kind of machine; there is: {}. Start "
        "the Python that it was built for, or build it for this one (docs/reference/python.md)".format(
            *_sys.version_info[:2], ", ".join(map(_os.path.basename, _there)) or "none"),
        name=missing.name) from None

from windtunnel.case import Case, load, loads
from windtunnel.points import Interrupted, Point, Points
from windtunnel.program import command
from windtunnel.result import Result
from windtunnel.schedule import Action, backward, backward_input, backward_weight, forward

__all__ = [
    "Action",
    "Case",
    "CompressorRequest",
    "Error",
    "GradientTensor",
    "Interrupted",
    "Kernel",
    "Point",
    "Points",
    "Recipe",
    "RecipeStep",
    "Result",
    "SavingMoment",
    "ScheduleRequest",
    "StageWork",
    "backward",
    "backward_input",
    "backward_weight",
    "command",
    "forward",
    "keys",
    "load",
    "loads",
    "names",
    "product",
    "version",
]
__version__ = version().split()[0]
