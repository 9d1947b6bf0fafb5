"""The points of a comparison or of a sweep."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable

from windtunnel.result import Result, frame_of

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Point:
    """One point of a grid.

    ``set`` has the values that make it; ``figures`` its numbers by key, empty where the point
    cannot be simulated: then ``reason`` says why. ``result`` is there after a comparison, not after
    a sweep, which keeps figures only. ``better`` says of the same keys which way a figure is
    better: ``"lower"``, ``"higher"`` or ``"neither"``.
    """

    set: dict[str, Any]
    figures: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    result: Result | None = None
    better: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def __getitem__(self, key: str) -> float:
        """A number of the point: ``point["iteration.time_s"]``. Raises KeyError with the reason."""
        try:
            return self.figures[key]
        except KeyError:
            why = self.reason or f"has only {', '.join(sorted(self.figures))}"
            raise KeyError(f"{key}: the point {self.set} {why}") from None


def point_of(
    values: dict[str, Any],
    figures: list[dict[str, Any]],
    reason: str = "",
    result: Result | None = None,
) -> Point:
    """The point of a result's figures."""
    return Point(
        values,
        {each["key"]: each["value"] for each in figures},
        reason,
        result,
        {each["key"]: each["better"] for each in figures},
    )


class Points(list["Point"]):
    """The points in the order of the grid, whose last key changes fastest."""

    def __init__(self, points: Iterable[Point] = ()) -> None:
        super().__init__(points)

    def best(self, key: str | None = None, highest: bool | None = None) -> Point:
        """The point with the best value of a figure: the highest or the lowest, as its ``better``
        says. Without a key the most tokens trained in a second, which holds for unequal batches,
        too, or of reinforcement learning the most samples of its loop; where the number of steps is
        given, ask for ``"iteration.time_s"``. ``highest`` is needed of a figure that is better neither
        way, and overrides ``better``. Differences within a figure's interval may be chance. Raises
        ValueError where no point has the figure, or nothing says which way it is better."""
        if key is None:
            loops = any("rollout.samples_per_s" in point.figures for point in self)
            key = "rollout.samples_per_s" if loops else "iteration.tokens_per_s"
        having = [point for point in self if key in point.figures]
        if not having:
            raise ValueError(f"no point has {key}: {self._why_none(key)}")
        better = having[0].better.get(key, "neither")
        if highest is None and better == "neither":
            raise ValueError(f"{key} is better neither way: say highest=True or highest=False")
        best = max if (better == "higher" if highest is None else highest) else min
        return best(having, key=lambda point: point.figures[key])

    def _why_none(self, key: str) -> str:
        known = sorted({each for point in self for each in point.figures})
        if known:
            near = difflib.get_close_matches(key, known, 1)
            return f"did you mean {near[0]}?" if near else f"they have {', '.join(known)}"
        reasons = sorted({point.reason for point in self if point.reason})
        return "; ".join(reasons) or "there is no point"

    def frame(self) -> pandas.DataFrame:
        """A DataFrame with a row per point: its values, its reason, its figures."""
        return frame_of([{**point.set, "reason": point.reason, **point.figures} for point in self])

    def _repr_html_(self) -> str | None:
        try:
            frame = self.frame()
        except ImportError:
            return None  # without pandas the notebook shows the list
        columns = ["iteration.time_s", "iteration.mfu", "iteration.peak_memory_bytes",
                   "campaign.goodput"]
        varied = list(self[0].set) if self else []
        shown = varied + [each for each in columns if each in frame] + ["reason"]
        return frame[shown].to_html(index=False) if len(self) else "<p>no points</p>"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a comparison or a sweep; ``points`` has those that were finished."""

    def __init__(self, points: Points) -> None:
        super().__init__(f"interrupted after {len(points)} points")
        self.points = points
