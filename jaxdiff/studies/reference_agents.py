"""Reference agents and logs on Alchemy: scores, exploration, kinds of actions, model comparison and regret of one agent on given episodes.

The quantities of Wang et al. 2021, Table 1 and Figures 2, 3, 5 and 10, for any agent or log. Everything is computed from the log, so that
an agent trained elsewhere is measured as the reference agents are. Axes: E episodes, R trials, A actions at most in a trial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import jax
import numpy as np

from jaxdiff.alchemy import comparison, heuristics, items, logs, lookahead, oracle, probes
from jaxdiff.alchemy.chemistry import Chemistry, Source
from jaxdiff.alchemy.logs import EPISODE_ARRAYS, Log
from jaxdiff.alchemy.played import STEPS
from jaxdiff.alchemy.situations import Truth
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.files import whole
from jaxdiff.studies import kept_play

if TYPE_CHECKING:
    import xarray as xr

    from jaxdiff.alchemy.regret import TrialRegret

KIND = "alchemy-evaluation"
AGENTS = ("oracle", "ideal_observer", "random_heuristic", "random_action_bot", "uniform", "lookahead_paired", "lookahead_unpaired")
ACTION_KINDS = probes.KINDS[:4]  # no effect, value up, value down, cauldron: what a log holds
FIGURE_3 = {"ln L, paired less unpaired, fitted": "log_likelihood", "the same, the ideal observer's temperature": "sharp"}
PUBLISHED = ("chemistries_published.npz", "published_agent_events.npz")
Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Episodes:
    """Episodes to play: chemistry fields int [E], latent stones int [E, R, 3], latent potions int [E, R, 12], and their numbers int [E]."""

    chemistry: Chemistry
    stones: np.ndarray
    potions: np.ndarray
    numbers: np.ndarray

    def truths(self) -> list[Truth]:
        """One by one."""
        c = self.chemistry
        return [Truth(*map(int, row)) for row in zip(c.graph, c.potion_map, c.stone_map, c.rotation, strict=True)]


def data_folder(given: Path | None) -> Path:
    """Where the published episodes are: the folder that was given, else that of a checkout's test data.

    Raises:
        InputError: they are not there.
    """
    folder = Path(__file__).parents[2] / "tests" / "data" / "alchemy" if given is None else given
    missing = [name for name in PUBLISHED if not (folder / name).is_file()]
    require(not missing, "data", str(folder), f"a folder with {' and '.join(PUBLISHED)} (a checkout has it: tests/data/alchemy)")
    return folder


def published(folder: Path, count: int = 1000) -> tuple[Episodes, Mapping[str, np.ndarray]]:
    """The first of the published episodes, and the published events of all."""
    require_integer("episodes", count, 1, 1000)
    with np.load(folder / PUBLISHED[0]) as file:
        episodes = _episodes({name: file[name][:count] for name in EPISODE_ARRAYS})
    with np.load(folder / PUBLISHED[1]) as file:
        events = {name: file[name] for name in file.files}
    return episodes, events


def drawn(count: int, seed: int, rotation: bool, trials: int = 10) -> Episodes:
    """Fresh episodes from the benchmark's distribution; with rotation a quarter of them are not rotated, as there."""
    require_integer("episodes", count, 1)
    keys = jax.random.split(jax.random.key(seed), count)
    chemistry = jax.tree.map(lambda a: np.asarray(a, np.int64), jax.vmap(Source(rotation=None if rotation else 0).sample)(keys))
    rng = np.random.default_rng(seed)
    stones = rng.integers(0, items.CORNERS, (count, trials, items.STONES))
    return Episodes(chemistry, stones, rng.integers(0, items.TYPES, (count, trials, items.POTIONS)), np.arange(count))


