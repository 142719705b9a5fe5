"""Search guided by reward (paper, section 6.2): how many programs does a hill climber try, and how many does a blind search?

A climber starts with a random program of the paper's population (uniform length 1..L). At each trial it evaluates a uniform one-edit
neighbour of its program (see `populations.edits`) and moves there if the reward is not lower. After `patience` failures in a row
(trials without a higher reward) its next trial is a random program again. Every evaluation is a trial, the first program too, and so
is a neighbour that behaves the same. What is counted is the first trial whose reward reaches a target; a climber that has not reached it
after `budget` trials is censored: its number is known to be larger.

The targets are those of the populations (Equation 8 at tolerance gamma, exactly), so the same task is asked of three searches:
D_pos (draws with probability 2^-K, none twice), `blind` (random programs, what a climber without patience is) and `guided`; each is
log2 of the median number of trials. Blind needs no climbing: with a share p of programs that reach the target the median is that of
a geometric distribution, and p is estimated from programs that the targets do not depend on.

Climbers are lanes of a pool of fixed size, which compiles once; a lane whose climber is done is given the next one. A climber's random
numbers depend on its rule, its number and its trial, so results do not depend on the pool, nor on which other rules there are.
Axes: R rules, S populations, C climbers of each, G tolerances, B lanes, L instructions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.automata import eca, rollouts, strategies
from jaxdiff.automata.compiled import compile_programs
from jaxdiff.automata.world import Params, batched
from jaxdiff.core.errors import require, require_integer
from jaxdiff.difficulty import agreement, response
from jaxdiff.populations import edits
from jaxdiff.populations import programs as population
from jaxdiff.studies import rule_difficulty
from jaxdiff.studies.answers import Answer
from jaxdiff.studies.rule_difficulty import GAMMAS, Baseline, Progress, baseline

if TYPE_CHECKING:
    import xarray as xr

KIND = "guided-search"
LANES_CPU, LANES = 1 << 13, 1 << 16
# Trials of every lane in one call; between calls lanes are given new climbers.
TRIALS = 16
BLIND_CHUNK = 2000


@dataclass(frozen=True)
class Search:
    """How is searched.

    Attributes:
        climbers: C, for each rule and population.
        budget: trials after which a climber is given up.
        patience: failures in a row after which a climber starts again; 0: every trial is a random program.
        blind: random programs from which the share that reaches a target is estimated.
    """

    climbers: int = 16
    budget: int = 4096
    patience: int = 32
    blind: int = 20_000

    def __post_init__(self) -> None:
        require_integer("climbers", self.climbers, 1, 1 << 16)
        require_integer("budget", self.budget, 1, 1 << 24)
        require_integer("patience", self.patience, 0, 1 << 24)
        require_integer("blind", self.blind, 1, rule_difficulty.MOST_POLICIES)


class Lanes(NamedTuple):
    """Climbers under way.

    Attributes:
        program: where the climber stands, int8 [B, L].
        total: its sum of reward numerators, uint32 [B].
        failures: trials since the reward last rose, int32 [B]; `patience` or more: the next trial is a random program.
        trial: trials made, int32 [B].
        hit: first trial (counted from 1) that reached each target, 0 for none yet, int32 [B, G].
    """

    program: Any
    total: Any
    failures: Any
    trial: Any
    hit: Any


class Task(NamedTuple):
    """What a lane climbs: rule uint32 [B], the climber's number uint32 [B], least numerators that reach the targets uint32 [B, G]."""

    rule: Any
    number: Any
    target: Any


def start(lanes: int, longest: int, targets: int, patience: int) -> Lanes:
    """Climbers before their first trial."""
    zero = np.zeros(lanes, np.int32)
    program = np.full((lanes, longest), -1, np.int8)
    program[:, 0] = 0  # never evaluated: the first trial is a random program
    return Lanes(program, np.zeros(lanes, np.uint32), np.full(lanes, patience, np.int32), zero, np.zeros((lanes, targets), np.int32))


