"""Who may run at the same time: the order of `Tasks`, relaxed where nobody can tell the difference.

Pure: no I/O. The result of a step is by definition that of the sequential order. A task may be
dispatched early when

- every earlier task that writes a field it reads, or a field it writes, has been answered, and
- every earlier task that reads a field it writes has been dispatched (its request is cut already).

So any interleaving merges the same bytes in the same order as one task after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simsched.tasks import Task


@dataclass(frozen=True)
class Plan:
    """The tasks of one step and what each of them waits for, by place in `tasks`."""

    tasks: tuple[Task, ...]
    after_answer: tuple[frozenset[int], ...]
    after_dispatch: tuple[frozenset[int], ...]
    answers_release: tuple[tuple[int, ...], ...] = field(init=False)
    dispatches_release: tuple[tuple[int, ...], ...] = field(init=False)
    blockers: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers_release", _reversed(self.after_answer))
        object.__setattr__(self, "dispatches_release", _reversed(self.after_dispatch))
        pairs = zip(self.after_answer, self.after_dispatch, strict=True)
        object.__setattr__(self, "blockers", tuple(len(done) + len(sent) for done, sent in pairs))

    @property
    def is_chain(self) -> bool:
        """Whether each task waits for the one before it: nothing can overlap."""
        return all(place - 1 in self.after_answer[place] for place in range(1, len(self.tasks)))

    @property
    def stages(self) -> list[list[Task]]:
        """The tasks by the earliest stage at which they can run."""
        level: list[int] = []
        for answered, dispatched in zip(self.after_answer, self.after_dispatch, strict=True):
            later = (level[before] + 1 for before in answered)
            beside = (level[before] for before in dispatched)
            level.append(max((0, *later, *beside)))
        stages: list[list[Task]] = [[] for _ in range(max(level, default=-1) + 1)]
        for place, task in enumerate(self.tasks):
            stages[level[place]].append(task)
        return stages


def make_plan(tasks: Sequence[Task], early: bool = True) -> Plan:
    """The plan of a step in which these tasks run; `early=False` keeps them one after another."""
    after_answer: list[frozenset[int]] = []
    after_dispatch: list[frozenset[int]] = []
    for place, task in enumerate(tasks):
        earlier = range(place)
        if not early:
            after_answer.append(frozenset(earlier))
            after_dispatch.append(frozenset())
            continue
        touched = {*task.reads, *task.merged}
        done = frozenset(j for j in earlier if touched & set(tasks[j].merged))
        sent = frozenset(j for j in earlier if set(task.merged) & set(tasks[j].reads)) - done
        after_answer.append(done)
        after_dispatch.append(sent)
    return Plan(tuple(tasks), tuple(after_answer), tuple(after_dispatch))


def _reversed(edges: Sequence[frozenset[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(later for later in range(len(edges)) if place in edges[later]) for place in range(len(edges))
    )