def play(
    agent: str, episodes: Episodes, seed: int = 0, rotation: bool = False, report: Report | None = None, keep: Path | None = None
) -> Log:
    """The log of a reference agent.

    Args:
        agent: one of `AGENTS`.
        episodes: what it plays.
        seed: of what is random in it.
        rotation: whether the ideal observer must reckon with rotations.
        report: called with (what, done, of).
        keep: a file in which the ideal observer's play is kept as it is made, and from which it goes on.

    Raises:
        InputError: no such agent.
    """
    given, key = (episodes.chemistry, episodes.stones, episodes.potions), jax.random.key(seed)
    if agent == "oracle":
        return logs.of_actions(oracle.play(*given).actions)
    if agent == "ideal_observer":
        return _observed(episodes, rotation, report, keep)
    others = {h.name: h for h in (heuristics.random_heuristic, heuristics.random_action_bot, heuristics.uniform)}
    others |= {f"lookahead_{model}": lookahead.Lookahead(model) for model in ("paired", "unpaired")}
    require(agent in others, "agent", agent, f"{', '.join(AGENTS)}, or a log: FILE.npz with stone and potion, or FILE.npz:AGENT")
    return without_nothing(episodes, logs.of_actions(others[agent].play(*given, key=key).actions))


def _observed(episodes: Episodes, rotation: bool, report: Report | None, keep: Path | None) -> Log:
    """The ideal observer's log, in parts, so that progress can be told and kept."""
    from jaxdiff.alchemy import ideal_observer

    parts, size, count = [kept_play.load(keep, episodes)], 8 * ideal_observer.cores(), len(episodes.numbers)
    rotated = rotation or bool((episodes.chemistry.rotation > 0).any())
    with ideal_observer.Crew() as crew:
        for low in range(len(parts[0]), count, size):
            part = slice(low, low + size)
            chemistry = jax.tree.map(lambda a, part=part: a[part], episodes.chemistry)
            parts.append(crew.play(chemistry, episodes.stones[part], episodes.potions[part], rotation=rotated).actions)
            kept_play.save(keep, episodes, np.concatenate(parts))
            if report is not None:
                report("ideal observer: episodes", min(low + size, count), count)
    return logs.of_actions(np.concatenate(parts))


def read_log(name: str) -> tuple[Log, Episodes | None]:
    """A log from a file, and the episodes that it belongs to where the file has them.

    `FILE.npz` with arrays stone and potion, or `FILE.npz:AGENT` with arrays AGENT/stone and AGENT/potion; trial_score (or
    AGENT/trial_score) is checked where it is there.

    Raises:
        InputError: no such file, not a log.
    """
    path, _, agent = name.partition(":")
    allowed = "an npz file with arrays stone and potion [E, R, A], or FILE.npz:AGENT"
    try:
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files}
    except FileNotFoundError as error:
        raise InputError("agent", f"{name}, which is no file", f"{', '.join(AGENTS)}, or {allowed}") from error
    except (TypeError, OSError, ValueError, EOFError, BadZipFile) as error:
        raise InputError("agent", name, f"{', '.join(AGENTS)}, or {allowed}") from error
    if agent:
        return logs.published(arrays, agent), None
    require("stone" in arrays and "potion" in arrays, "agent", f"a file with {', '.join(sorted(arrays)[:6])}", allowed)
    log = logs.published({f"log/{key}": array for key, array in arrays.items()}, "log")
    return log, _episodes(arrays) if all(key in arrays for key in EPISODE_ARRAYS) else None


def write_log(path: Path, log: Log, episodes: Episodes, scores: np.ndarray) -> Path:
    """Write a log with the episodes that it belongs to; scores int [E, R].

    Raises:
        InputError: it cannot be written.
    """
    c = episodes.chemistry
    values = (c.graph, c.potion_map, c.stone_map, c.rotation, episodes.stones, episodes.potions)
    with whole(path) as beside, beside.open("wb") as file:
        np.savez_compressed(
            file, stone=log.stone, potion=log.potion, trial_score=scores, **dict(zip(EPISODE_ARRAYS, map(np.asarray, values), strict=True))
        )
    return path


def _episodes(arrays: Mapping[str, np.ndarray]) -> Episodes:
    """Episodes from the arrays of a file."""
    d = {name: np.asarray(arrays[name]).astype(np.int64) for name in EPISODE_ARRAYS}
    chemistry = Chemistry(*(d[name] for name in EPISODE_ARRAYS[:4]))
    return Episodes(chemistry, d["stones_latent"], d["potions_latent"], np.arange(len(d["stones_latent"])))


