"""`jaxdiff measure WORLD` for any world but SAECA's automata, and `jaxdiff compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.core.errors import require_integer

if TYPE_CHECKING:
    from jaxdiff.report.measurement import Measurement

Named = Literal["networks", "larger_networks", "programs", "constants", "random"]


@dataclass(frozen=True)
class MeasureAny:
    """Measure how hard any environment is for a population of policies.

    A world is a registered one, gymnax:NAME, gymnasium:NAME, or package.module:function, which makes an environment (or an environment and
    its parameters). Prints all numbers with 95 % intervals; with --out also a page for a paper's appendix, and the data. A run with --out
    that was stopped goes on where it was.

    Try:
        jaxdiff measure gymnax:CartPole-v1 --population networks --policies 10000 --episodes 20 --out cartpole
        jaxdiff measure gymnasium:FrozenLake-v1 --population programs --policies 500
        jaxdiff measure my_package.my_module:make_env
    """

    world: tyro.conf.Positional[str]
    """What to measure."""
    population: Named = "networks"
    """Which policies: networks (the six published architectures), larger_networks, programs (decision programs), constants, random."""
    policies: int = 1200
    """How many policies, in all."""
    episodes: int = 20
    """Episodes of every policy, the same instances for all."""
    steps: int = 1000
    """Steps after which an episode that has not ended is cut, and said so."""
    solved: float | None = None
    """Mean return that counts as solved; what the environment says if not given."""
    resamples: int = 500
    """Of the bootstrap."""
    seed: int = 0
    """Seed of everything random."""
    devices: int | None = None
    """Devices that share the work, a chunk of policies each; JAX's default device if not given. On a CPU, as many virtual ones."""
    chunk: int = 2048
    """Policies that are played at once; the results do not depend on it."""
    out: Path | None = None
    """Folder for the page, the data and what a stopped run goes on from; only the table is printed if not given."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the numbers as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        found = measured(self.world, self, self.out, self.solved)
        written = _write(found, self.out)
        screen = console.console(self.json)
        screen.print(found.table(), soft_wrap=True)
        for path in written:
            screen.print(f"wrote {path}", soft_wrap=True)
        if self.json:
            console.print_json({**_plain(found), "files": [str(path) for path in written]})
        return 0


@dataclass(frozen=True)
class Compare:
    """Order environments by difficulty, and say which differences are more than chance.

    All are measured with the same kind of population and equally many policies. The number is log2 of the policies that a blind search
    tries until one is within gamma of the best, counted from the mean; differences are corrected for the number of pairs.

    Try:
        jaxdiff compare gymnax:CartPole-v1 gymnax:Acrobot-v1 gymnax:MountainCar-v0 --policies 600
    """

    worlds: tyro.conf.Positional[tuple[str, ...]]
    """What to compare: worlds as for `jaxdiff measure`."""
    gamma: float = 0.25
    """Tolerance, 0..1."""
    population: Named = "networks"
    """Which policies, see `jaxdiff measure`."""
    policies: int = 1200
    """How many policies in each world."""
    episodes: int = 20
    """Episodes of every policy."""
    steps: int = 1000
    """Steps after which an episode that has not ended is cut."""
    resamples: int = 1000
    """Of the bootstrap."""
    seed: int = 0
    """Seed of everything random."""
    devices: int | None = None
    """Devices that share the work, as in `jaxdiff measure`."""
    chunk: int = 2048
    """Policies that are played at once."""
    out: Path | None = None
    """Folder for a page and data of each world; only the order is printed if not given."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the order and the pairs as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        from jaxdiff.report.comparison import check, compare

        check(self.worlds, self.gamma, self.resamples)
        folders = {name: None if self.out is None else self.out / name.replace(":", "-").replace("/", "-") for name in self.worlds}
        found = {name: measured(name, self, folders[name]) for name in self.worlds}
        result = compare(list(found.values()), self.gamma, self.resamples, self.seed)
        written = [path for name, m in found.items() for path in _write(m, folders[name])]
        screen = console.console(self.json)
        screen.print(result.table(), soft_wrap=True)
        for path in written:
            screen.print(f"wrote {path}", soft_wrap=True)
        if self.json:
            order = [
                {"world": name, "bits": [d.value, d.low, d.high], "discrimination": [s.value, s.low, s.high]}
                for name, d, s in zip(result.order, result.difficulty, result.discrimination, strict=True)
            ]
            pairs = [{**vars(pair), "significant": pair.significant} for pair in result.pairs]
            console.print_json({"order": order, "pairs": pairs, "undetermined": result.undetermined, "gamma": self.gamma})
        return 0


def measured(world: str, settings: MeasureAny | Compare, out: Path | None, solved: float | None = None) -> Measurement:
    """Measure a world by the settings of a command."""
    from jaxdiff.report.measurement import measure

    require_integer("seed", settings.seed, 0, 2**32 - 1)
    shared = None if settings.devices is None else console.devices(settings.devices)
    folder = console.output_folder(out)
    with console.progress() as report:
        return measure(
            world,
            population=settings.population,
            key=settings.seed,
            episodes=settings.episodes,
            policies=settings.policies,
            steps=settings.steps,
            solved=solved,
            resamples=settings.resamples,
            name=world,
            folder=None if folder is None else folder / "runs",
            progress=report,
            devices=shared,
            chunk=settings.chunk,
        )


def _write(found: Measurement, folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    from jaxdiff.report.measurement import KIND
    from jaxdiff.sweep import labelled

    return [labelled.save(found.to_xarray(), folder / "measurement", KIND), found.report(folder / "report.html")]


def _plain(found: Measurement) -> dict[str, Any]:
    rows = {name: {"value": n.value, "low": n.low, "high": n.high, "what": what} for name, what, n in found.rows()}
    return {
        "world": found.name,
        "settings": found.settings,
        "undetermined": found.numbers.undetermined,
        "numbers": rows,
        "truncated": found.truncated,
        "bounded": found.bounded,
    }
