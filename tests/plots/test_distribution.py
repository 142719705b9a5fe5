import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.plots import distribution as d
from tests.plots.conftest import RULES, line, misplaced, titles

pytestmark = pytest.mark.host


def test_illustration():
    figure = d.illustration()
    (ax,) = figure.axes
    _, high = line(ax, "max of R[k], sliced")
    _, upto = line(ax, "max of R[≤k], accumulated")
    np.testing.assert_allclose(upto, np.maximum.accumulate(high))
    _, mean = line(ax, "mean of R[k], sliced")
    _, mean_upto = line(ax, "mean of R[≤k], accumulated")
    np.testing.assert_allclose(mean_upto[-1], mean.mean())
    assert abs(mean_upto[-1]) < 0.2, "balanced"
    assert int(np.argmax(high)) + 1 == 30, "as in the paper: the best policy has complexity 30"
    assert misplaced(figure) == []


def test_distribution_draws_the_dataset(dataset):
    population = 1
    figure = d.distribution(dataset, population)
    assert titles(figure) == [f"rule {rule}" for rule in RULES]
    for i, ax in enumerate(figure.axes[1:]):
        row = dataset.isel(rule=i, population=population)
        for name in ("max", "mean", "min"):
            x, y = line(ax, f"{name} of R[≤k]")
            expected = row[f"r_{name}_upto"].values
            np.testing.assert_array_equal(y, expected[np.isfinite(expected)])
            np.testing.assert_array_equal(x, row["k"].values[np.isfinite(expected)])
        x, y = line(ax, "policies")
        np.testing.assert_array_equal(y, row["reward"].values)
        np.testing.assert_array_equal(np.ceil(x), row["complexity"].values)
        np.testing.assert_array_equal(line(ax, "walkers")[1], row["walker_reward"].values)
        medians = [a for a in ax.lines if a.get_linewidth() == 2.2]
        assert len(medians) == 1 + len(line(ax, "max of R[≤k]")[0]), "a box for the walkers and one a complexity"
        np.testing.assert_allclose(medians[-1].get_ydata(), np.median(row["reward"].values))
    numbers = [t.get_text() for t in figure.axes[0].texts]
    row = dataset.isel(rule=0, population=population)
    k = row["k"].values[np.isfinite(row["r_max_upto"].values)]
    expected = [f"{n:.0f}" for name in ("generated_k", "distinct_k") for n in row[name].values[k]]
    assert [t for t in numbers if t.isdigit()] == expected
    assert misplaced(figure) == []


def test_one_rule_of_several(dataset):
    figure = d.distribution(dataset, rules=[164])
    assert titles(figure) == ["rule 164"]
    np.testing.assert_array_equal(line(figure.axes[1], "policies")[1], dataset.isel(rule=2, population=0)["reward"].values)


def test_histogram_shares(dataset):
    figure = d.histogram(dataset, 1, bins=20)
    assert titles(figure) == [f"rule {rule}" for rule in RULES]
    for i, ax in enumerate(figure.axes):
        wide, narrow = ax.containers
        for bars, name in ((wide, "reward"), (narrow, "walker_reward")):
            heights = np.array([bar.get_height() for bar in bars])
            assert heights.sum() == pytest.approx(100)
            expected = np.histogram(dataset[name].values[i, 1], np.linspace(0, 1, 21))[0]
            np.testing.assert_allclose(heights, 100 * expected / expected.sum())
        assert narrow[0].get_width() < wide[0].get_width() / 2
    assert misplaced(figure) == []


def test_action_complexity(dataset):
    reward, walkers = dataset["reward"].values[:, 0], dataset["walker_reward"].values[:, 0]
    k, walk_k = np.arange(reward.size).reshape(reward.shape) % 50, 200 + np.zeros(walkers.shape)
    figure = d.action_complexity(RULES, k, reward, walk_k, walkers)
    assert titles(figure) == [f"rule {rule}" for rule in RULES]
    for i, ax in enumerate(figure.axes):
        np.testing.assert_array_equal(line(ax, "policies"), [k[i], reward[i]])
        np.testing.assert_array_equal(line(ax, "walkers"), [walk_k[i], walkers[i]])
    assert misplaced(figure) == []


def test_without_walkers(dataset):
    none = dataset.isel(walker=slice(0, 0))
    figure = d.distribution(none, rules=[110])
    assert misplaced(figure) == []
    assert "random walkers" not in figure.axes[1].get_title(loc="right")
    assert misplaced(d.histogram(none, rules=[110])) == []


@pytest.mark.parametrize("draw", [d.distribution, d.histogram])
def test_refusals(dataset, draw):
    for wrong in (2, -1, 0.5, "0"):
        with pytest.raises(InputError, match=r"population is .*allowed: 0\.\.1"):
            draw(dataset, wrong)
    with pytest.raises(InputError, match="rule is 30; allowed: one of 184, 110, 164"):
        draw(dataset, rules=[30])
    for wrong in ([], [110, 110], 110, list(range(9)), ["110"]):
        with pytest.raises(InputError, match="rules is"):
            draw(dataset, rules=wrong)
    with pytest.raises(InputError, match=r"dataset is .?without reward"):
        draw(dataset.drop_vars("reward"))
    with pytest.raises(InputError, match="of kind sweep"):
        draw(dataset.assign_attrs(jaxdiff_kind="sweep"))
    with pytest.raises(InputError, match="dataset is 3"):
        draw(3)


def test_more_refusals(dataset):
    with pytest.raises(InputError, match="bins is 0"):
        d.histogram(dataset, bins=0)
    with pytest.raises(InputError, match="longest is 1"):
        d.illustration(longest=1)
    k = np.ones((2, 5))
    with pytest.raises(InputError, match=r"reward is .?of shape"):
        d.action_complexity([110, 164], k, k[:, :4], k, k)
    with pytest.raises(InputError, match=r"walker_reward is .?of shape"):
        d.action_complexity([110, 164], k, k, k[:1], k[:1])
    with pytest.raises(InputError, match="not finite"):
        d.action_complexity([110, 164], k * np.nan, k, k, k)
