"""The points of a comparison or of a sweep."""

from __future__ import annotations

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
    a sweep, which keeps figures only.
    """

    set: dict[str, Any]
    figures: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    result: Result | None = None

    def __getitem__(self, key: str) -> float:
        """A number of the point: ``point["iteration.time_s"]``. Raises KeyError with the reason."""
        try:
            return self.figures[key]
        except KeyError:
            why = self.reason or f"has only {', '.join(sorted(self.figures))}"
            raise KeyError(f"{key}: the point {self.set} {why}") from None


def values_of(figures: list[dict[str, Any]]) -> dict[str, float]:
    """The numbers of figures by key."""
    return {each["key"]: each["value"] for each in figures}


class Points(list["Point"]):
    """The points in the order of the grid, whose last key changes fastest."""

    def __init__(self, points: Iterable[Point] = ()) -> None:
        super().__init__(points)

    def best(self, key: str = "iteration.time_s", highest: bool = False) -> Point:
        """The point with the lowest (or highest) value of a figure. Steps of unequal batches compare
        by ``best("iteration.tokens_per_s", highest=True)``. Differences within a figure's interval
        may be chance. Raises ValueError where no point has the figure."""
        having = [point for point in self if key in point.figures]
        if not having:
            reasons = sorted({point.reason for point in self if point.reason})
            raise ValueError(f"no point has {key}: {'; '.join(reasons) or 'there is no point'}")
        return (max if highest else min)(having, key=lambda point: point.figures[key])

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
