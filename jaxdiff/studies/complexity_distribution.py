"""The complexity distribution of policies on agent-populated automata, from programs to response curves (paper, section 5).

`measure` runs populations of APL programs and random walkers through R rules and returns everything about them as one dataset:
programs, complexities, exact rewards, indicators, response functions. Figures, tables and files are made from it elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import jax
import numpy as np

from jaxdiff.automata import apl, rollouts, strategies, world
from jaxdiff.automata.compiled import check_observation, longest_program
from jaxdiff.core.errors import require, require_integer
from jaxdiff.difficulty import complexity, indicators, response
from jaxdiff.populations import programs as population
from jaxdiff.studies import search
from jaxdiff.studies.search import FORMS, ProgramForm

if TYPE_CHECKING:
    import xarray as xr

KIND = "complexity-distribution"
Strategy = Literal["fresh", "random_walk", "chained", "levin"]
STRATEGIES: tuple[Strategy, ...] = ("fresh", "random_walk", "chained", "levin")
WALKERS_SHARE = 0.05
# More policies than that are better counted than sampled (see `whole_space`), and would not fit in memory with everything about them.
MOST_POLICIES, MOST_STEPS, MOST_WALK_STEPS = 2_000_000, 100_000, 10_000
MOST_REWARDS = 20_000_000  # rules times policies
# Actions are kept while they take no more bytes than this; beyond, their complexity (Figure 13) is left out.
MOST_ACTIONS = 1 << 28
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Settings:
    """What is measured. The defaults are the paper's.

    Attributes:
        rules: rule numbers.
        strategy: how policies are tried, see `automata.strategies`.
        policies: policies in a population, one in twenty of them a random walker.
        populations: independent populations, each measured by itself.
        steps: T per policy.
        seed: of everything random.
        width: cells of the ring, configuration 0101...
        start: position of the agent, 0-based; the centre when None.
        observation: what policies see, see `automata.world.SAECA`.
        longest: most instructions of a program.
        walk_steps: steps of the random walk before a policy (strategy random_walk).
        form: which form of a program is compressed to estimate K.
        statistic: which statistic of the first hit the response curve shows, see `difficulty.response`.
        keep_repeated: keep repeated policies in the response functions (the paper removes them).
    """

    rules: tuple[int, ...] = world.PAPER_RULES
    strategy: Strategy = "chained"
    policies: int = 2000
    populations: int = 1
    steps: int = world.PAPER_STEPS
    seed: int = 0
    width: int = world.PAPER_WIDTH
    start: int | None = None
    observation: str = "clr"
    longest: int = population.LONGEST
    walk_steps: int = 100
    form: ProgramForm = "simplified"
    statistic: response.Statistic = "median"
    keep_repeated: bool = False

    def __post_init__(self) -> None:
        require(isinstance(self.rules, tuple | list) and len(self.rules) > 0, "rules", self.rules, "at least one rule, (110,)")
        require(len(set(self.rules)) == len(self.rules), "rules", self.rules, "every rule once")
        require(self.strategy in STRATEGIES, "strategy", self.strategy, f"one of {', '.join(STRATEGIES)}")
        require(self.form in FORMS, "form", self.form, f"one of {', '.join(FORMS)}")
        require(self.statistic in response.STATISTICS, "statistic", self.statistic, f"one of {', '.join(response.STATISTICS)}")
        require_integer("policies", self.policies, 2)
        require_integer("populations", self.populations, 1)
        total = self.policies * self.populations
        require(
            total <= MOST_POLICIES, "policies", self.policies, f"at most {MOST_POLICIES:,} in all populations together (here {total:,})"
        )
        rewards = total * len(self.rules)
        require(rewards <= MOST_REWARDS, "policies", self.policies, f"at most {MOST_REWARDS:,} on all rules together (here {rewards:,})")
        require_integer("steps", self.steps, 1, MOST_STEPS)
        require_integer("walk_steps", self.walk_steps, 0, MOST_WALK_STEPS)
        require_integer("seed", self.seed, 0, 2**32 - 1)
        check_observation(self.observation)
        most = longest_program(self.observation)
        require_integer("longest", self.longest, 1, most)
        # The world checks width, start, steps and observation; the parameters check the rules.
        env = world.SAECA(width=self.width, steps=self.steps, observation=self.observation, start=self.start)
        world.paper_world(np.asarray(self.rules), env.width, env.start)

    @property
    def walkers(self) -> int:
        """Random walkers in a population."""
        return round(WALKERS_SHARE * self.policies)


def measure(settings: Settings, progress: Progress | None = None) -> xr.Dataset:
    """Run the experiment.

    Args:
        settings: what to measure.
        progress: called with (what, done, in all) now and then.

    Returns:
        dataset with the dimensions rule, population, policy, walker, instruction, k, side, statistic, gamma, point; every variable
        says in its attribute `long_name` what it is.
    """
    key_programs, key_run = jax.random.split(jax.random.key(settings.seed))
    count = settings.policies - settings.walkers
    programs = population.sample(key_programs, count, settings.longest, settings.populations)
    _report(progress, "simplify", 0, 1)
    forms = {name: search.rewrite(programs, name, len(settings.observation)) for name in FORMS}
    _report(progress, "simplify", 1, 1)
    evaluation = _evaluate(settings, programs, key_run, progress)
    k = {name: search.complexity_of(form) for name, form in forms.items()}
    return assemble(settings, forms, k, evaluation, progress)


def assemble(
    settings: Settings,
    forms: Mapping[str, np.ndarray],
    k: Mapping[str, np.ndarray],
    evaluation: strategies.Evaluation,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Dataset of an evaluated population.

    Args:
        settings: what was measured.
        forms: the programs, int8 [S, P, L], as they are, simplified and shortest.
        k: their complexities, int [S, P].
        evaluation: rewards [R, S, P] and [R, S, W].
        progress: as for `measure`.
    """
    import xarray as xr

    reward, walker_reward, chosen = evaluation.reward, evaluation.walker_reward, k[settings.form]
    repeated = np.stack([search.repeated(form) for form in forms["simplified" if settings.form == "raw" else settings.form]])
    identity = np.stack([np.unique(form, axis=0, return_inverse=True)[1].reshape(-1) for form in forms["shortest"]])
    rules, populations = reward.shape[:2]
    gammas = response.gammas_101()
    longest_k = int(chosen.max())
    columns: dict[str, np.ndarray] = {}
    first_hit = np.empty((rules, populations, len(response.SIDES), len(response.STATISTICS), len(gammas)))
    for number in range(rules * populations):
        _report(progress, "response functions", number, rules * populations)
        i, j = divmod(number, populations)
        summary = indicators.summarise(chosen[j], reward[i, j], identity=identity[j], random_walk=walker_reward[i, j])
        keep = ~repeated[j] | settings.keep_repeated
        found = search.responses(chosen[j][keep], reward[i, j][keep], gammas, response.STATISTICS, settings.statistic)
        first_hit[i, j] = found.first_hit
        row: dict[str, Any] = {**vars(summary), **{f"curve_{name}": value for name, value in vars(found.curve).items()}}
        row |= {f"irt_{name}": getattr(found.fit, name) for name in ("a", "b", "slope_at_b", "rmse")}
        for name, value in row.items():
            value = (
                _to_length(np.asarray(value, np.float64), longest_k + 1)
                if name == "k" or name.endswith(("_k", "_upto", "_distance"))
                else np.asarray(value, np.float64)
            )
            columns.setdefault(name, np.full((rules, populations, *value.shape), np.nan))[i, j] = value
    _report(progress, "response functions", rules * populations, rules * populations)
    columns.pop("k")
    scalar, by_k, by_point = ("rule", "population"), ("rule", "population", "k"), ("rule", "population", "point")
    variables: dict[str, Any] = {
        name: (scalar if value.ndim == 2 else by_point if name.startswith("curve_") else by_k, value) for name, value in columns.items()
    }
    variables |= {
        f"program_{name}" if name != "raw" else "program": (("population", "policy", "instruction"), form) for name, form in forms.items()
    }
    variables |= {f"complexity_{name}": (("population", "policy"), value) for name, value in k.items()}
    variables |= {
        "complexity": (("population", "policy"), chosen),
        "length": (("population", "policy"), apl.length(forms["raw"])),
        "repeated": (("population", "policy"), repeated),
        "identity": (("population", "policy"), identity),
        "numerator": (("rule", "population", "policy"), evaluation.numerator),
        "reward": (("rule", "population", "policy"), reward),
        "walker_reward": (("rule", "population", "walker"), walker_reward),
        "first_hit": (("rule", "population", "side", "statistic", "gamma"), first_hit),
        "difficulty": (("rule", "population", "side", "statistic", "gamma"), response.log_size(first_hit)),
    }
    if evaluation.actions is not None and evaluation.walker_actions is not None:
        _report(progress, "actions", 0, 1)
        variables["action_complexity"] = (("rule", "policy"), _action_complexity(evaluation.actions))
        variables["walker_action_complexity"] = (("rule", "walker"), _action_complexity(evaluation.walker_actions))
        _report(progress, "actions", 1, 1)
    coordinates = {
        "rule": list(settings.rules),
        "side": list(response.SIDES),
        "statistic": list(response.STATISTICS),
        "gamma": gammas,
        "k": np.arange(longest_k + 1),
    }
    dataset = xr.Dataset(variables, coordinates, {**_attributes(settings), "scale": evaluation.scale})
    for name, text in LONG_NAMES.items():
        if name in dataset:
            dataset[name].attrs["long_name"] = text
    return dataset


