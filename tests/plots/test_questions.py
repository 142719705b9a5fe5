import numpy as np
import pytest

from jaxdiff.plots import questions
from jaxdiff.studies import emergence, guided_search, interfaces
from jaxdiff.studies.rule_difficulty import Settings, baseline
from tests.plots.conftest import misplaced, titles

pytestmark = [pytest.mark.slow, pytest.mark.long]

SETTINGS = Settings(rules=(184, 110, 122, 164, *range(30)), policies=60, populations=3, steps=20)


@pytest.fixture(scope="module")
def data():
    base = baseline(SETTINGS)
    search = guided_search.Search(climbers=3, budget=16, patience=4, blind=200)
    return emergence.measure(SETTINGS, base), guided_search.measure(SETTINGS, search, base), interfaces.measure(SETTINGS, base)


def points(ax, place=0):
    return np.asarray(ax.collections[place].get_offsets())


def test_complexity_and_difficulty(data):
    dataset = data[0]
    figure = questions.complexity_and_difficulty(dataset)
    first, second = zip(*(title.split("\n") for title in titles(figure)), strict=True)
    assert first == ("Chained, tolerance 0", "Chained, tolerance 0.25", "Fresh, tolerance 0", "Fresh, tolerance 0.25")
    assert all("Spearman" in line for line in second)
    wanted = dataset.difficulty.sel(strategy="fresh", gamma=0.25).mean("population")
    np.testing.assert_allclose(points(figure.axes[3]), np.stack([dataset.diagram.sel(form="digits"), wanted], 1))
    assert [t for t in misplaced(figure) if "overlaps" not in t[1]] == []


def test_hardness(data):
    figure = questions.hardness(data[0])
    np.testing.assert_allclose(points(figure.axes[0])[:, 1], data[0].h.mean("population"))
    assert [t for t in misplaced(figure) if "overlaps" not in t[1]] == []


@pytest.mark.parametrize("gamma", [0.0, 0.25])
def test_blind_and_guided(data, gamma):
    dataset = data[1]
    figure = questions.blind_and_guided(dataset, gamma)
    searches = guided_search.compare(dataset).sel(gamma=gamma)
    open_marks, filled = points(figure.axes[0], 1), points(figure.axes[0])
    assert len(open_marks) == int((searches.guided_censored | searches.blind_censored).any("population").sum())
    assert len(open_marks) + len(filled) == len(SETTINGS.rules)
    gain = np.sort(searches.gain.mean("population").values)
    drawn = [line.get_xdata()[0] for line in figure.axes[1].lines if line.get_marker() == "o"]
    np.testing.assert_allclose(drawn, [*gain[:8], *gain[-8:]])
    assert [t for t in misplaced(figure) if "overlaps" not in t[1]] == []


def test_interfaces(data):
    dataset = data[2]
    figure = questions.interface_curves(dataset)
    assert titles(figure) == ["rule 184", "rule 110", "rule 122", "rule 164"]
    (line,) = [line for line in figure.axes[1].lines if line.get_label() == "lr"]
    np.testing.assert_allclose(line.get_ydata(), dataset.curve.sel(interface="lr", shown=110, axis="reward").mean("population"))
    assert misplaced(figure) == []
    figure = questions.interface_scatter(dataset)
    assert len(titles(figure)) == 6
    np.testing.assert_allclose(points(figure.axes[2])[:, 1], dataset.difficulty.sel(interface="lr", gamma=0.0)[:, 0])
    assert [t for t in misplaced(figure) if "overlaps" not in t[1]] == []


@pytest.mark.long
def test_few_rules_and_one_population():
    settings = Settings(rules=(30, 90), policies=20, populations=1, steps=5)
    search = guided_search.Search(climbers=2, budget=4, patience=2, blind=20)
    figure = questions.blind_and_guided(guided_search.measure(settings, search))
    assert titles(figure)[1] == "Rule by rule"
    assert len(titles(questions.interface_scatter(interfaces.measure(settings)))) == 5
