"""How long an iteration of a training job takes, and what of months of it survives failures.

    import windtunnel as wt

    case = wt.load("scenarios/small.yaml").set("layout.tp", 8)
    result = case.run()
    result["iteration"]["time_s"]

A :class:`Case` is a scenario with values set over it; its methods return new cases and leave it as
it is. ``run`` simulates it, ``compare`` and ``sweep`` do so at every point of a grid. All figures
are those of the program ``windtunnel``, bit for bit.
"""

from windtunnel._extension import MISSING as _MISSING
from windtunnel._extension import Error
from windtunnel.program import command

if not _MISSING:
    from windtunnel._windtunnel import (
        CompressorRequest,
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
    from windtunnel.case import Case, load, loads
    from windtunnel.points import Interrupted, Point, Points
    from windtunnel.result import Result
    from windtunnel.schedule import Action, backward, backward_input, backward_weight, forward

    __version__ = version().split()[0]

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


def __getattr__(name: str) -> object:
    if _MISSING and (name in __all__ or name == "__version__"):
        raise ImportError(_MISSING, name=__name__)
    raise AttributeError(f"module 'windtunnel' has no attribute '{name}'")