def settings_of(dataset: xr.Dataset) -> Settings:
    """The settings a dataset was measured with."""
    a = dataset.attrs
    start = None if a["start"] < 0 else int(a["start"])
    numbers = {name: int(a[name]) for name in ("policies", "populations", "steps", "seed", "width", "longest", "walk_steps")}
    return Settings(
        rules=tuple(int(r) for r in dataset.rule.values),
        strategy=a["strategy"],
        observation=a["observation"],
        form=a["form"],
        statistic=a["statistic"],
        keep_repeated=bool(a["keep_repeated"]),
        start=start,
        **numbers,
    )


LONG_NAMES = {
    "program": "opcodes 0..5 = back fwd Vaddm Vadd1 Uaddm Uadd1, -1 pads",
    "program_simplified": "program after the paper's kind of simplification",
    "program_shortest": "shortest program with the same behaviour for ever",
    "complexity": "estimate of Kolmogorov complexity used here [instructions]",
    "complexity_raw": "zlib-6 length of the program as generated [instructions]",
    "complexity_simplified": "zlib-6 length of the simplified program [instructions]",
    "complexity_shortest": "zlib-6 length of the shortest program [instructions]",
    "length": "instructions of the program as generated",
    "repeated": "an earlier policy has the same simplified (or shortest) program",
    "identity": "number of the exact behaviour",
    "numerator": "sum of rewards over the steps times scale, exact",
    "reward": "mean reward per step",
    "walker_reward": "mean reward per step of a random-walk policy",
    "first_hit": "policies drawn until the target is reached",
    "difficulty": "D = log2 of first_hit [bits]",
    "action_complexity": "zlib-6 length of the actions of population 0 [bytes]",
    "walker_action_complexity": "the same for its random walkers",
    "hbar": "best-policy hardness: least complexity with the highest reward",
    "hbar_robust": "least k where 1 % of R[<=k] reaches 95 % of R_max",
    "correlation": "Spearman correlation of complexity and reward",
    "correlation_max": "Spearman correlation of i and R_max[<=i]",
    "irt_a": "discrimination of the logistic model fitted to the normalised curve from 0 (mean) to 1 (best) [1/bit]",
    "irt_b": "its location: ability for half of the best [bits]",
    "irt_slope_at_b": "its largest slope, a / 4 [1/bit]",
    "irt_rmse": "root mean square of its residuals",
    "curve_theta": "ability [bits]",
    "curve_mean": "R_mean of the policies that the curve is of",
    "curve_reward": "reward reached with probability 1/2",
    "curve_normalised": "the same with R_min, R_mean, R_max at -1, 0, 1",
}


