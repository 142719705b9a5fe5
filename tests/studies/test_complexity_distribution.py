import numpy as np
import pytest

from jaxdiff.automata import apl
from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import complexity, indicators, response
from jaxdiff.studies import complexity_distribution as study
from jaxdiff.studies import paper_numbers, reproduction

pytestmark = pytest.mark.slow

SMALL = study.Settings(rules=(184, 110), policies=80, steps=20, populations=2)


@pytest.fixture(scope="module", params=study.STRATEGIES)
def dataset(request):
    return study.measure(study.Settings(**{**vars(SMALL), "strategy": request.param}))


def test_everything_is_there_and_consistent(dataset):
    assert dict(dataset.sizes)["policy"] == 76
    assert dict(dataset.sizes)["walker"] == 4
    np.testing.assert_allclose(dataset.reward, dataset.numerator / dataset.attrs["scale"] / 20)
    for i in (0, 1):
        d = dataset.isel(population=i)
        np.testing.assert_array_equal(d.program_simplified, apl.simplify(d.program.values))
        np.testing.assert_array_equal(d.complexity, complexity.lempel_ziv(d.program_simplified.values))
        assert apl.same_behaviour(d.program.values, d.program_shortest.values).all()
        assert int(d.distinct[0]) == len(np.unique(d.program_shortest.values, axis=0))
        assert int((~d.repeated).sum()) == len(np.unique(d.program_simplified.values, axis=0))
        for rule in (184, 110):
            r = d.sel(rule=rule)
            s = indicators.summarise(d.complexity.values, r.reward.values, random_walk=r.walker_reward.values)
            for name in ("r_max", "r_mean", "hbar", "correlation", "random_walk_mean"):
                np.testing.assert_allclose(r[name], getattr(s, name), err_msg=name)
            keep = ~d.repeated.values
            weights = response.universal_weights(d.complexity.values[keep])
            for statistic in response.STATISTICS:
                got = r.first_hit.sel(side="negative", statistic=statistic, gamma=0.25).item()
                assert got == response.first_hit(weights, r.reward.values[keep], 0.25, "negative", statistic)[0]
            curve = response.curve(weights, r.reward.values[keep])
            np.testing.assert_allclose(r.curve_theta, curve.theta)
            np.testing.assert_allclose(r.curve_reward, curve.reward)


def test_actions_are_measured_where_they_are_known(dataset):
    if dataset.attrs["strategy"] == "random_walk":
        assert "action_complexity" not in dataset
    else:
        assert dataset.action_complexity.dims == ("rule", "policy")
        assert dataset.walker_action_complexity.shape == (2, 4)
        assert (dataset.action_complexity >= 0).all()


def test_too_many_actions_are_not_kept(monkeypatch):
    monkeypatch.setattr(study, "MOST_ACTIONS", 100)
    for strategy in ("fresh", "chained"):
        assert "action_complexity" not in study.measure(study.Settings(**{**vars(SMALL), "strategy": strategy}))


def test_settings_survive(dataset):
    again = study.settings_of(dataset)
    assert again == study.Settings(**{**vars(SMALL), "strategy": dataset.attrs["strategy"]})


def test_the_same_seed_gives_the_same_numbers_and_another_does_not():
    a, b = study.measure(SMALL), study.measure(SMALL)
    assert a.identical(b)
    assert not study.measure(study.Settings(**{**vars(SMALL), "seed": 1})).numerator.equals(a.numerator)


def test_progress_is_reported():
    seen = []
    study.measure(SMALL, lambda what, done, of: seen.append((what, done, of)))
    assert {what for what, _, _ in seen} == {"simplify", "evaluate", "response functions", "actions"}
    assert all(0 <= done <= of for _, done, of in seen)
    assert ("response functions", 4, 4) in seen


@pytest.mark.long
@pytest.mark.slow
def test_reproduction_has_every_row_of_the_paper(monkeypatch):
    """On tiny populations: which rows there are, that they are computed, and that a row far off is called outside."""
    monkeypatch.setitem(paper_numbers.CHAINED, 95, {**paper_numbers.CHAINED[1900], 184: (5.0, 0.46, 0.0, 3, 0.08, 0.69)})
    monkeypatch.setitem(paper_numbers.DIFFICULTY, 95, paper_numbers.DIFFICULTY[1900])
    monkeypatch.setitem(paper_numbers.DISTINCT, 95, 1349)
    monkeypatch.setattr(reproduction, "SIZES", (95,))
    result = reproduction.reproduce(95, populations=3)
    rows = result.rows
    # Fresh: 4 rules x 7 and a second reading of 4 means; Table 1: 4 x 6; Table 2: 4 x 2 x 5 in 3 readings; 3 counts; 2 x 4 correlations.
    assert len(rows) == 4 * 7 + 4 + 4 * 6 + 4 * 2 * 5 * 3 + 3 + 8
    assert len({(r.table, r.rule, r.quantity, r.reading) for r in rows}) == len(rows)
    for row in rows:
        assert row.low <= row.here <= row.high or np.isnan(row.here)
        assert row.difference == pytest.approx(row.here - row.paper, nan_ok=True)
        if row.tolerance is not None:
            assert row.inside == (abs(row.difference) <= row.tolerance)
    far = next(r for r in rows if r.table.startswith("Table 1") and (r.rule, r.quantity) == (184, "R_max"))
    assert far.inside is False
    assert all(r.inside is None for r in rows if r.quantity in ("hbar", "Cor-max", "different policies"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rules": ()}, "rules is"),
        ({"rules": (110, 110)}, "every rule once"),
        ({"rules": (256,)}, "rule is 256"),
        ({"strategy": "none"}, "strategy is 'none'"),
        ({"policies": 1}, "policies is 1"),
        ({"populations": 0}, "populations is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"width": 2}, "width is 2"),
        ({"start": 21}, "start is 21"),
        ({"observation": "q"}, "observation is 'q'"),
        ({"form": "long"}, "form is 'long'"),
        ({"statistic": "mode"}, "statistic is 'mode'"),
        ({"seed": -1}, "seed is -1"),
        ({"walk_steps": -1}, "walk_steps is -1"),
        ({"longest": 40}, "longest is 40"),
        ({"policies": 10**9}, "at most 2,000,000 in all populations together"),
        ({"steps": 10**9}, "steps is 1000000000"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(InputError, match=words):
        study.Settings(**{**vars(SMALL), **change})


def test_sizes_the_paper_does_not_have():
    with pytest.raises(InputError, match="size is 5"):
        reproduction.reproduce(5)
