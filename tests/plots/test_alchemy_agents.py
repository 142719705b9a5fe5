import pytest

from jaxdiff.alchemy import logs
from jaxdiff.core.errors import InputError
from jaxdiff.plots import alchemy_agents
from jaxdiff.studies import reference_agents as study

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def evaluated():
    episodes, events = study.published(study.data_folder(None), 3)
    return {agent: study.evaluate(episodes, logs.published(events, agent).of(episodes.numbers)) for agent in ("ideal_observer", "baseline")}


@pytest.mark.host
def test_the_paper_s_figures(evaluated):
    here = {"ideal_observer": evaluated["ideal_observer"]}
    figures = alchemy_agents.paper_figures(here, evaluated)
    assert list(figures) == ["figure_02", "figure_03", "figure_10"]
    names = [label.get_text() for label in figures["figure_02"].axes[0].get_yticklabels()]
    assert names == ["ideal observer", "baseline (log)"]
    scores = [text.get_text() for text in figures["figure_02"].axes[0].texts]
    assert scores == [f"{evaluated[name]['score'].values.sum(1).mean():.2f}" for name in ("ideal_observer", "baseline")]
    assert len(figures["figure_10"].axes) == 4


@pytest.mark.host
def test_action_kinds_stack_to_the_share_of_episodes_that_act(evaluated):
    figure = alchemy_agents.figure_10({"baseline": evaluated["baseline"]})
    tops = {}
    for bar in figure.axes[0].patches:
        tops[round(bar.get_x(), 3)] = bar.get_y() + bar.get_height()
    kinds = evaluated["baseline"]["kinds"].values[0].sum(-1)
    assert sorted(tops.values(), reverse=True) == pytest.approx(sorted(kinds, reverse=True))


@pytest.mark.host
def test_one_agent(evaluated):
    figure = alchemy_agents.agent(evaluated["baseline"], "baseline")
    assert len(figure.axes) == 4
    with pytest.raises(InputError, match="dataset"):
        alchemy_agents.agent(evaluated["baseline"].assign_attrs(jaxdiff_kind="other"), "baseline")


@pytest.mark.host
def test_no_agent_is_refused():
    with pytest.raises(InputError, match="no agent"):
        alchemy_agents.paper_figures({}, {})
