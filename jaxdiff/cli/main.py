"""`jaxdiff`: dispatch to the sub-commands, and one sentence and exit code 2 for bad input."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any

import tyro

from jaxdiff.cli.doctor import Doctor
from jaxdiff.cli.evaluate import Evaluate
from jaxdiff.cli.export import Export
from jaxdiff.cli.list import List
from jaxdiff.cli.measure import WORLDS, Measure
from jaxdiff.cli.measure_any import Compare, MeasureAny
from jaxdiff.cli.measure_novelty import MeasureNovelty
from jaxdiff.cli.play import Play
from jaxdiff.cli.reproduce import Reproduce
from jaxdiff.cli.sweep import Sweep
from jaxdiff.cli.train import Train
from jaxdiff.core.errors import InputError

ABOUT = "How hard is an environment, for whom, and why? Start with: jaxdiff measure saeca --rules 184 110 122 164 --out results"
Command = (
    Annotated[Measure, tyro.conf.subcommand("measure")]
    | Annotated[MeasureNovelty, tyro.conf.subcommand("measure-novelty")]
    | Annotated[MeasureAny, tyro.conf.subcommand("measure-any")]
    | Annotated[Compare, tyro.conf.subcommand("compare")]
    | Annotated[Sweep, tyro.conf.subcommand("sweep")]
    | Annotated[Reproduce, tyro.conf.subcommand("reproduce")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Evaluate, tyro.conf.subcommand("evaluate")]
    | Annotated[Play, tyro.conf.subcommand("play")]
    | Annotated[Export, tyro.conf.subcommand("export")]
    | Annotated[List, tyro.conf.subcommand("list")]
    | Annotated[Doctor, tyro.conf.subcommand("doctor")]
)


def _is_another_world(word: str) -> bool:
    """Whether a word behind "measure" names a world other than those that `Measure` knows."""
    return word not in WORLDS and not word.startswith("-")


def _parsed(words: list[str]) -> Any:
    """The command that a command line asks for: what is measured may have settings of its own, and its own usage line."""
    asked: Any = Command
    prog = "jaxdiff"
    if words[:2] == ["measure", "novelty"]:
        asked, prog, words = MeasureNovelty, "jaxdiff measure novelty", words[2:]
    elif words[:1] == ["measure"] and len(words) > 1 and _is_another_world(words[1]):
        asked, prog, words = MeasureAny, "jaxdiff measure", words[1:]
    about = ABOUT if asked is Command else None
    return tyro.cli(asked, prog=prog, description=about, args=words, config=(tyro.conf.OmitArgPrefixes,))


def main(arguments: list[str] | None = None) -> int:
    """Entry point.

    Args:
        arguments: command line without the program's name; `sys.argv` when None.

    Returns:
        0, or 1 where a self-check failed, or 2 for bad input.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what the terminal's encoding lacks is no reason to die
    try:
        return _parsed(list(sys.argv[1:] if arguments is None else arguments)).run()
    except InputError as error:
        print(f"jaxdiff: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Somebody reads only the first lines, as `head` does: what Python still wants to write at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"jaxdiff: cannot use {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("jaxdiff: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