def climber_key(key: jax.Array, rule: jax.Array, number: jax.Array) -> jax.Array:
    """The key of a climber; that of a trial is one more fold of it, by the number of trials before."""
    return jax.random.fold_in(jax.random.fold_in(key, rule), number)


def propose(key: jax.Array, program: jax.Array, restart: jax.Array) -> jax.Array:
    """The program int8 [L] of the next trial: a uniform neighbour, or a random program. The key is consumed."""
    key_edit, key_restart = jax.random.split(key)
    fresh = edits.random_program(key_restart, program.shape[0])
    return jnp.where(restart, fresh, edits.random_neighbour(key_edit, program))


@partial(jax.jit, static_argnums=(5, 6, 7, 8))
def climb(
    key: jax.Array,
    lanes: Lanes,
    task: Task,
    cells: jax.Array,
    position: jax.Array,
    shape: rollouts.Shape,
    trials: int,
    budget: int,
    patience: int,
) -> Lanes:
    """Some trials of every lane; a climber that has reached all targets or spent its budget stands still.

    Args:
        key: consumed.
        lanes, task: B climbers.
        cells: configuration at the start, uint8 [N].
        position: int32 [].
        shape: of one evaluation, with sums of one limb.
        trials: how many.
        budget, patience: see `Search`.
    """
    count = task.rule.shape[0]
    start_cells, start_position = jnp.broadcast_to(cells, (count, cells.shape[0])), jnp.broadcast_to(position, (count,))
    keys = jax.vmap(partial(climber_key, key))(task.rule, task.number)

    def one(_: jax.Array, lanes: Lanes) -> Lanes:
        restart = lanes.failures >= patience
        program = jax.vmap(propose)(jax.vmap(jax.random.fold_in)(keys, lanes.trial), lanes.program, restart)
        (total,), _ = rollouts.paired(compile_programs(program), task.rule, start_cells, start_position, shape)
        active = (lanes.trial < budget) & (lanes.hit == 0).any(-1)
        better = restart | (total > lanes.total)
        moves = active & (better | (total == lanes.total))
        trial = lanes.trial + active.astype(jnp.int32)
        first = active[:, None] & (lanes.hit == 0) & (total[:, None] >= task.target)
        return Lanes(
            program=jnp.where(moves[:, None], program, lanes.program),
            total=jnp.where(moves, total, lanes.total),
            failures=jnp.where(active, jnp.where(better, 0, lanes.failures + 1), lanes.failures),
            trial=trial,
            hit=jnp.where(first, trial[:, None], lanes.hit),
        )

    return jax.lax.fori_loop(0, trials, one, lanes)


