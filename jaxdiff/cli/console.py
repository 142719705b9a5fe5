"""What sub-commands share: where text goes, progress, output folders.

With `--json` standard output carries one line of JSON, the last thing printed, and everything for people goes to standard error.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from jaxdiff.core.errors import InputError, require, require_integer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Report = Callable[[str, int, int], None]
# Without a terminal, one line of progress every so many seconds.
_QUIET_SECONDS = 10.0
# The widest table needs that many columns.
_TABLE_WIDTH = 170


def console(as_json: bool) -> Console:
    """Where text for people goes. Tables are never squeezed: a narrower terminal wraps their lines, a file gets them whole."""
    made = Console(stderr=as_json, highlight=False, markup=False)  # "[bits]" is no markup
    made.width = max(made.width, _TABLE_WIDTH)
    return made


def table(title: str, columns: list[str], rows: list[list[str]], caption: str | None = None, texts: bool = False) -> Table:
    """A table whose first column is text and whose other columns are numbers; or `texts`, which may take several lines."""
    made = Table(title=title, caption=caption, title_justify="left", caption_justify="left", header_style="bold")
    for number, name in enumerate(columns):
        made.add_column(name, justify="left" if number == 0 or texts else "right", no_wrap=number == 0 or not texts, overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def refuse_unused(command: Any, used: Collection[str], when: str) -> None:
    """Refuse settings of a command that are not used, instead of ignoring them.

    Args:
        command: a dataclass of the command line.
        used: names of the settings that matter.
        when: why the others do not.

    Raises:
        InputError: one of the others is not at its default.
    """
    for setting in fields(command):
        value = getattr(command, setting.name)
        if setting.name not in used and value != setting.default:
            raise InputError(setting.name, value, f"nothing, {when}: it would change nothing")


def number(value: float, digits: int = 2) -> str:
    """A number for a table; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def duration(seconds: float) -> str:
    """A time for people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def size(count: float) -> str:
    """A number of bytes for people."""
    power = min(int(math.log(count, 1024)), 4) if count >= 1 else 0
    unit = ("B", "KiB", "MiB", "GiB", "TiB")[power]
    return f"{count / 1024**power:.{1 if power else 0}f} {unit}"


def print_json(value: Any) -> None:
    """One line of JSON on standard output; NaN and infinities become null."""
    print(json.dumps(plain(value), allow_nan=False))


def plain(value: Any) -> Any:
    """What JSON can hold: arrays become lists, dataclasses dictionaries, and numbers that are not finite None."""
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextmanager
def progress() -> Iterator[Report]:
    """Progress on standard error: bars on a terminal, a line now and then elsewhere."""
    target = Console(stderr=True)
    if target.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=target, transient=True) as bars:
            known: dict[str, TaskID] = {}

            def on_terminal(what: str, done: int, of: int) -> None:
                if what not in known:
                    known[what] = bars.add_task(what, total=of)
                bars.update(known[what], completed=done, total=of)

            yield on_terminal
    else:
        last = time.monotonic()

        def elsewhere(what: str, done: int, of: int) -> None:
            nonlocal last
            if time.monotonic() - last >= _QUIET_SECONDS:
                last = time.monotonic()
                target.print(f"{what}: {done} of {of}")

        yield elsewhere


def output_folder(path: Path | None) -> Path | None:
    """The folder for results, made if need be and known to be writable, before anything is computed.

    Raises:
        InputError: it cannot be made or written.
    """
    if path is None:
        return None
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise InputError("out", str(path), f"a folder that can be made and written ({error.strerror})") from error
    return path


def save_figures(folder: Path, figures: Mapping[str, Figure]) -> list[Path]:
    """Write figures as PNG files named by their stems, with progress."""
    from jaxdiff.plots import files

    written = []
    with progress() as report:
        for number, (stem, figure) in enumerate(figures.items()):
            report("draw", number, len(figures))
            written.append(files.save(figure, folder / f"{stem}.png"))
    return written


def devices(asked: int | None) -> list[Any]:
    """Devices that share the work: so many, or all; on a CPU as many virtual ones as there are cores, if JAX has not started yet.

    Raises:
        InputError: fewer than one, or more than there are.
    """
    import jax

    if asked is not None:
        require_integer("devices", asked, 1)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(RuntimeError):  # where JAX runs already, what it has must do
        jax.config.update("jax_num_cpu_devices", asked or cores)
    found = jax.devices()
    require(asked is None or asked <= len(found), "devices", asked, f"at most {len(found)}")
    return found[: asked or len(found)]
