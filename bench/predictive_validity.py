"""Do the measures predict how long learners take? Rank correlations over worlds with known knobs, and what rises along every knob.

    python bench/predictive_validity.py [--worlds N] [--seeds N] [--steps N] [--policies N] [--folder FOLDER]

Two learners, tabular Q-learning and PPO. Every world's numbers are kept in the folder as they come, so that a stopped run goes on.
Nearly all of the time is compilation: 10 to 25 minutes on two cores. Without gymnax, its two classics are left out.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import harness
import jax
import numpy as np
from harness import Table

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import effective_horizon
from jaxdiff.populations import actions, networks
from jaxdiff.report import tables
from jaxdiff.report.measurement import RANDOM, measure
from jaxdiff.studies import predictive_validity as study
from jaxdiff.studies import returns as collecting
from jaxdiff.studies import validity
from jaxdiff.sweep import pieces

# Measures and the sign that makes larger harder.
GAMMAS = ("0", "0.05", "0.25")
OURS = tuple(f"{kind}_{gamma}" for kind in ("tries", "bits", "ls") for gamma in GAMMAS)
MEASURES = {
    **dict.fromkeys((*OURS, "correlation"), 1),
    **dict.fromkeys(("mean", "variance_within", "variance_between", "percentile_99.9", "pic", "pic_corrected", "poic"), -1),
}
HORIZON = "effective_horizon"
ALL = (*MEASURES, HORIZON)
EPISODES = 10
SEQUENCES, SAMPLES = 8, 16  # sequences of actions that GORP looks at, and episodes for each, at most
RESAMPLES = 500


def main(options: argparse.Namespace) -> None:
    """Print and write the tables."""
    about = harness.say_machine()
    try:
        worlds, knobs = study.cases()
    except InputError as error:
        print(f"without the gymnax classics: {error}")
        worlds, knobs = study.cases(classics=False)
    worlds = worlds[: options.worlds]
    keep = pieces.keeper(Path(options.folder))
    found: dict[str, dict[str, float]] = {}
    spent, censored = ({learner: [] for learner in study.LEARNERS} for _ in range(2))
    for number, case in enumerate(worlds):
        begin = time.process_time()
        settings = {k: getattr(options, k) for k in ("seeds", "steps", "policies")} | {"world": repr(case)}
        piece = keep(case.name, settings, lambda case=case, number=number: one(case, number, options))
        values = {name: sign * float(value) for (name, sign), value in zip(MEASURES.items(), piece["measures"], strict=True)}
        # Undetermined: nothing was found that could be measured, so that no world is harder.
        values = {name: np.inf if np.isnan(value) else value for name, value in values.items()}
        found[case.name] = {**values, HORIZON: float(piece[HORIZON])}
        trainings = {
            name: study.Training(piece[f"{name}_returns"], piece[f"{name}_places"], options.seeds, options.steps) for name in study.LEARNERS
        }
        goal = study.target(trainings, piece["random"], case.best)
        for name, training in trainings.items():
            steps, never = study.sample_complexity(training, goal)
            spent[name].append(steps)
            censored[name].append(never)
        jax.clear_caches()  # every program compiled holds on to pages, and a process may not have more than 65,530 areas of them
        print(f"{number + 1} of {len(worlds)}: {case.name}, {time.process_time() - begin:.0f} CPU seconds", flush=True)
    times = {name: validity.medians(spent[name], censored[name]) for name in study.LEARNERS}
    knobs = {knob: [n for n in names if n in found] for knob, names in knobs.items()}
    knobs = {knob: names for knob, names in knobs.items() if len(names) > 1}
    small = np.array([not np.isnan(found[case.name][HORIZON]) for case in worlds])
    orders = [
        ordering("Order of worlds by median steps to learn, 95 % intervals over worlds", worlds, found, times),
        ordering("The same, only worlds small enough for an effective horizon", worlds, found, times, small),
    ]
    shown = [*orders, *walks(worlds, knobs, found, times), world_table(worlds, found, times, censored)]
    said = [s for name in study.LEARNERS for s in statement(name, worlds, knobs, found, times)]
    print("\n" + "\n".join(said))
    settings = {k: v for k, v in vars(options).items() if k != "folder"}
    harness.write("predictive_validity", about, shown, said=said, settings=settings)


def one(case: study.Case, number: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measures of a world, returns of random actions, and what both learners got."""
    key_draw, key_measure, key_random, *keys = jax.random.split(
        jax.random.fold_in(jax.random.key(0), np.uint32(number)), 3 + len(study.LEARNERS)
    )
    spaces = case.env.observation_space(case.params), case.env.action_space(case.params)
    population = networks.draw(key_draw, *spaces, options.policies, networks.PUBLISHED[-1])
    settings: dict[str, Any] = {"episodes": EPISODES, "steps": case.steps}
    measured = measure(case.env, case.params, population, key_measure, name=case.name, resamples=0, **settings)
    random = collecting.collect(case.env, case.params, actions.random_actions(spaces[1], RANDOM), key_random, **settings)
    out: dict[str, Any] = {
        "measures": np.array([measured.numbers.by_name[name].value for name in MEASURES]),
        HORIZON: np.array(horizon(case)),
        "random": random.returns,
    }
    for learner, key in zip(study.LEARNERS, keys, strict=True):
        out[f"{learner}_returns"], out[f"{learner}_places"] = study.learn(case, learner, key, seeds=options.seeds, steps=options.steps)
    return out


