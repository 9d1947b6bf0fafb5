"""Scenarios with values set over them."""

from __future__ import annotations

import itertools
import json
import os
import sys
from typing import Any, Callable, Mapping, Sequence, Union, overload

from windtunnel import _windtunnel
from windtunnel.points import Interrupted, Point, Points, point_of
from windtunnel.result import Result
from windtunnel.schedule import ScheduleFunction

RecipeFunction = Callable[[_windtunnel.CompressorRequest], _windtunnel.Recipe]
SavingRule = Callable[[_windtunnel.SavingMoment], float]
Value = Union[str, int, float, bool, list, dict, None]
Told = Callable[[str], None]  # of each step before it starts
# Of each point that is finished: how many are, of how many. True: a line on stderr.
Counted = Union[bool, Callable[[int, int], None]]


_NOTHING = object()


def text_of(key: str, value: Value) -> str:
    """A value as a scenario writes it. Lists and dicts as JSON, which YAML reads; numbers of NumPy
    as Python's."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=lambda each: each.item())
    except (AttributeError, TypeError) as error:
        raise TypeError(f"{key}: a scenario cannot hold {value!r}") from error


def _lists(vary: Mapping[str, Sequence[Value]]) -> dict[str, list[Value]]:
    for key, values in vary.items():
        if isinstance(values, (str, bytes)):
            raise TypeError(f"{key}: expected a list of values, such as [{values!r}]")
    return {key: list(values) for key, values in vary.items()}


def _checked_threads(threads: int) -> int:
    if threads < 0:
        raise ValueError(f"threads is 0, for all cores, or their number, not {threads}")
    return threads


def _print_count(done: int, total: int) -> None:
    end = "\n" if done == total else "\r"
    print(f"{done} of {total} points", end=end, file=sys.stderr, flush=True)


def _counter(progress: Counted) -> Callable[[int, int], None]:
    if callable(progress):
        return progress
    return _print_count if progress else lambda done, total: None


class Case:
    """A scenario with values set over it. It never changes: methods return new cases.

    Made by :func:`load` or :func:`loads`. Every method that looks into it may raise
    :class:`windtunnel.Error`.
    """

    def __init__(self, core: _windtunnel.Case, source: str) -> None:
        self._core = core
        self._source = source

    def __repr__(self) -> str:
        return f"<windtunnel.Case of {self._source}>"

    @overload
    def set(self, key: str, value: Value) -> Case: ...
    @overload
    def set(self, key: Mapping[str, Value]) -> Case: ...

    def set(self, key: str | Mapping[str, Value], value: Any = _NOTHING) -> Case:
        """The case with a value at a key (``"layout.tp"``), as ``--set`` of the program; or with
        all values of a dict."""
        if isinstance(key, Mapping) != (value is _NOTHING):
            raise TypeError("set() takes a key and its value, or a dict of them")
        pairs = key.items() if isinstance(key, Mapping) else [(key, value)]
        core = self._core
        for path, each in pairs:
            core = core.with_value(path, text_of(path, each))
        return Case(core, self._source)

    def with_schedule(self, name: str, generate: ScheduleFunction, chunks: int = 1) -> Case:
        """The case with a pipeline schedule of one's own, chosen by ``.set("schedule", name)``.

        ``generate(request)`` returns for each rank its actions in order, or that and the rank of
        each stage. It is called several times for a simulation, and equal requests must get equal
        schedules. ``chunks``: stages per rank where the scenario does not say.
        """
        if chunks < 1:
            raise ValueError(f"chunks are the stages per rank, 1 or more, not {chunks}")
        core = self._core.with_schedule(name, generate, chunks)
        return Case(core, self._source)

    def with_compressor(
        self,
        name: str,
        recipe: RecipeFunction,
        *,
        numbers: Mapping[str, float] | None = None,
        feedback: str = "",
        summable: bool = False,
        fusible: bool = False,
        whole_tensors: bool = False,
    ) -> Case:
        """The case with a gradient compressor of one's own, chosen by
        ``.set("communication.compressor", name)``.

        ``recipe(request)`` returns the :class:`windtunnel.Recipe` of one buffer of gradients. It is
        called several times for a simulation, and equal requests must get equal recipes.
        ``numbers``, such as ``{"rank": 4}``, and ``feedback`` (``"none"``, ``"ef"``, ``"ef21"`` or
        ``"econtrol"``) are keys that the scenario may then state below ``communication.compressor``,
        as they are where it does not; the request says what they became. ``summable``: all that is
        sent is all-reduces of sums, which sharded gradients scatter; ``fusible``: and a
        buffer takes one; ``whole_tensors``: it needs whole matrices.
        """
        core = self._core.with_compressor(
            name, recipe, dict(numbers or {}), feedback, summable, fusible, whole_tensors
        )
        return Case(core, self._source)

    def with_saving_rule(self, name: str, rule: SavingRule) -> Case:
        """The case with a rule of one's own that decides when to save, chosen by
        ``.set("snapshots.0.every", name)``.

        ``rule(moment)`` returns the seconds until the next snapshot. It is asked at each start and
        restart of training and at the start of each snapshot, with a
        :class:`windtunnel.SavingMoment`; the first iteration that starts then or later takes the
        snapshot, and none starts before the last copy is complete. Equal moments must get equal
        answers.
        """
        return Case(self._core.with_saving_rule(name, rule), self._source)

    def with_snapshots(self, name: str, tiers: Sequence[Mapping[str, Value]]) -> Case:
        """The case with a snapshot scheme of one's own, chosen by ``.set("snapshots", name)``: for
        each tier, the nearest first, its keys below ``snapshots.*``, as ``{"tier": "peers",
        "every": "10 iterations"}``."""
        return Case(self._core.with_snapshots(name, [_texts(tier) for tier in tiers]), self._source)

    def with_fabric(self, name: str, keys: Mapping[str, Value]) -> Case:
        """The case with a network between nodes of one's own, chosen by
        ``.set("cluster.fabric", name)``: keys below ``cluster.fabric``, as ``{"topology":
        "fat-tree", "nodes_per_pod": 64}``; ``"base"`` among them is a fabric of the library to
        start from."""
        return Case(self._core.with_fabric(name, _texts(keys)), self._source)

    def with_failure(self, name: str, keys: Mapping[str, Value]) -> Case:
        """The case with a class of failures of one's own, which then stands by its name in the list
        ``failures``, as ``.set("failures", [name])``: keys below ``failures.*``, as ``{"kind":
        "process", "rate": "2 per 1000 node-days"}``."""
        return Case(self._core.with_failure(name, _texts(keys)), self._source)

    def check(self) -> Case:
        """Returns the case; raises :class:`windtunnel.Error` for the first thing that is wrong."""
        self._core.check()
        return self

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self._core.name()

    @property
    def key(self) -> str:
        """Equal for cases that say the same, whatever their spelling."""
        return self._core.key()

    def values(self) -> list[dict[str, Any]]:
        """What every key became: ``key``, ``value`` with its unit, ``origin`` (measured, published,
        spec or assumed), ``source``, ``is_default``."""
        return self._core.values()

    def run(
        self, *, threads: int = 0, allow_oom: bool = False, progress: Told | None = None
    ) -> Result:
        """Simulates the case.

        ``threads``: 0 takes all cores; the result is the same for any number. ``allow_oom``
        simulates a job that does not fit in memory. ``progress`` is told each step before it
        starts. Ctrl-C ends it with KeyboardInterrupt when the step under way is done, of a
        campaign the trials under way.
        """
        _checked_threads(threads)
        return Result(_windtunnel.simulate(self._core, threads, allow_oom, progress))

    def compare(
        self,
        vary: Mapping[str, Sequence[Value]],
        *,
        threads: int = 0,
        allow_oom: bool = False,
        progress: Counted = False,
    ) -> Points:
        """Simulates every combination of values, ``{"schedule": ["1f1b", "zb-h1"]}``, and keeps
        each whole :class:`Result`. A point that cannot be simulated has the reason; where every
        point fails, the first error is raised. Ctrl-C raises :class:`Interrupted`.
        """
        lists = _lists(vary)
        grid = [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
        count = _counter(progress)
        points = Points()
        first_error = None
        try:
            for values in grid:
                try:
                    result = self.set(values).run(threads=threads, allow_oom=allow_oom)
                except _windtunnel.Error as error:
                    first_error = first_error or error
                    points.append(Point(values, reason=str(error)))
                else:
                    points.append(point_of(values, result.figures(), result=result))
                count(len(points), len(grid))
        except KeyboardInterrupt:
            raise Interrupted(points) from None
        if first_error is not None and all(point.reason for point in points):
            raise first_error
        return points

    def sweep(
        self,
        vary: Mapping[str, Sequence[Value]],
        *,
        threads: int = 0,
        progress: Counted = False,
    ) -> Points:
        """As :meth:`compare`, for grids of many points: iterations are simulated once for all
        points that share them, and points keep figures only. The case must have a campaign.
        Ctrl-C raises :class:`Interrupted`.
        """
        lists = _lists(vary)
        texts = [(key, [text_of(key, value) for value in lists[key]]) for key in lists]
        grid = [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
        count = _counter(progress)
        finished: dict[int, Point] = {}

        def on_finished(point: _windtunnel.SweepPoint) -> None:
            finished[point.index] = point_of(grid[point.index], point.figures(), point.reason)
            count(len(finished), len(grid))

        try:
            _windtunnel.sweep(self._core, texts, _checked_threads(threads), on_finished, None)
        except KeyboardInterrupt:
            raise Interrupted(_in_order(finished)) from None
        return _in_order(finished)


def _texts(keys: Mapping[str, Value]) -> list[tuple[str, str]]:
    return [(key, text_of(key, value)) for key, value in keys.items()]


def _in_order(points: dict[int, Point]) -> Points:
    return Points(points[index] for index in sorted(points))


def load(path: str | os.PathLike[str]) -> Case:
    """A case from a scenario file, or from the configuration of a training program.

    What the latter does not say is set: ``load("run.sh").set("cluster.node", "dgx-h100")``. Files
    that it names are looked for beside it.
    """
    return Case(_windtunnel.Case.from_file(os.fspath(path)), os.fspath(path))


def loads(text: str, name: str = "scenario") -> Case:
    """A case from a scenario's text; ``name`` stands for the file in messages."""
    return Case(_windtunnel.Case.from_text(text, name), name)
