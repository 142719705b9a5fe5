"""The paper's conditions: what is run in which order, what is read instead of run, rows beside the paper's, figures, the command."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("optax", reason="training needs the extra `agents`")
from jaxdiff.agents import config as configs
from jaxdiff.agents.config import TrainConfig
from jaxdiff.cli.main import main
from jaxdiff.core.errors import InputError
from jaxdiff.plots import trained_agents as plots
from jaxdiff.studies import alchemy_agents as study
from jaxdiff.studies import reference_agents, training_runs
from jaxdiff.studies.alchemy_agents import Condition, Settings
from jaxdiff.studies.reference_agents import Number
from jaxdiff.studies.training_runs import Outcome

pytestmark = pytest.mark.host
SCORES = {"oracle": 288.5, "ideal observer": 284.4, "V-MPO": 155.4, "random heuristic": 145.7}


def outcome(seed, score=200.0):
    numbers = {name: Number(score if name == "episode score" else 3.0 + seed, 1.0) for name in study.QUANTITIES}
    kinds = np.full((2, 12, 4), 0.25)
    curve = tuple((1000 * i, float(i), score * i / 5) for i in range(1, 6))
    return Outcome(seed, 5000, 10.0, 1.0, numbers, numbers, tuple(np.linspace(15, 20, 10)), kinds, curve)


@pytest.fixture(scope="module")
def whole():
    """Scores by condition and seed that are easy to check: 100 times the number of the condition, plus the seed."""
    settings = Settings(seeds=(0, 1, 2))
    conditions = settings.conditions
    return study.Study(settings, {c: tuple(outcome(s, 100.0 * i + s) for s in settings.seeds) for i, c in enumerate(conditions)})


def test_conditions_and_their_configurations():
    settings = Settings(core="gru", interface="types", seconds=7)
    assert [c.name for c in settings.conditions][:4] == ["none-none", "belief-none", "truth-none", "none-features"]
    assert len(settings.conditions) == 9
    config = settings.config(Condition("truth", "chemistry"))
    assert (config.network.core, config.auxiliary, config.seconds) == ("gru", ("chemistry",), 7)
    assert dict(config.world.options) == {"see": "ground_truth", "typed_actions": True}
    for wrong, said in (
        ({"seeds": ()}, "seeds is"),
        ({"seeds": (1, 1)}, "seeds is"),
        ({"seeds": (-1,)}, "seeds is -1"),
        ({"inputs": ("all",)}, "inputs is 'all'"),
        ({"core": "rnn"}, "core is 'rnn'"),
        ({"interface": "mouse"}, "interface is 'mouse'"),
        ({"seconds": 0}, "seconds is 0"),
        ({"seconds": None}, "a budget in seconds or in steps"),
    ):
        with pytest.raises(InputError, match=said):
            Settings(**wrong)


def test_runs_are_told_seed_by_seed_and_kept_apart(tmp_path, monkeypatch):
    calls = []

    def run(config, seed, episodes, *, folder, **_):
        calls.append((folder.relative_to(tmp_path).as_posix(), config))
        return outcome(seed)

    monkeypatch.setattr(training_runs, "run", run)
    settings = Settings(seeds=(4, 5), inputs=("none", "truth"), auxiliaries=("none",))
    said = []
    done = study.run(settings, None, folder=tmp_path, say=said.append)
    assert [name for name, _ in calls] == ["none-none/seed-4", "truth-none/seed-4", "none-none/seed-5", "truth-none/seed-5"]
    assert calls[0][1] == calls[2][1] == settings.config(Condition("none", "none"))
    assert said[3] == "run 4 of 4: input truth, predicts nothing, seed 5"
    assert [o.seed for o in done.outcomes[Condition("truth", "none")]] == [4, 5]


def test_rows_beside_the_papers(whole):
    rows = {(row.condition, row.quantity): row for row in whole.rows}
    assert len(rows) == 9 * len(study.QUANTITIES)
    first, second = rows["none-none", "episode score"], rows["belief-none", "episode score"]
    assert (first.table, first.paper, first.here, first.seeds) == ("Figure 4", 155.4, 1.0, (0.0, 1.0, 2.0))
    assert first.error == pytest.approx(1 / 3**0.5)
    assert second.here == 101
    assert np.isnan(second.paper)
    assert "much higher than without" in second.words
    assert all(row.inside is None for row in whole.rows)
    assert rows["none-none", "potions in trial 1"].table == "Figure 5 a"
    assert "27 in all" in whole.budget
    json.dumps(first.as_dict(), allow_nan=False)


def test_what_was_kept_is_the_same_and_belongs_to_one_run(tmp_path):
    kept = outcome(3)
    about = {"seed": 3, "config": json.loads(configs.to_json(TrainConfig()))}
    text = json.dumps({"about": about, "outcome": {**training_runs.asdict(kept), "kinds": kept.kinds.tolist()}})
    (tmp_path / "result.json").write_text(text)
    found = training_runs._read(tmp_path / "result.json", about)
    assert replace(found, kinds=None) == replace(kept, kinds=None)
    np.testing.assert_array_equal(found.kinds, kept.kinds)
    assert training_runs._read(tmp_path / "result.json", {**about, "seed": 4}) is None
    other = {**about, "config": json.loads(configs.to_json(TrainConfig(seconds=1.0)))}
    assert training_runs._read(tmp_path / "result.json", other) is None
    earlier = {name: value for name, value in about["config"].items() if name != "auxiliary_weight"} | {"version": 2}
    (tmp_path / "result.json").write_text(json.dumps({**json.loads(text), "about": {"seed": 3, "config": earlier}}))
    assert training_runs._read(tmp_path / "result.json", about) is not None
    (tmp_path / "result.json").write_text(text[:-9])
    assert training_runs._read(tmp_path / "result.json", about) is None
    assert training_runs._read(tmp_path / "nothing", about) is None
    one, other = reference_agents.drawn(2, 0, False), reference_agents.drawn(2, 1, False)
    assert training_runs._digest(one) == training_runs._digest(reference_agents.drawn(2, 0, False)) != training_runs._digest(other)


def test_figures_show_every_seed(whole):
    figure = plots.figure_4(whole, SCORES)
    ax = figure.axes[0]
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert len(dots) == 9
    assert sorted(dots[0].get_ydata()) == [0, 1, 2]
    assert {text.get_text() for text in ax.texts} == {"oracle 288.5", "ideal observer 284.4", "V-MPO 155.4", "random heuristic 145.7"}
    curves = plots.figure_9(whole, SCORES)
    thin = [line for line in curves.axes[0].lines if line.get_linewidth() < 1]
    assert len(thin) == 9
    assert [len(a.patches) for a in plots.figure_10(whole).axes] == [48] * 8
    assert len(plots.by_trial(whole, [20.0] * 10).axes) == 3
    two = plots.compared({"slots": [outcome(0, 200.0), outcome(1, 210.0)], "gru": [outcome(0, 150.0)]}, SCORES, [20.0] * 10, "two")
    assert [len([k for k in ax.lines if k.get_linewidth() < 1]) for ax in two.axes] == [3, 3]
    assert [text.get_text() for text in two.legends[0].get_texts()] == ["slots", "gru", "ideal observer"]
    assert len(plots.figure_5(whole, {"ideal observer": {"potions in trial 1": 8.5}}).axes) == 4


@pytest.mark.long
@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(training_runs, "run", lambda config, seed, episodes, **_: outcome(seed, 150.0 + len(config.auxiliary)))
    monkeypatch.setattr(study, "published", lambda *_: ({"ideal observer": {"potions in trial 1": 8.5}}, [25.0] * 10))
    arguments = ["reproduce", "alchemy-agents", "--seeds", "0", "1", "--seconds", "5", "--episodes", "2", "--out", str(tmp_path), "--json"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out.splitlines()[-1])
    assert len(result["rows"]) == 9 * len(study.QUANTITIES)
    assert json.loads((tmp_path / "rows.json").read_text())["rows"] == result["rows"]
    assert {p.name for p in tmp_path.glob("*.png")} == {"figure_04.png", "figure_05.png", "figure_09.png", "figure_10.png", "trials.png"}
    for words in ("155.4", "very near the ideal observer", "151.0 151.0", "460 TPUv2 core-hours", "random heuristic (paper)"):
        assert words in printed.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "1", "1"], "seeds is"),
        (["--core", "rnn"], "core is 'rnn'"),
        (["--interface", "mouse"], "interface is 'mouse'"),
        (["--seconds", "0"], "seconds is 0"),
        (["--seed", "3"], "seed is 3; allowed: nothing, for alchemy-agents"),
        (["--episodes", "1001"], "episodes is 1001"),
    ],
)
def test_refusals(arguments, said, capsys):
    assert main(["reproduce", "alchemy-agents", *arguments]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert len(printed.err.strip().splitlines()) == 1
