"""The table of every observation entry, generated: `python -m jaxdiff.alchemy.documentation` writes docs/alchemy_observation.md anew."""

from __future__ import annotations

import sys
from pathlib import Path

from jaxdiff.alchemy.inputs import CONTENTS, GROUPS
from jaxdiff.alchemy.world import Alchemy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "alchemy_observation.md"

INTRODUCTION = """\
# What an observation of Alchemy-v0 is

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
- **marginals** are exact posterior probabilities under the benchmark's prior. They are never less certain than the
  belief, and unlike the reference's tracker (which can lose the true chemistry when its first guess of the rotation was wrong)
  they never rule out the truth.
"""


def _rows(names: tuple[str, ...], first: int = 0) -> str:
    return "| entry | what |\n|---|---|\n" + "".join(f"| {first + i} | {name} |\n" for i, name in enumerate(names))


def page() -> str:
    """The whole page as Markdown."""
    plain = Alchemy()
    params = plain.default_params
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
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"wrote {PAGE.name}\n")
