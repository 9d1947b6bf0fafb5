"""What a simulation came to."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

from windtunnel import _windtunnel

if TYPE_CHECKING:
    import pandas


def frame_of(rows: list[dict[str, Any]], index: str | None = None) -> pandas.DataFrame:
    """A DataFrame of rows; raises ImportError that says what to install without pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "DataFrames need pandas: apt install python3-pandas, or pip install pandas"
        ) from error
    frame = pandas.DataFrame(rows)
    return frame.set_index(index) if index is not None and len(frame) else frame


def inline(page: str, title: str, height: int) -> str:
    """A page of its own inside of a notebook: its styles and names do not meet the notebook's."""
    return (
        f'<iframe title="{html.escape(title)}" srcdoc="{html.escape(page)}" '
        f'style="width: 100%; height: {height}px; border: 1px solid #8886"></iframe>'
    )


class Result(dict):
    """The document of ``windtunnel run --json`` as a dict: ``result["iteration"]["time_s"]``.

    In a notebook it shows the page of the run, with its charts.
    """

    def __init__(self, simulated: _windtunnel.Result) -> None:
        super().__init__(json.loads(simulated.json()))
        self._simulated = simulated

    def figures(self) -> list[dict[str, Any]]:
        """Every number with its key, title, unit, 95 % interval (``low``, ``high``; None where it
        is no mean over trials), origin and help."""
        return self._simulated.figures()

    def frame(self) -> pandas.DataFrame:
        """:meth:`figures` as a DataFrame, by key."""
        return frame_of(self.figures(), "key")

    def timeline(self) -> list[dict[str, Any]]:
        """The tasks of the simulated step, and when each ran: for every recorded rank a dict of
        ``rank``, ``kind`` (``"pp 3"``), ``ranks`` (how many behave like it) and ``tasks``. A task
        has ``name`` (``"F0.3"``: forward of stage 0, micro-batch 3), ``kind``, ``stream``,
        ``iteration``, ``stage``, ``microbatch`` (-1: of none), ``start_s``, ``end_s``, ``bytes``
        and ``after``, the places of the tasks that it waits for in the same list."""
        return self._simulated.timeline()

    def task_frame(self) -> pandas.DataFrame:
        """:meth:`timeline` as a DataFrame, a row per task with its ``rank``."""
        return frame_of([{"rank": each["rank"], **task}
                         for each in self.timeline() for task in each["tasks"]])

    def page(self) -> str:
        """The HTML page of the run, which opens offline: ``report.html`` of ``run --out``."""
        return self._simulated.page()

    def save_page(self, path: str) -> None:
        """Writes :meth:`page` to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page())

    def _repr_html_(self) -> str:
        return inline(self.page(), f"run of {self.get('scenario', 'a scenario')}", 720)
