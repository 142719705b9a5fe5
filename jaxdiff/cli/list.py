"""`jaxdiff list`: which worlds there are and what can be set on them, or which items a bank holds."""

from __future__ import annotations

import dataclasses
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from jaxdiff.cli import console


@dataclass(frozen=True)
class List:
    """List the worlds that `jaxdiff.make` knows, with their options and spaces, or the items of a bank.

    Examples:
        jaxdiff list
        jaxdiff list items --by difficulty --count 10 --strategy fresh
        jaxdiff list items --by discrimination --bank bank.zarr
    """

    what: tyro.conf.Positional[Literal["worlds", "items"]] = "worlds"
    """What to list."""
    by: Literal["difficulty", "discrimination", "rule"] = "difficulty"
    """Order of items: hardest first, steepest response curve first, or by number."""
    bank: Path | None = None
    """Store of a sweep whose item bank to list (or a table of one, *.csv); the table that comes with jaxdiff if not given."""
    count: int | None = 20
    """How many items to list, or None for all."""
    strategy: str | None = None
    """Only items of this strategy, such as fresh or chained."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the list as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        if self.what == "items":
            from jaxdiff.cli import items

            return items.show(self.bank, self.by, self.count, self.strategy, self.json)
        import jaxdiff

        worlds = []
        for name in jaxdiff.registered():
            env, params = jaxdiff.make(name)
            options = {f.name: getattr(env, f.name) for f in dataclasses.fields(env)}
            about = (type(env).__doc__ or "").strip().splitlines()[0]
            worlds.append(
                {
                    "name": name,
                    "about": about,
                    "options": options,
                    "observation": str(env.observation_space(params)),
                    "entries": list(env.observation_entries(params)),
                    "action": str(env.action_space(params)),
                }
            )
        screen = console.console(self.json)
        rows = [[w["name"], textwrap.fill(w["about"], 50), _options(w["options"])] for w in worlds]
        screen.print(
            console.table(
                "Worlds", ["name", "what", "options and defaults"], rows, caption='env, params = jaxdiff.make("SAECA-v0", width=21)'
            )
        )
        for world in worlds:
            entries = [[str(i), what] for i, what in enumerate(world["entries"])]
            screen.print(console.table(f"Observation of {world['name']}", ["entry", "what it is"], entries))
        if self.json:
            console.print_json({"worlds": worlds})
        return 0


def _options(options: dict[str, Any]) -> str:
    """Options with their defaults, a few a line: a table that is too wide would lose its names."""
    return textwrap.fill(", ".join(f"{name}={value!r}" for name, value in options.items()), 80)