def horizon(case: study.Case) -> float:
    """Effective horizon: NaN where there is no table, infinite where GORP solves it with no sequence that is tried."""
    bare = study.without_clock(case)
    if bare is None:
        return float("nan")
    world = tables.tabulate(*bare, case.steps)
    assert not isinstance(world, str), f"{case.name}: {world}"
    longest = int(np.log(SEQUENCES) / np.log(world.actions) + 1e-9)
    value = effective_horizon.effective_horizon(world, longest, SAMPLES).value
    return float("inf") if np.isnan(value) else value


def columns(worlds: list[study.Case], found: dict[str, dict[str, float]]) -> dict[str, np.ndarray]:
    """Every measure over the worlds."""
    return {name: np.array([found[case.name][name] for case in worlds]) for name in ALL}


def ordering(
    title: str,
    worlds: list[study.Case],
    found: dict[str, dict[str, float]],
    times: dict[str, validity.Times],
    which: np.ndarray | None = None,
) -> Table:
    """How well every measure orders worlds (all, or `which`, bool [W]) by the time to learn."""
    which = np.ones(len(worlds), bool) if which is None else which
    places = np.flatnonzero(which)
    times = {learner: t.take(places) for learner, t in times.items()}
    families = np.array([case.family for case in worlds])[places]
    drawn = validity.draws(len(places), RESAMPLES)
    heads = [(learner, kind) for learner in study.LEARNERS for kind in ("D", "D within families", "Spearman")]
    table = Table(title, ("measure", "worlds", *(f"{a}: {b}" for a, b in heads)))
    for name, values in columns([worlds[i] for i in places], found).items():
        row: dict[str, Any] = {"measure": name, "worlds": int((~np.isnan(values)).sum())}
        there = np.flatnonzero(~np.isnan(values))
        for learner, kind in heads:
            score = validity.spearman if kind == "Spearman" else validity.concordance
            cell = str(validity.estimate(score, values, times[learner], drawn))
            if kind == "D within families":
                cell = f"{validity.concordance(values[there], times[learner].take(there), families[there]):.2f}"
            row[f"{learner}: {kind}"] = cell
        table.add(**row)
    return table


def walked(
    worlds: list[study.Case], knobs: dict[str, list[str]], found: Any, times: dict[str, validity.Times]
) -> dict[str, dict[str, Any]]:
    """By knob: what every measure and every learner does along it."""
    place = {case.name: i for i, case in enumerate(worlds)}
    out: dict[str, dict[str, Any]] = {}
    for knob, names in knobs.items():
        out[knob] = {name: validity.along(names, {n: found[n][name] for n in names}) for name in ALL}
        for learner, t in times.items():
            out[knob][learner] = validity.along_times(names, {n: (t.value[place[n]], bool(t.censored[place[n]])) for n in names})
    return out


def walks(worlds: list[study.Case], knobs: dict[str, list[str]], found: Any, times: dict[str, validity.Times]) -> list[Table]:
    """Along every knob: in words, and how often a measure is monotone."""
    along = walked(worlds, knobs, found, times)
    words = Table("From level to level of a knob", ("number", *along))
    shares = Table("Knobs along which a number rises and never falls", ("number", "knobs", "of", "pairs of levels that fall"))
    for name in (*study.LEARNERS, *ALL):
        words.add(number=name, **{knob: walk[name].word for knob, walk in along.items()})
    for name in (*study.LEARNERS, *ALL):
        steps = [walk[name] for walk in along.values() if walk[name].word != "undefined"]
        falls = f"{sum(s.fall for s in steps)} of {sum(s.rise + s.tie + s.fall for s in steps)}"
        shares.add(number=name, knobs=sum(s.monotone for s in steps), of=len(steps), **{"pairs of levels that fall": falls})
    return [words, shares]


def world_table(worlds: list[study.Case], found: Any, times: dict[str, validity.Times], censored: dict[str, list[np.ndarray]]) -> Table:
    """What was found in every world."""
    heads = [f"{learner} {what}" for learner in study.LEARNERS for what in ("steps", "censored")]
    title = "Worlds: median steps to learn, share of seeds that never did; measures of which less is harder are negated"
    table = Table(title, ("world", *heads, *ALL))
    for place, case in enumerate(worlds):
        row: dict[str, Any] = {name: found[case.name][name] for name in ALL}
        for learner in study.LEARNERS:
            hidden = times[learner].censored[place]
            row[f"{learner} steps"] = ("> " if hidden else "") + f"{times[learner].value[place]:,.0f}"
            row[f"{learner} censored"] = float(censored[learner][place].mean())
        table.add(world=case.name, **row)
    return table


def statement(learner: str, worlds: list[study.Case], knobs: Any, found: Any, times: dict[str, validity.Times]) -> list[str]:
    """Which measure wins where, and where ours fails."""
    drawn = validity.draws(len(worlds), RESAMPLES)
    values = {name: v for name, v in columns(worlds, found).items() if not np.isnan(v).any()}
    scores = {name: validity.estimate(validity.concordance, v, times[learner], drawn) for name, v in values.items()}
    best = max(scores, key=lambda name: np.nan_to_num(scores[name].value, nan=-2))
    samples = {name: validity.resampled(validity.concordance, v, times[learner], drawn) for name, v in values.items()}
    chance = {name: float((samples[name] >= samples[best]).mean()) for name in values}
    return validity.sentences(learner, scores, chance, walked(worlds, knobs, found, times), OURS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=40960)
    parser.add_argument("--policies", type=int, default=600)
    parser.add_argument("--folder", default=str(harness.RESULTS / "predictive_validity_runs"))
    main(parser.parse_args())
