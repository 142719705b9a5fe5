"""`jaxdiff sweep`: rules x strategies x populations into a store that survives being killed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.cli.measure import WORLDS, parse_rules
from jaxdiff.core.errors import InputError, require

if TYPE_CHECKING:
    from rich.table import Table

    from jaxdiff.sweep.automata import Grid
    from jaxdiff.sweep.hosts import Hosts
    from jaxdiff.sweep.plan import Plan
    from jaxdiff.sweep.runner import Done


@dataclass(frozen=True)
class Sweep:
    """Run populations of policies through many worlds, into a store.

    A store is a folder that xarray opens. The same command goes on where an earlier one was stopped, on any number of devices, and
    computes nothing twice. Several hosts share the work: start the command on each, under SLURM or Open MPI as it is, elsewhere with
    --coordinator, --processes and --process.

    Try:
        jaxdiff sweep saeca --rules all --strategies fresh chained --policies 10000 --out bank.zarr
    """

    world: tyro.conf.Positional[str] = "saeca"
    """The world: saeca."""
    out: Path = Path("sweep.zarr")
    """The store, a folder."""
    rules: tuple[str, ...] = ("all",)
    """Rules of the automaton, 0 to 255, or all."""
    strategies: tuple[Literal["fresh", "random_walk", "chained", "levin"], ...] = ("fresh", "chained")
    """How policies are tried: each in a fresh world, each after a random walk, one after the other, or that by ascending length."""
    policies: int = 10_000
    """Programs in a population; random walkers come on top."""
    populations: int = 1
    """Independent populations."""
    steps: int = 300
    """Steps a policy has."""
    seed: int = 0
    """Seed of everything random."""
    walkers: int | None = None
    """Random-walk policies in a population; one in twenty of all if not given, as in the paper."""
    width: int = 21
    """Cells of the ring."""
    start: int | None = None
    """Where the agent starts, counted from 0; the centre if not given."""
    observation: str = "clr"
    """What policies see of centre, left and right, in the order in which it is appended to their memory."""
    longest: int = 20
    """Most instructions of a program."""
    walk_steps: int = 100
    """Steps of the random walk before each policy, for strategy random_walk."""
    chunk: int = 1 << 20
    """Rewards in a chunk of the store: what a killed sweep loses at most, but for sequences, which are whole."""
    items: bool = True
    """Make the item bank too: difficulty and discrimination of every rule, in the store, as a table and as a figure beside it."""
    dry_run: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print what it will take, measured on a small piece, and stop."""
    batch: int | None = None
    """Rewards in one call on all devices; what suits the devices if not given. Results do not depend on it."""
    coordinator: str | None = None
    """Address of process 0, host:port, the same on all processes."""
    processes: int | None = None
    """How many processes share the work."""
    process: int | None = None
    """The number of this process, from 0."""
    join_timeout: int = 300
    """Seconds to wait for the other processes."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print what was done as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        require(self.world in WORLDS, "world", self.world, f"one of {', '.join(WORLDS)}")
        grid = self._grid()
        from jaxdiff.sweep import hosts

        found = hosts.find(self.coordinator, self.processes, self.process, self.join_timeout)
        return self._plan(grid) if self.dry_run else self._run(grid, found)

    def _grid(self) -> Grid:
        from jaxdiff.sweep.automata import Grid

        names = ("policies", "populations", "steps", "seed", "walkers", "width", "start", "observation", "longest", "walk_steps", "chunk")
        return Grid(parse_rules(self.rules), self.strategies, **{name: getattr(self, name) for name in names})

    def _plan(self, grid: Grid) -> int:
        import jax

        from jaxdiff.sweep import plan as plans

        plan = plans.plan(grid, self.out, self.batch, jax.local_devices())
        screen = console.console(self.json)
        screen.print(_plan_table(plan))
        screen.print(
            f"store {self.out}: {console.size(plan.store_bytes)} when it is whole; results held in memory: {console.size(plan.host_bytes)}"
        )
        seconds = sum(line.seconds + line.compile_seconds for line in plan.lines)
        screen.print(f"{plan.devices} device(s) of this process; expected: {console.duration(seconds)}")
        if self.json:
            console.print_json(asdict(plan))
        return 0

    def _run(self, grid: Grid, hosts: Hosts) -> int:
        from jaxdiff.sweep import runner
        from jaxdiff.sweep.automata import Sweep as Job

        with console.progress() as report:
            done = runner.run(Job(grid), self.out, batch=self.batch, hosts=hosts, progress=report)
        written, lines = self._items(bool(done.computed)) if self.items and hosts.index == 0 else ([], [])
        screen = console.console(self.json)
        screen.print(_said(done, self.out), soft_wrap=True)
        for line in [*lines, *(f"wrote {path}" for path in written)]:
            screen.print(line, soft_wrap=True)
        if self.json:
            more = {"files": [str(path) for path in written], "items": lines}
            console.print_json({"store": str(self.out), "host": asdict(hosts), "done": asdict(done), **more})
        return 0

    def _items(self, changed: bool) -> tuple[list[Path], list[str]]:
        """Make the item bank, or read it where it is made already; returns the files beside the store, and what it says."""
        from jaxdiff.plots import catalogue
        from jaxdiff.studies import bank_table, item_bank
        from jaxdiff.sweep import store

        stem = self.out.name.removesuffix(".zarr")
        bank, damage = None, []
        if not changed and (self.out / item_bank.GROUP).exists():
            try:
                bank = item_bank.load(self.out)
            except InputError as error:
                damage = [f"{error}; made again"]
        if bank is None:
            with console.progress() as report:
                bank = item_bank.items(store.load_whole(self.out), progress=report)
            item_bank.save(bank, self.out)
        written = [bank_table.write(bank, self.out.with_name(f"{stem}-items.csv"))]
        if bank.is_representative.any():
            figures = {f"{stem}-catalogue-{name}": catalogue.catalogue(bank, name) for name in bank.strategy.values}
            written += console.save_figures(self.out.parent, figures)
        return written, [*damage, *item_bank.summary_lines(bank)]


def _said(done: Done, out: Path) -> str:
    lines = []
    found = done.tasks - len(done.computed)
    if done.damaged:
        lines.append(f"damaged and computed again: {'; '.join(done.damaged)}")
    if done.halvings:
        lines.append(f"the devices' memory was too small: batch halved {done.halvings} time(s)")
    speed = f", {done.size / done.seconds:.2e} policy-steps a second" if done.size and done.seconds > 0 else ""
    lines.append(f"{len(done.computed)} tasks computed, {found} found done, in {console.duration(done.seconds)}{speed}")
    lines.append(f"wrote {out}" if done.computed else f"{out} is whole")
    return "\n".join(lines)


def _plan_table(plan: Plan) -> Table:
    columns = ["strategy", "tasks", "done", "policy-steps left", "batch", "memory a device", "compile", "run"]
    rows = [
        [
            line.strategy,
            str(line.tasks),
            str(line.done),
            f"{line.policy_steps:.2e}",
            f"{line.batch:,}",
            console.size(line.device_bytes),
            console.duration(line.compile_seconds),
            console.duration(line.seconds),
        ]
        for line in plan.lines
    ]
    caption = "Times are extrapolated from a small piece of the sweep that was run just now; memory is an upper bound."
    return console.table("Plan", columns, rows, caption)