@dataclass(frozen=True)
class Outcomes:
    """What a log's actions did: latent corners before and after, int64 [E, R, A] (8: used), and which actions there are, bool [E, R, A]."""

    before: np.ndarray
    after: np.ndarray
    real: np.ndarray
    possible: np.ndarray

    @property
    def kinds(self) -> np.ndarray:
        """Number of each action's kind in `ACTION_KINDS`, int64 [E, R, A]; -1 where there is none."""
        change = items.VALUES[self.after] - items.VALUES[self.before]
        kind = np.where(self.after == items.ABSENT, 3, np.where(change == 0, 0, np.where(change > 0, 1, 2)))
        return np.where(self.real, kind, -1)


def outcomes(episodes: Episodes, log: Log) -> Outcomes:
    """Replay a log, all trials at once; actions that are impossible are marked and do nothing."""
    from jaxdiff.alchemy import graphs

    shape = episodes.stones.shape[:2]
    require(log.stone.shape[:2] == shape, "log", f"of {log.stone.shape[:2]} episodes and trials", f"{shape}, as the episodes")
    corners = np.array(episodes.stones, np.int64)
    left = np.ones(episodes.potions.shape, bool)
    effects = graphs.transitions()[episodes.chemistry.graph]
    e, t = np.ogrid[: shape[0], : shape[1]]
    before, after, possible = (np.zeros(log.stone.shape, int) for _ in range(3))
    for a in range(log.stone.shape[2]):
        stone, potion = np.clip(log.stone[..., a], 0, 2), log.potion[..., a]
        slot, corner = np.clip(potion, 0, 11), corners[e, t, stone]
        there = (corner != items.ABSENT) & (potion != logs.PADDING)
        use = there & (potion >= 0) & left[e, t, slot]
        cash = there & (potion == logs.CAULDRON)
        moved = effects[e, corner % items.CORNERS, episodes.potions[e, t, slot]]
        then = np.where(use, moved, np.where(cash, items.ABSENT, corner))
        corners[e, t, stone], left[e, t, slot] = then, left[e, t, slot] & ~use
        before[..., a], after[..., a], possible[..., a] = corner, then, use | cash
    return Outcomes(before, after, log.potion != logs.PADDING, possible.astype(bool))


def without_nothing(episodes: Episodes, log: Log) -> Log:
    """The log without actions that did nothing, as published logs are (the uniform agent tries used stones and potions)."""
    real = outcomes(episodes, log).possible
    order = np.argsort(~real, axis=-1, kind="stable")
    stone, potion = np.where(real, log.stone, -1), np.where(real, log.potion, logs.PADDING)
    return Log(np.take_along_axis(stone, order, -1), np.take_along_axis(potion, order, -1))


def evaluate(
    episodes: Episodes, log: Log, *, rotation: bool = False, regret_episodes: int = 0, models: bool = True, report: Report | None = None
) -> xr.Dataset:
    """Measure a log.

    Args:
        episodes: those of the log.
        log: its actions.
        rotation: whether the posterior reckons with rotations.
        regret_episodes: for how many of the first episodes regret is computed (a second or two each).
        models: whether Figure 3's models are fitted; they take the rotation as known.
        report: called with (what, done, of).

    Raises:
        InputError: a log of other episodes.
    """
    import xarray as xr

    done = outcomes(episodes, log)
    wrong = np.argwhere(done.real & ~done.possible)
    if len(wrong):
        e, t, a = wrong[0].tolist()
        raise InputError(
            "log", f"one that uses something used already (episode {e}, trial {t}, action {a})", "a log of these very episodes"
        )
    kinds = done.kinds
    score = np.where(kinds == 3, items.VALUES[done.before], 0).sum(-1)
    if log.scores is not None and (score != log.scores).any():
        e, t = np.argwhere(score != log.scores)[0].tolist()
        said = f"episode {e}, trial {t} scored {score[e, t]} here and {log.scores[e, t]} in the log"
        raise InputError("log", said, "a log of these very episodes")
    probed = _probe(episodes, log, rotation)
    position = np.stack([(kinds == k).mean(0) for k in range(len(ACTION_KINDS))], -1)  # [R, A, kind]
    data = {
        "score": (("episode", "trial"), score),
        "potions": (("episode", "trial"), ((kinds >= 0) & (kinds < 3)).sum(-1)),
        "worlds": (("episode", "trial"), np.asarray(probed.worlds_end)),
        "entropy": (("episode", "trial"), np.asarray(probed.entropy)),
        "kinds": (("trial", "action", "kind"), position),
        "acts": (("episode", "trial", "kind"), np.stack([(kinds == k).sum(-1) for k in range(len(ACTION_KINDS))], -1)),
        "optimum": (("episode", "trial"), np.asarray(oracle.play(episodes.chemistry, episodes.stones, episodes.potions).scores)),
    }
    if models:
        for name, fitted in comparison.compare(episodes.chemistry, episodes.stones, episodes.potions, log).items():
            data |= {f"{name}_beta": ((), fitted.beta), f"{name}_log_likelihood": (("episode",), fitted.log_likelihood)}
            data[f"{name}_sharp"] = (("episode",), fitted.sharp)
            data["actions"] = (("episode",), fitted.actions)
    if regret_episodes:
        data |= _regrets(episodes, log, min(regret_episodes, len(episodes.numbers)), rotation, report)
    return xr.Dataset(data, coords={"episode": episodes.numbers, "kind": list(ACTION_KINDS)}, attrs={"jaxdiff_kind": KIND})


