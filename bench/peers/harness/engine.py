"""What the runner knows of an engine beside NoETL: how it is called, how it is started, and the program that measures it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"


@dataclass(frozen=True)
class Running:
    """An engine that is up."""

    # What its measuring program finds in its environment.
    environment: dict
    # The process that makes executions durable.
    writer: int


@dataclass(frozen=True)
class Engine:
    name: str
    title: str
    settings: str
    # Whether it answers only when what happened is on the disk, and how that is known.
    durability: str
    program: str
    # Starts it with an empty store: (folder it is installed in, folder for its state and logs).
    start: Callable[[Path, Path], AbstractContextManager[Running]]


def python_of(installed):
    return Path(installed) / "python/bin/python"
