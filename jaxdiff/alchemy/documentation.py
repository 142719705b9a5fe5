"""Tables of observations and actions, generated: `python -m jaxdiff.alchemy.documentation` writes docs/alchemy_observation.md anew."""

from __future__ import annotations

import sys
from pathlib import Path

from jaxdiff.alchemy import layout
from jaxdiff.alchemy.chemistry import COLOURS
from jaxdiff.alchemy.inputs import CONTENTS, GROUPS
from jaxdiff.alchemy.world import Alchemy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "alchemy_observation.md"

INTRODUCTION = """\
# What observations and actions of Alchemy-v0 are

Generated from the code by `python -m jaxdiff.alchemy.documentation`; a test fails when it is out of date.

Observations are float32. The first 39 entries are DeepMind's `symbolic_obs`, bit for bit; what is marked *departure*
is not part of the benchmark. After the last step of a trial the observation already shows the next trial's items;
after the last step of an episode, what is left of the last one.
"""

DIFFERENCES = """\
## Where the contents of the chemistry entries differ

- **ground truth**: edges, directions and stone map in the latent frame, in which coordinates carry value.
- **belief** is the benchmark's own vector, reproduced with its peculiarities: its edges are in the *aligned* frame; an axis order shows 1
  only when all three directions are known too; a potion without effect rules out an edge only if potion and axis were understood
  at that moment, and is never looked at again; all entries are 0.5 while more than one rotation is possible.
- **marginals** are exact posterior probabilities under the benchmark's prior (also where `bottlenecks`, `random_maps` or
  `Params` draw chemistries in another way: what these rule out is not taken into account). They are never less certain than the
  belief, and unlike the reference's tracker (which can lose the true chemistry when its first guess of the rotation was wrong)
  they never rule out the truth.
"""


def _rows(names: tuple[str, ...], first: int = 0) -> str:
    return "| entry | what |\n|---|---|\n" + "".join(f"| {first + i} | {name} |\n" for i, name in enumerate(names))


def _formula(targets: int, what: str) -> str:
    return f"Cauldron: `1 + {1 + targets} * stone`; {what}: `1 + {1 + targets} * stone + 1 + {what}`"


def _actions(targets: int, what: str) -> str:
    """The action table: 0, then for every stone slot the cauldron and what else a stone can be put into."""
    rows = ["| action | what |\n|---|---|\n| 0 | no-op |\n"]
    for stone in range(layout.STONES):
        first = 1 + stone * (1 + targets)
        rows.append(f"| {first} | stone {stone} into the cauldron |\n")
        rows.append(f"| {first + 1} to {first + targets} | stone {stone} into {what} |\n")
    return "".join(rows)


def page() -> str:
    """The whole page as Markdown."""
    plain = Alchemy()
    params = plain.default_params
    typed = Alchemy(typed_actions=True)
    table = plain.observation_entries(params)
    counts = Alchemy(counts=True).observation_entries(params)
    clock = Alchemy(clock=True).observation_entries(params)[len(table) :]
    chemistry = Alchemy(see="ground_truth").observation_entries(params)[len(table) :]
    names = tuple(name.rsplit(":", 1)[0] for name in chemistry)
    contents = "".join(f"- `{name}`: {text}\n" for name, text in CONTENTS.items())
    groups = ", ".join(f"{name} ({size})" for name, size in GROUPS.items())
    return "\n".join(
        [
            INTRODUCTION,
            f"## The table, {len(table)} entries\n",
            _rows(table),
            "Without `observe_used` the used flags are left out (27 entries).\n",
            "## `counts=True` (departure): colour counts instead of entries 15 to 38\n",
            _rows(counts[15:], 15),
            "## `clock=True` (departure): behind the table\n",
            _rows(clock, len(table)),
            f"## `see`: {len(names)} entries of the chemistry, behind everything else\n",
            _rows(names),
            f"What they show, for all or for each of the groups {groups}:\n",
            contents,
            DIFFERENCES,
            f"## Actions: {plain.actions}\n",
            f"{_formula(layout.POTIONS, 'potion')}; slots are those of the observation.\nA stone or potion that is not there: no-op.\n",
            _actions(layout.POTIONS, f"potion 0 to {layout.POTIONS - 1}"),
            f"## `typed_actions=True` (departure): {typed.actions} actions\n",
            f"{_formula(len(COLOURS), 'colour')}: the first potion of that colour.\n",
            _actions(len(COLOURS), ", ".join(COLOURS)),
            "With `end_trial=True` action 0 ends the trial and all others move up by one.\n",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"wrote {PAGE.name}\n")
