import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.plots import response
from tests.plots.conftest import RULES, line, misplaced, titles

pytestmark = [pytest.mark.host, pytest.mark.slow]


def left_axes(figure):
    return [ax for ax in figure.axes if ax.get_title(loc="left")]


def test_illustration_is_a_response_curve():
    figure = response.illustration()
    theta, level = line(figure.axes[0], "curve")
    assert (np.diff(level) >= 0).all()
    assert level[theta >= 8] == pytest.approx(1)
    assert level[theta <= -4.5] == pytest.approx(-1)
    assert np.interp(0, theta, level) == pytest.approx(0, abs=1e-9)
    assert misplaced(figure) == []


@pytest.mark.parametrize("population", [0, 1])
def test_curves_draw_the_dataset(dataset, population):
    figure = response.curves(dataset, population)
    assert titles(figure) == [f"rule {rule}" for rule in RULES]
    for i, ax in enumerate(left_axes(figure)):
        row = dataset.isel(rule=i, population=population)
        theta, reward = line(ax, "curve")
        np.testing.assert_array_equal(theta, row["curve_theta"].values)
        np.testing.assert_array_equal(reward, row["curve_reward"].values)
        statistic = dataset.attrs["statistic"]
        for gamma in (0.0, 0.25):
            marks = sorted(float(a.get_xdata()[0]) for a in ax.lines if a.get_label() == f"γ = {gamma:g}")
            high, low = (float(row["difficulty"].sel(side=side, statistic=statistic, gamma=gamma)) for side in ("positive", "negative"))
            assert marks == pytest.approx([-low, high])
    assert misplaced(figure) == []


def test_the_right_axis_normalises(dataset):
    figure = response.curves(dataset)
    for i, (ax, right) in enumerate(zip(left_axes(figure), [ax for ax in figure.axes if ax not in left_axes(figure)], strict=True)):
        row = dataset.isel(rule=i, population=0)
        assert right.get_ylim() == ax.get_ylim()
        for place, label in zip(right.get_yticks(), right.get_yticklabels(), strict=True):
            level = float(label.get_text().replace("−", "-"))
            nearest = np.argmin(np.abs(row["curve_normalised"].values - level))
            assert place == pytest.approx(float(row["curve_reward"].values[nearest]))


def test_median_and_band(dataset):
    figure = response.curves(dataset, None)
    for i, ax in enumerate(left_axes(figure)):
        each = dataset["curve_theta"].values[i]
        theta, reward = line(ax, "curve")
        np.testing.assert_allclose(theta, np.median(each, axis=0))
        (band,) = ax.collections
        x = np.concatenate([path.vertices[:, 0] for path in band.get_paths()])
        assert x.min() == pytest.approx(np.quantile(each, 0.05, axis=0).min())
        assert x.max() == pytest.approx(np.quantile(each, 0.95, axis=0).max())
        assert (np.diff(reward) >= -1e-12).all()
    assert "median and 90 % band of 2 populations" in figure.get_suptitle()
    assert misplaced(figure) == []


def test_compare_draws_every_rule_on_one_scale(dataset):
    figure = response.compare(dataset, 1)
    (ax,) = figure.axes
    curves = [a for a in ax.lines if a.get_label() == "curve"]
    assert len(curves) == len(RULES)
    for i, curve in enumerate(curves):
        np.testing.assert_array_equal(curve.get_xdata(), dataset["curve_theta"].values[i, 1])
        np.testing.assert_array_equal(curve.get_ydata(), dataset["curve_normalised"].values[i, 1])
    looks = [(a.get_linestyle(), str(a._dash_pattern)) for a in curves]
    assert len(set(looks)) == len(looks), "told apart without colour"
    markers = [a.get_marker() for a in ax.lines if a.get_label() == "γ = 0"]
    assert len(set(markers)) == len(markers)
    written = [t.get_text() for t in ax.texts]
    for i in range(len(RULES)):
        row = dataset.isel(rule=i, population=1)
        for gamma in (0.0, 0.25):
            value = float(row["difficulty"].sel(side="positive", statistic=dataset.attrs["statistic"], gamma=gamma))
            assert f"{value:.1f}" in written
    assert misplaced(figure) == []


def test_compare_shows_all_populations_unless_told(dataset):
    ax = response.compare(dataset).axes[0]
    assert len(ax.collections) == len(RULES), "a band a rule"
    assert len(response.compare(dataset.isel(population=[0])).axes[0].collections) == 0


def test_a_rule_where_all_policies_score_the_same(dataset):
    """Then R_min = R_mean = R_max, and no logistic curve is determined."""
    same = dataset.copy(deep=True)
    same["curve_reward"][0] = 0.25
    same["curve_theta"][0] = 0.0
    same["irt_slope_at_b"][0] = np.nan
    assert misplaced(response.curves(same, None)) == []
    figure = response.compare(same, 0)
    assert "–" in [t.get_text() for t in figure.axes[0].texts]
    assert misplaced(figure) == []


def test_labels_that_would_touch_are_moved_apart():
    places = response._apart(np.array([1.0, 5.0, 5.1, 5.2, 9.9]), 0.5, 9.7)
    assert (np.diff(places) >= 0.5 - 1e-12).all()
    assert places[-1] <= 9.7
    np.testing.assert_allclose(response._apart(np.array([1.0, 3.0]), 0.5, 9.0), [1.0, 3.0])


@pytest.mark.parametrize("draw", [response.curves, response.compare])
def test_refusals(dataset, draw):
    for wrong in (2, -1, 1.5):
        with pytest.raises(InputError, match=r"population is .*allowed: 0\.\.1"):
            draw(dataset, wrong)
    with pytest.raises(InputError, match="rule is 30"):
        draw(dataset, rules=[30])
    with pytest.raises(InputError, match="without curve_theta"):
        draw(dataset.drop_vars("curve_theta"))
