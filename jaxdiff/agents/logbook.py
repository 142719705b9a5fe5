"""Where a run's numbers go: JSON lines, TensorBoard files, and Weights & Biases where it is asked for."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from jaxdiff.core.errors import InputError

LINES = "metrics.jsonl"


@dataclass
class Logbook:
    """Writes lines of numbers; without a folder it keeps them only.

    Attributes:
        lines: all that were written, oldest first.
    """

    lines: list[dict[str, Any]]
    _file: Any = None
    _board: Any = None
    _wandb: Any = None

    @staticmethod
    def open(folder: Path | None, updates: int = 0, *, tensorboard: bool = True, wandb: str | None = None, config: Any = None) -> Logbook:
        """Open a run's logbook, without what was written after its last checkpoint.

        Args:
            folder: of the run; None keeps everything in memory.
            updates: how many updates the run goes on from.
            tensorboard: whether to write TensorBoard files, where tensorboardX is installed.
            wandb: a Weights & Biases project.
            config: told to Weights & Biases.

        Raises:
            InputError: Weights & Biases is not installed.
        """
        book = Logbook([])
        if folder is not None:
            path = folder / LINES
            book.lines = [line for line in read(folder) if line["updates"] <= updates]
            path.write_text("".join(json.dumps(line) + "\n" for line in book.lines))
            book._file = path.open("a")
            if tensorboard:
                book._board = _board(folder / "tensorboard", book.lines)
        if wandb is not None:
            try:
                import wandb as library  # pyright: ignore[reportMissingImports]
            except ImportError as error:
                raise InputError("wandb", wandb, "None, or install it: pip install wandb") from error
            book._wandb = library.init(project=wandb, config=config)
        return book

    def write(self, line: dict[str, Any]) -> None:
        """Add a line: numbers, and lists of them; NaN becomes null."""
        line = {name: _plain(value) for name, value in line.items()}
        self.lines.append(line)
        if self._file is not None:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
        scalars = {name: value for name, value in line.items() if isinstance(value, int | float)}
        if self._board is not None:
            for name, value in scalars.items():
                self._board.add_scalar(name, value, line["steps"])
        if self._wandb is not None:
            self._wandb.log(scalars, step=line["updates"])

    def __enter__(self) -> Logbook:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for held in (self._file, self._board):
            if held is not None:
                held.close()
        if self._wandb is not None:
            self._wandb.finish()


def read(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's logbook; a last one that was cut off is left out."""
    path = folder / LINES
    out = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            out.append(json.loads(text))
        except ValueError:
            break
    return out


def _board(folder: Path, lines: list[dict[str, Any]]) -> Any:
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        return None
    # What was written after the last line that is kept is written again.
    return SummaryWriter(str(folder), purge_step=lines[-1]["steps"] + 1 if lines else None)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
