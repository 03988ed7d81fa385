"""Who reads and writes what, drawn as Mermaid or Graphviz text, the tasks grouped by parallel stages.

A pure file: tasks in, text out. An arrow goes from the task whose value is seen to the task that sees
it: solid for a value of this very step, dashed for one of the last step. A field that nobody has written
yet comes from the DataBase. t, dt, tmax and cmd are the master's, and told to all: they are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simsched.database import COMMON
from simsched.plan import make_plan
from simsched.tasks import Task

DATABASE = "DataBase"
NOBODY = "nobody"


@dataclass(frozen=True)
class Flow:
    """Fields that go from one task to another."""

    source: str
    target: str
    fields: tuple[str, ...]
    is_late: bool
    """Whether they are those of the last step."""


def flows(tasks: Sequence[Task], jacobi: bool = False) -> list[Flow]:
    """All arrows: what each task reads, then what nobody reads."""
    found: dict[tuple[str, str, bool], list[str]] = {}
    for place, task in enumerate(tasks):
        for name in task.reads:
            for source, is_late in _sources(tasks, place, name, jacobi) if name not in COMMON else ():
                found.setdefault((source, task.name, is_late), []).append(name)
    read = {name for task in tasks for name in task.reads}
    for task in tasks:
        for name in task.merged:
            if name not in read:
                found.setdefault((task.name, NOBODY, False), []).append(name)
    return [Flow(source, target, tuple(names), late) for (source, target, late), names in found.items()]


def _sources(tasks: Sequence[Task], place: int, name: str, jacobi: bool) -> Iterator[tuple[str, bool]]:
    """From whom a task has a field: the last who wrote it, and those before, if that one rests at times."""
    now = [] if jacobi else list(reversed(tasks[:place]))
    before = list(reversed(tasks)) if jacobi else list(reversed(tasks[place:]))
    is_written = False
    for task, is_late in [*((task, False) for task in now), *((task, True) for task in before)]:
        if name in task.merged:
            is_written = True
            yield task.name, is_late
            if task.every == 1 and not task.optional:
                return
    if not is_written:
        yield DATABASE, False


def stages(tasks: Sequence[Task], jacobi: bool = False) -> list[list[Task]]:
    """The tasks by the moment at which they can run; in Jacobi coupling all at once."""
    return [list(tasks)] if jacobi else make_plan(tasks).stages


def mermaid(tasks: Sequence[Task], jacobi: bool = False) -> str:
    """A Mermaid flowchart."""
    arrows = flows(tasks, jacobi)
    lines = ["flowchart TD"]
    for number, stage in enumerate(stages(tasks, jacobi), start=1):
        lines.append(f'  subgraph stage{number}["stage {number}"]')
        lines += [f"    {_node(task.name, tasks)}{_mermaid_shape(task)}" for task in stage]
        lines.append("  end")
    ends = {end for arrow in arrows for end in (arrow.source, arrow.target)}
    lines += ["  database[(DataBase)]"] if DATABASE in ends else []
    lines += ["  nobody([read by no task])"] if NOBODY in ends else []
    for arrow in arrows:
        line = "-.->" if arrow.is_late else "-->"
        ends_of = _node(arrow.source, tasks), _node(arrow.target, tasks)
        lines.append(f'  {ends_of[0]} {line}|"{", ".join(arrow.fields)}"| {ends_of[1]}')
    return "\n".join(lines) + "\n"


def _mermaid_shape(task: Task) -> str:
    label = f'"{_label(task, "<br/>")}"'
    return f"([{label}])" if task.no_answer else f"[{label}]"


def dot(tasks: Sequence[Task], jacobi: bool = False) -> str:
    """A Graphviz graph."""
    arrows = flows(tasks, jacobi)
    lines = ["digraph scenario {", "  node [shape=box];"]
    for number, stage in enumerate(stages(tasks, jacobi), start=1):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f'    label="stage {number}"; style=dashed;')
        lines += [f"    {_node(task.name, tasks)} [{_dot_looks(task)}];" for task in stage]
        lines.append("  }")
    ends = {end for arrow in arrows for end in (arrow.source, arrow.target)}
    lines += ['  database [label="DataBase", shape=cylinder];'] if DATABASE in ends else []
    lines += ['  nobody [label="read by no task", shape=plaintext];'] if NOBODY in ends else []
    for arrow in arrows:
        looks = f'label="{", ".join(arrow.fields)}"' + (", style=dashed" if arrow.is_late else "")
        lines.append(f"  {_node(arrow.source, tasks)} -> {_node(arrow.target, tasks)} [{looks}];")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_looks(task: Task) -> str:
    rounded = ", style=rounded" if task.no_answer else ""
    return f'label="{_label(task, chr(92) + "n")}"{rounded}'


def _label(task: Task, newline: str) -> str:
    """The task's name, and what is special about when it runs."""
    remarks = [f"every {task.every} from {task.phase}"] if task.every > 1 else []
    remarks += ["noAnswer"] if task.no_answer else []
    remarks += ["Optional"] if task.optional else []
    return newline.join([task.name, *remarks])


def _node(name: str, tasks: Sequence[Task]) -> str:
    """A name that both languages take: task names may hold '-' or be words of theirs."""
    names = [task.name for task in tasks]
    return f"task{names.index(name)}" if name in names else name.lower()


FORMATS = {"mermaid": mermaid, "dot": dot}
