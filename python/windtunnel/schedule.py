"""The words in which a pipeline schedule of one's own is written."""

from __future__ import annotations

from typing import Callable, NamedTuple, Sequence, Union

from windtunnel._windtunnel import ScheduleRequest


class Action(NamedTuple):
    """What a pipeline rank does next.

    ``work`` is ``"F"`` (forward), ``"B"`` (backward, both gradients), ``"I"`` (backward, the
    gradient of the input) or ``"W"`` (backward, the gradient of the weights); stages and
    micro-batches count from 0.
    """

    work: str
    stage: int
    microbatch: int


def forward(stage: int, microbatch: int) -> Action:
    """The forward pass of a stage."""
    return Action("F", stage, microbatch)


def backward(stage: int, microbatch: int) -> Action:
    """The backward pass of a stage, both gradients at once."""
    return Action("B", stage, microbatch)


def backward_input(stage: int, microbatch: int) -> Action:
    """The gradient of a stage's input, for which the stage before waits."""
    return Action("I", stage, microbatch)


def backward_weight(stage: int, microbatch: int) -> Action:
    """The gradient of a stage's weights, at any time after that of its input."""
    return Action("W", stage, microbatch)


Order = Sequence[Sequence[Action]]  # [rank], each in its order
# An order, or an order and the rank of each stage (without it stage s is on rank s % ranks).
MadeSchedule = Union[Order, "tuple[Order, Sequence[int]]"]
ScheduleFunction = Callable[[ScheduleRequest], MadeSchedule]