def _probe(episodes: Episodes, log: Log, rotation: bool) -> probes.Probes:
    from jaxdiff.alchemy.world import Alchemy

    env = Alchemy(rotation=rotation or bool((episodes.chemistry.rotation > 0).any()), trials=episodes.stones.shape[1])
    return probes.replay(env, episodes.chemistry, episodes.stones, episodes.potions, probes.actions_of_events(log.stone, log.potion, STEPS))


def _regrets(episodes: Episodes, log: Log, count: int, rotation: bool, report: Report | None) -> dict[str, Any]:
    """Regret by trial, and by kind."""
    from jaxdiff.alchemy import ideal_observer, regret

    truths = episodes.truths()
    done = 0

    def one(planner: ideal_observer.Planner, e: int) -> list[TrialRegret]:
        nonlocal done
        walked = logs.replay(truths[e], episodes.stones[e], episodes.potions[e], log, e, rotation=rotation, where=f"log, episode {e}")
        account = [regret.of_trial(planner, truths[e], trial) for trial in walked]
        done += 1
        if report is not None:
            report("regret: episodes", done, count)
        return account

    accounts = ideal_observer.in_threads(one, range(count), "exact", None)
    by_kind = np.zeros((count, episodes.stones.shape[1], len(regret.KINDS)))
    for e, trials in enumerate(accounts):
        for t, account in enumerate(trials):
            for loss in account.losses:
                by_kind[e, t, loss.kind] += loss.regret
    expected = np.array([[account.expected for account in trials] for trials in accounts])
    return {
        "regret": (("regret_episode", "trial", "loss"), by_kind),
        "expected": (("regret_episode", "trial"), expected),
        "loss": (("loss",), list(regret.KINDS)),
    }


@dataclass(frozen=True)
class Number:
    """A number with the standard error of its mean over episodes."""

    mean: float
    error: float


def numbers(dataset: xr.Dataset) -> dict[str, Number]:
    """The paper's numbers of one agent.

    Table 1, Figure 2 a to e (posterior entropy: logarithm of the number of possible worlds), Figure 10 (actions of each kind in the first
    and the last trial) and, where models were fitted, Figure 3.
    """
    potions, logs_ = dataset["potions"].values, np.log(dataset["worlds"].values)
    columns = {
        "episode score": dataset["score"].values.sum(1),
        "potions in trial 1": potions[:, 0],
        "potions in the last trial less trial 1": potions[:, -1] - potions[:, 0],
        "entropy after trial 1": logs_[:, 0],
        "entropy after the episode": logs_[:, -1],
    }
    for k, kind in enumerate(ACTION_KINDS):
        acts = dataset["acts"].values[..., k]
        columns |= {f"{kind}, trial 1": acts[:, 0], f"{kind}, last trial": acts[:, -1]}
    if "paired_log_likelihood" in dataset:
        for name, variable in FIGURE_3.items():
            columns[name] = dataset[f"paired_{variable}"].values - dataset[f"unpaired_{variable}"].values
    return {
        name: Number(float(c.mean()), float(c.std(ddof=1) / len(c) ** 0.5) if len(c) > 1 else float("nan")) for name, c in columns.items()
    }
