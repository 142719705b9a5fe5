"""Sweeps of agent-populated automata: rules x strategies x populations, every policy's exact sum of rewards.

The numerators of a population in a rule are the same whatever else is in the grid, but for random walks, which depend on the rules
that are simulated beside it. Axes of the arrays: strategy, seed (one population each), rule, policy, walker, instruction.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import jax
import numpy as np

import jaxdiff
from jaxdiff.automata import ring, strategies, world
from jaxdiff.automata.compiled import check_observation, longest_program
from jaxdiff.core.devices import Devices
from jaxdiff.core.errors import require, require_integer
from jaxdiff.populations import programs as population
from jaxdiff.sweep.job import Report, Task
from jaxdiff.sweep.store import Layout, Region, Variable

StrategyName = Literal["fresh", "random_walk", "chained", "levin"]
STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)
# Strategies that try policies one after the other, in one world.
SEQUENTIAL = ("chained", "levin")
# Rewards in a task of the others: a second of a CPU's work, four megabytes of a store.
CHUNK = 1 << 20
# Sequences (rules x populations) in a task of the sequential ones, which run side by side.
SEQUENCES = 1 << 12
# More takes a data centre, or is better counted than sampled (`measure --census`).
MOST_REWARDS = 1 << 38
WALKERS_SHARE = 0.05


@dataclass(frozen=True)
class Grid:
    """What is swept. The defaults are the paper's.

    Attributes:
        rules: rule numbers.
        strategies: how policies are tried, see `automata.strategies`.
        policies: programs in a population.
        populations: independent populations.
        steps: T per policy.
        seed: of everything random; population number i has a fold of it, so more populations leave the first ones as they are.
        walkers: random-walk policies in a population; one for every twenty policies in all, as in the paper, when None.
        width: cells of the ring, configuration 0101...
        start: position of the agent, 0-based; the centre when None.
        observation: what policies see, see `automata.world.SAECA`.
        longest: most instructions of a program.
        walk_steps: steps of the random walk before a policy (strategy random_walk).
        chunk: rewards in a chunk of the store, which is what is lost when a sweep is killed (a sequence is always whole).
    """

    rules: tuple[int, ...] = world.PAPER_RULES
    strategies: tuple[StrategyName, ...] = ("fresh", "chained")
    policies: int = 2000
    populations: int = 1
    steps: int = world.PAPER_STEPS
    seed: int = 0
    walkers: int | None = None
    width: int = world.PAPER_WIDTH
    start: int | None = None
    observation: str = "clr"
    longest: int = population.LONGEST
    walk_steps: int = 100
    chunk: int = CHUNK

    def __post_init__(self) -> None:
        require(isinstance(self.rules, tuple) and len(self.rules) > 0, "rules", self.rules, "a tuple of at least one rule, (110,)")
        require(len(set(self.rules)) == len(self.rules), "rules", self.rules, "every rule once")
        known = isinstance(self.strategies, tuple) and len(self.strategies) > 0 and set(self.strategies) <= set(STRATEGIES)
        require(known, "strategies", self.strategies, f"a tuple of some of {', '.join(STRATEGIES)}")
        require(len(set(self.strategies)) == len(self.strategies), "strategies", self.strategies, "every strategy once")
        require_integer("policies", self.policies, 1)
        require_integer("populations", self.populations, 1)
        require_integer("steps", self.steps, 1)
        require_integer("seed", self.seed, 0, 2**32 - 1)
        require_integer("walk_steps", self.walk_steps, 0)
        require_integer("chunk", self.chunk, 1)
        if self.walkers is not None:
            require_integer("walkers", self.walkers, 0)
        rewards = len(self.rules) * len(self.strategies) * self.policies * self.populations
        require(rewards <= MOST_REWARDS, "policies", self.policies, f"at most {MOST_REWARDS:,} rewards in all (here {rewards:,})")
        check_observation(self.observation)
        require_integer("longest", self.longest, 1, longest_program(self.observation))
        # The world checks width, start, steps and observation; the parameters check the rules.
        env = world.SAECA(width=self.width, steps=self.steps, observation=self.observation, start=self.start)
        world.paper_world(np.asarray(self.rules), env.width, env.start)
        require(
            ring.limbs_for(self.width, self.steps) > 0, "width", self.width, f"a width whose sum of {self.steps} rewards fits in 63 bits"
        )

    @property
    def walker_count(self) -> int:
        """Random-walk policies in a population."""
        return round(self.policies * WALKERS_SHARE / (1 - WALKERS_SHARE)) if self.walkers is None else self.walkers


@dataclass(frozen=True)
class Sweep:
    """A grid as a job, see `sweep.job`."""

    grid: Grid

    def layout(self) -> Layout:
        """Arrays numerator, walker_numerator and program."""
        g = self.grid
        sizes = {
            "strategy": len(g.strategies),
            "seed": g.populations,
            "rule": len(g.rules),
            "policy": g.policies,
            "walker": g.walker_count,
            "instruction": g.longest,
        }
        scale = 1 << (g.width // 2 + 1)
        total = "int32" if scale * g.steps < 2**31 else "int64"  # the largest reward is less than 1

        def variable(dims: str, chunks: dict[str, int], dtype: str, missing: int, name: str) -> Variable:
            axes = tuple(dims.split())
            return Variable(axes, tuple(sizes[a] for a in axes), tuple(chunks.get(a, max(sizes[a], 1)) for a in axes), dtype, missing, name)

        one = {"strategy": 1, "seed": 1}
        variables = {
            "program": variable("seed policy instruction", one, "int8", -2, "opcodes 0..5 = back fwd Vaddm Vadd1 Uaddm Uadd1, -1 pads"),
            "numerator": variable(
                "strategy seed rule policy",
                {**one, "rule": self._rules, "policy": self._policies},
                total,
                -1,
                "sum of rewards over the steps times scale, exact",
            ),
        }
        variables["walker_numerator"] = variable(
            "strategy seed rule walker", {**one, "rule": self._rules}, total, -1, "the same for random-walk policies"
        )
        coordinates = {"strategy": list(g.strategies), "seed": np.arange(g.populations), "rule": np.asarray(g.rules)}
        identity = {**asdict(g), "walkers": g.walker_count, "world": "saeca", "jaxdiff": jaxdiff.__version__}
        attributes = {
            "scale": scale,
            "steps": g.steps,
            "width": g.width,
            "start": -1 if g.start is None else g.start,
            "observation": g.observation,
            "jaxdiff_version": jaxdiff.__version__,
        }
        return Layout(variables, coordinates, attributes, identity)

    def tasks(self) -> list[Task]:
        """Programs first, then strategy by strategy."""
        g = self.grid
        made = [
            Task(f"programs, population {s}", {"program": (slice(s, s + 1), slice(None), slice(None))}, 0) for s in range(g.populations)
        ]
        for number, strategy in enumerate(g.strategies):
            made += self._sequences(number, strategy) if strategy in SEQUENTIAL else self._blocks(number, strategy)
        return made

    def evaluate(self, task: Task, batch: int | None, devices: Devices, report: Report | None = None) -> dict[str, np.ndarray]:
        """See `sweep.job.Job.evaluate`."""
        g = self.grid
        if "program" in task.regions:
            return {"program": self._programs(task.regions["program"][0].start)[None]}
        number, seeds, rules, policies = task.regions["numerator"]
        strategy = g.strategies[number.start]
        params = world.paper_world(np.asarray(g.rules[rules]), g.width, g.start)
        key = jax.random.fold_in(jax.random.fold_in(self._key(seeds.start, 1), STRATEGIES.index(strategy)), rules.start)
        common: dict[str, Any] = {"observation": g.observation, "progress": report, "batch": batch, "devices": devices}
        walkers = g.walker_count if "walker_numerator" in task.regions else 0
        if strategy in SEQUENTIAL:
            programs = np.stack([self._programs(s) for s in range(seeds.start, seeds.stop)])
            method = strategies.chained if strategy == "chained" else strategies.levin
            e = method(programs, params, g.steps, walkers=walkers, key=key, **common)
            values = {"numerator": np.moveaxis(e.numerator, 1, 0)[None], "walker_numerator": np.moveaxis(e.walker_numerator, 1, 0)[None]}
        else:
            programs = self._programs(seeds.start)[policies]
            used = len(programs)
            # The last block is filled up, so that it compiles to the same kernel.
            programs = np.pad(programs, ((0, self._policies - used), (0, 0)), constant_values=-1)
            if strategy == "fresh":
                e = strategies.fresh(programs, params, g.steps, walkers=walkers, key=key, **common)
            else:
                key = jax.random.fold_in(key, policies.start)
                e = strategies.random_walk(key, programs, params, g.steps, g.walk_steps, walkers=walkers, **common)
            values = {"numerator": e.numerator[None, None, :, :used], "walker_numerator": e.walker_numerator[None, None]}
        return {name: values[name] for name in task.regions}

    def largest_batch(self, task: Task, devices: Devices) -> int:
        """See `sweep.job.Job.largest_batch`."""
        strategy = self.grid.strategies[task.regions["numerator"][0].start] if "numerator" in task.regions else "fresh"
        return strategies.default_batch(strategy, self.grid.width, self.grid.walk_steps if strategy == "random_walk" else 0, devices)

    @cached_property
    def _rules(self) -> int:
        """Rules in a chunk: all of them, if that is not too much."""
        return min(len(self.grid.rules), self.grid.chunk)

    @cached_property
    def _policies(self) -> int:
        """Policies in a chunk, such that all chunks are about equally large."""
        chunks = -(-self.grid.policies // max(1, self.grid.chunk // self._rules))
        return -(-self.grid.policies // chunks)

    def _blocks(self, number: int, strategy: str) -> list[Task]:
        """Tasks of one chunk each; the first of every population and block of rules has the random walkers too."""
        g = self.grid
        made = []
        for seed in range(g.populations):
            for rule in range(0, len(g.rules), self._rules):
                for policy in range(0, g.policies, self._policies):
                    some, these = _slice(rule, self._rules, len(g.rules)), _slice(policy, self._policies, g.policies)
                    made.append(self._task(strategy, number, slice(seed, seed + 1), some, these, g.walker_count > 0 and policy == 0))
        return made

    def _sequences(self, number: int, strategy: str) -> list[Task]:
        """Tasks of whole sequences, as many side by side as keep a device busy."""
        g = self.grid
        made = []
        together = max(1, SEQUENCES // self._rules)
        for seed in range(0, g.populations, together):
            for rule in range(0, len(g.rules), self._rules):
                seeds, some = _slice(seed, together, g.populations), _slice(rule, self._rules, len(g.rules))
                made.append(self._task(strategy, number, seeds, some, slice(0, g.policies), g.walker_count > 0))
        return made

    def _task(self, strategy: str, number: int, seeds: slice, rules: slice, policies: slice, walk: bool) -> Task:
        g = self.grid
        where: Region = (slice(number, number + 1), seeds, rules)
        regions: dict[str, Region] = {"numerator": (*where, policies)}
        if walk:
            regions["walker_numerator"] = (*where, slice(0, g.walker_count))
        worlds = (seeds.stop - seeds.start) * (rules.stop - rules.start)
        name = f"{strategy}, {_span('population', seeds)}, {_span('rule', rules)}, {_span('policy', policies)}"
        return Task(name, regions, worlds * (policies.stop - policies.start + (g.walker_count if walk else 0)) * g.steps)

    def _key(self, seed: int, what: int) -> jax.Array:
        """Key of a population's programs (0) or of its random walks (1)."""
        return jax.random.fold_in(jax.random.fold_in(jax.random.key(self.grid.seed), seed), what)

    def _programs(self, seed: int) -> np.ndarray:
        """Programs of a population, int8 [P, L]."""
        return population.sample(self._key(seed, 0), self.grid.policies, self.grid.longest)


def _slice(first: int, size: int, end: int) -> slice:
    return slice(first, min(first + size, end))


def _span(what: str, some: slice) -> str:
    return f"{what} {some.start}" if some.stop - some.start == 1 else f"{what} {some.start}..{some.stop - 1}"