def _evaluate(settings: Settings, programs: np.ndarray, key: jax.Array, progress: Progress | None) -> strategies.Evaluation:
    """Rewards [R, S, P] and [R, S, W]."""
    params = world.paper_world(np.asarray(settings.rules), settings.width, settings.start)
    common: dict[str, Any] = {
        "observation": settings.observation,
        "progress": None if progress is None else lambda done, of: progress("evaluate", done, of),
    }
    record = len(settings.rules) * settings.policies * settings.steps <= MOST_ACTIONS
    if settings.strategy in ("chained", "levin"):
        sequential = strategies.chained if settings.strategy == "chained" else strategies.levin
        return sequential(programs, params, settings.steps, walkers=settings.walkers, key=key, record=record, **common)
    sets, count = programs.shape[:2]
    flat, walkers = programs.reshape(-1, programs.shape[-1]), sets * settings.walkers
    if settings.strategy == "fresh":
        e = strategies.fresh(flat, params, settings.steps, walkers=walkers, key=key, record=count if record else 0, **common)
    else:
        e = strategies.random_walk(key, flat, params, settings.steps, settings.walk_steps, walkers=walkers, **common)
    rules = len(settings.rules)
    return strategies.Evaluation(
        e.numerator.reshape(rules, sets, count),
        e.scale,
        e.steps,
        e.cells.reshape(rules, sets, count, -1),
        e.position.reshape(rules, sets, count),
        e.walker_numerator.reshape(rules, sets, settings.walkers),
        e.actions,
        e.walker_actions if e.walker_actions is None else e.walker_actions[:, : settings.walkers],
    )


def _action_complexity(actions: np.ndarray) -> np.ndarray:
    """K of recorded actions uint8 [R, P, T], int64 [R, P]."""
    moves, upshots = (np.asarray(x) for x in rollouts.moves_and_upshots(actions))
    return np.stack([complexity.action_sequence(m, u) for m, u in zip(moves, upshots, strict=True)])


def _to_length(value: np.ndarray, length: int) -> np.ndarray:
    """Continued to `length`: beyond the largest complexity of this population nothing is known (NaN)."""
    return np.pad(value, (0, length - len(value)), constant_values=np.nan)


def _attributes(settings: Settings) -> dict[str, Any]:
    names: Sequence[str] = (
        "strategy",
        "policies",
        "populations",
        "steps",
        "seed",
        "width",
        "observation",
        "longest",
        "walk_steps",
        "form",
        "statistic",
    )
    attributes = {name: getattr(settings, name) for name in names}
    return {**attributes, "keep_repeated": int(settings.keep_repeated), "start": -1 if settings.start is None else settings.start}


def _report(progress: Progress | None, what: str, done: int, of: int) -> None:
    if progress is not None:
        progress(what, done, of)
