import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from jaxdiff.core.errors import InputError
from jaxdiff.plots import measurement, spacetime
from jaxdiff.plots.paper import paper_figures


@pytest.fixture(autouse=True)
def short_runs(monkeypatch):
    """The space-time diagrams have tests of their own; here they only have to be there."""
    for name in ("figure_5", "figure_6", "figure_7"):
        monkeypatch.setattr(spacetime, name, lambda *_: spacetime.spacetime(np.zeros((3, 5), int)))


def test_all_thirteen(dataset):
    fresh = dataset.assign_attrs(strategy="fresh")
    figures = paper_figures(dataset, fresh=fresh, larger=dataset)
    assert {int(stem.split("_")[1]) for stem in figures} == set(range(1, 14))
    assert list(figures) == sorted(figures)
    assert "figure_11_comparison" in figures
    for figure in figures.values():
        assert isinstance(figure, Figure)
        assert isinstance(figure.canvas, FigureCanvasAgg)
        assert figure.get_figwidth() <= 10
    assert len({id(figure) for figure in figures.values()}) == len(figures)


def test_what_the_data_allow(dataset):
    stems = set(paper_figures(dataset.isel(rule=[0]).assign_attrs(strategy="fresh")))
    assert "figure_08_distribution" in stems
    assert not any(stem.startswith(("figure_09", "figure_12")) for stem in stems)


def test_refusals(dataset):
    with pytest.raises(InputError, match=r"fresh is .?of strategy chained"):
        paper_figures(dataset, fresh=dataset)
    with pytest.raises(InputError, match="population is 7"):
        paper_figures(dataset, population=7)
    with pytest.raises(InputError, match="dataset is None"):
        paper_figures(None)


def test_figures_of_a_measurement(dataset):
    stems = list(measurement.measurement_figures(dataset))
    assert stems[0] == "comparison", "the first to look at first"
    assert set(stems) == {"comparison", "response_curves", "rewards_by_complexity", "reward_histogram", "automata", "action_complexity"}
    assert "action_complexity" not in measurement.measurement_figures(dataset.drop_vars(["action_complexity", "walker_action_complexity"]))


def test_of_many_rules_eight_are_drawn_from_easy_to_hard(dataset):
    many = dataset.isel(rule=[0, 1, 2] * 4).assign_coords(rule=np.arange(12))
    many["difficulty"] = many["difficulty"] * 0 + np.arange(12)[::-1].reshape(12, 1, 1, 1, 1)
    assert measurement.typical_rules(many) == [11, 9, 8, 6, 5, 3, 2, 0]
    assert measurement.typical_rules(dataset) == dataset.rule.values.tolist()