def trials_needed(
    key: jax.Array,
    target: np.ndarray,
    params: Params,
    steps: int,
    search: Search,
    longest: int = population.LONGEST,
    *,
    order: np.ndarray | None = None,
    lanes: int | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """First trial at which climbers reach targets.

    Args:
        key: consumed.
        target: least sums of reward numerators that count, int64 [R, S, G].
        params: the R worlds, which differ in their rules only.
        steps: T.
        search: how is searched.
        longest: L.
        order: in which tasks (rule, population) are begun, int [R S] (row-major numbers); the results do not depend on it, the time does:
            the hardest should be first, since in the end lanes stand empty.
        lanes: B; what suits the device when None.
        progress: called with (what, climbers done, in all).

    Returns:
        int64 [R, S, C, G]; 0 where `budget` trials were not enough.

    Raises:
        InputError: worlds with different configurations, or a ring so wide that sums of rewards do not fit in 32 bits.
    """
    rule, cells, position, _ = batched(params)
    same = bool((cells == cells[0]).all() and (position == position[0]).all())
    require(same, "params", "worlds that start differently", "worlds that differ in their rules only")
    shape = rollouts.shape_for(cells.shape[1], steps)
    require(shape.limbs == 1, "width", cells.shape[1], f"a width whose sum of {steps} rewards fits in 32 bits")
    sets, goals = target.shape[1:]
    tasks = np.arange(len(rule) * sets) if order is None else np.asarray(order)
    queue = np.repeat(tasks, search.climbers) * search.climbers + np.tile(np.arange(search.climbers), len(tasks))
    out = np.zeros((len(queue), goals), np.int64)
    size = min(lanes or (LANES_CPU if jax.default_backend() == "cpu" else LANES), len(queue))
    blank = start(size, longest, goals, search.patience)
    state, climber, begun, done = blank, queue[:size].copy(), size, 0
    while done < len(queue):
        task = _task(climber, rule, target, search.climbers)
        state = climb(key, state, task, cells[0], position[0], shape, TRIALS, search.budget, search.patience)
        trial, hit = np.asarray(state.trial), np.asarray(state.hit)
        finished = np.flatnonzero((climber >= 0) & ((trial >= search.budget) | (hit > 0).all(-1)))
        if not finished.size:
            continue
        out[climber[finished]] = hit[finished]
        done += finished.size
        following = queue[begun : begun + finished.size]
        begun += following.size
        climber[finished] = -1  # where nobody follows the lane stands empty: its climber is done and stands still
        given = finished[: following.size]
        climber[given] = following
        state = Lanes(*(_replaced(old, new, given) for old, new in zip(state, blank, strict=True)))
        if progress is not None:
            progress("climb", done, len(queue))
    return out.reshape(len(rule), sets, search.climbers, goals)


def _task(climber: np.ndarray, rule: np.ndarray, target: np.ndarray, climbers: int) -> Task:
    """What lanes with these climbers climb; an empty lane is given any."""
    sets = target.shape[1]
    r, s = np.divmod(np.maximum(climber, 0) // climbers, sets)
    number = (s << 16) + np.maximum(climber, 0) % climbers
    return Task(rule[r], number.astype(np.uint32), target[r, s].clip(0, 2**32 - 1).astype(np.uint32))


def _replaced(old: Any, new: Any, lanes: np.ndarray) -> np.ndarray:
    out = np.array(old)
    out[lanes] = np.asarray(new)[lanes]
    return out


def least_numerators(target: np.ndarray, r_max: np.ndarray, scale: int, steps: int) -> np.ndarray:
    """Least sums of reward numerators that count as reaching target rewards [R, S, G], int64; r_max [R, S] is the largest reward.

    The slack is that of `response.thresholds`.
    """
    slack = response.TOLERANCE * np.abs(r_max)[..., None]
    return np.ceil((target - slack) * (scale * steps)).astype(np.int64)


def share_reaching(
    key: jax.Array, least: np.ndarray, params: Params, steps: int, count: int, longest: int, progress: Progress | None = None
) -> np.ndarray:
    """Share of `count` random programs whose sum of numerators is at least `least` [R, S, G], float64. The key is consumed."""
    programs = population.sample(key, count, longest)
    reach = np.zeros(least.shape, np.int64)
    for first in range(0, count, BLIND_CHUNK):
        numerator = np.sort(strategies.fresh(programs[first : first + BLIND_CHUNK], params, steps).numerator, -1)
        for r, row in enumerate(numerator):
            reach[r] += len(row) - np.searchsorted(row, least[r])
        if progress is not None:
            progress("blind search", min(first + BLIND_CHUNK, count), count)
    return reach / count


def median_draws(share: np.ndarray) -> np.ndarray:
    """Median number of independent draws until one succeeds, where a share of them does, float64 [...]; infinite for a share of 0."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.ceil(np.log(0.5) / np.log1p(-np.minimum(share, 1.0)) - 1e-9), 1.0)


def median_trials(trials: np.ndarray) -> np.ndarray:
    """Least number of trials after which half of the climbers have reached the target, infinite if they never do.

    Args:
        trials: 0 where a climber has not reached it, int64 [R, S, C, G].

    Returns:
        float64 [R, S, G].
    """
    ordered = np.sort(np.where(trials > 0, trials.astype(np.float64), np.inf), axis=2)
    return ordered[:, :, (trials.shape[2] - 1) // 2]


def measure(
    settings: rule_difficulty.Settings,
    search: Search | None = None,
    base: Baseline | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Blind and guided search on every rule, strategy Fresh.

    Args:
        settings: rules and populations.
        search: how is searched; the defaults when None.
        base: measured from the settings when None.
        progress: called with (what, done, in all) now and then.

    Returns:
        dataset with the dimensions rule, population, climber, gamma. `blind` and `guided` are infinite where the median is beyond what
        was tried.
    """
    import xarray as xr

    search = Search() if search is None else search
    base = baseline(settings, progress) if base is None else base
    params, e, d = settings.worlds(), base.evaluation, base.difficulty
    least = least_numerators(d.target, d.r_max, e.scale, e.steps)
    _, key = jax.random.split(jax.random.key(settings.seed))
    key_blind, key_climb = jax.random.split(key)
    share = share_reaching(key_blind, least, params, settings.steps, search.blind, settings.longest, progress)
    hardest_first = np.argsort(share.min(-1).reshape(-1), kind="stable")
    trials = trials_needed(key_climb, least, params, settings.steps, search, settings.longest, order=hardest_first, progress=progress)
    bits, by_rule = "[bits]", ("rule", "population", "gamma")
    variables = {
        "difficulty": (by_rule, d.bits, {"long_name": f"D_pos, log2 of Equation 9 {bits}"}),
        "share": (by_rule, share, {"long_name": "share of random programs that reach the target"}),
        "blind": (by_rule, np.log2(median_draws(share)), {"long_name": f"log2 of the median trials of random programs {bits}"}),
        "guided": (by_rule, np.log2(median_trials(trials)), {"long_name": f"log2 of the median trials of hill climbers {bits}"}),
        "trials": (("rule", "population", "climber", "gamma"), trials, {"long_name": "first trial that reached the target, 0: none"}),
        "target": (by_rule, d.target, {"long_name": "reward per step to be reached"}),
        "representative": (("rule",), eca.representative(settings.rules), {"long_name": "least rule of the equivalence class"}),
        "varies": (("rule",), (e.numerator.min(-1) < e.numerator.max(-1)).any(-1), {"long_name": "not every program has the same reward"}),
    }
    attributes = settings.attributes() | {name: getattr(search, name) for name in ("climbers", "budget", "patience", "blind")}
    return xr.Dataset(variables, {"rule": list(settings.rules), "gamma": list(GAMMAS)}, attributes)


def compare(dataset: xr.Dataset) -> xr.Dataset:
    """The three searches in bits, with infinite medians replaced by the largest that could be told, [R, S, G] each.

    Returns:
        dataset with `difficulty`, `blind`, `guided`, the flags `blind_censored` and `guided_censored`, and `gain`, blind less guided: bits
        that guidance saves. Where `guided` is censored both are cut at the budget, which shows a loss too small or no difference.
    """
    limits = {"blind": np.log2(dataset.attrs["blind"]), "guided": np.log2(dataset.attrs["budget"])}
    out = dataset[["difficulty"]].copy()
    for name, limit in limits.items():
        out[name] = dataset[name].clip(max=limit)
        out[f"{name}_censored"] = ~np.isfinite(dataset[name]) | (dataset[name] > limit)
    # Where the climbers' median is not known, blind search is given no more than their budget either: no gain is claimed that is not seen.
    known = out.blind.where(~out.guided_censored, out.blind.clip(max=limits["guided"]))
    out["gain"] = known - out.guided
    return out


def answers(dataset: xr.Dataset) -> list[Answer]:
    """What the dataset says; the paper makes no claim in numbers here, it asks for this to be done."""
    searches = compare(dataset)
    rank = partial(agreement.correlation, groups=dataset.representative.values)
    out = []
    for gamma in dataset.gamma.values:
        d, blind, guided = (searches[name].sel(gamma=gamma).values.T for name in ("difficulty", "blind", "guided"))
        out.append(Answer.of(f"D_pos({gamma:g}) and guided search", rank(d, guided)))
        out.append(Answer.of(f"blind and guided search, gamma {gamma:g}", rank(blind, guided)))
        out.append(Answer.stable(f"guided search, gamma {gamma:g}: two populations", agreement.stability(guided)))
        out.append(Answer.stable(f"bits that guidance saves, gamma {gamma:g}: two populations", agreement.stability(blind - guided)))
    return out
