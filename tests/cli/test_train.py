"""`jaxdiff train` and `jaxdiff evaluate --agent FOLDER`, end to end on the smallest preset, and what they refuse."""

import dataclasses
import json
import subprocess
import sys

import pytest

from jaxdiff.agents import learner
from jaxdiff.cli.main import main
from jaxdiff.core.errors import InputError
from jaxdiff.studies import alchemy_agents, reference_agents
from jaxdiff.studies.alchemy_agents import Settings

EVENTS = reference_agents.data_folder(None) / reference_agents.PUBLISHED[1]

pytestmark = pytest.mark.usefixtures("quick_compilation")
RUN = ["train", "alchemy", "--preset", "smoke", "--steps", "1600", "--devices", "1", "--json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.mark.long
@pytest.mark.slow
def test_train_and_evaluate(folder, capsys):
    watched = ["--evaluate-updates", "1", "--held-out", "2"]
    assert main([*RUN, *watched, "--seeds", "0", "1", "--episodes", "published:3", "--out", str(folder)]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out.splitlines()[-1])
    assert [run["seed"] for run in result["runs"]] == [0, 1]
    for run in result["runs"]:
        assert run["steps"] == 1600
        assert set(run["sampled"]) >= {"episode score", "score, trial 1", "score, last trial", "no effect", "policy entropy"}
        assert (folder / f"seed-{run['seed']}" / "policy" / "parameters.npz").exists()
    assert "ideal observer (paper)" in printed.err
    assert "1,600 steps" in printed.err
    assert "held out" in printed.err
    (line,) = (json.loads(text) for text in (folder / "seed-0" / "metrics.jsonl").read_text().splitlines())
    assert {"held_out_score", "held_out_error", "held_out_first", "held_out_last"} <= line.keys()
    again = main([*RUN, "--seeds", "0", "--episodes", "published:3", "--out", str(folder)])
    repeated = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert again == 0
    assert repeated["runs"][0]["sampled"] == result["runs"][0]["sampled"], "a finished run is read, not trained again"
    assert main(["evaluate", "alchemy", "--agent", str(folder / "seed-0"), "--episodes", "published:3", "--json"]) == 0
    evaluated = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert evaluated["numbers"]["episode score"] == result["runs"][0]["sampled"]["episode score"]


@pytest.mark.long
@pytest.mark.slow
def test_a_study_reads_what_has_finished(folder, monkeypatch):
    """One condition, two seeds; then a third seed, for which alone anything is trained."""
    given = reference_agents.published(reference_agents.data_folder(None), 3)[0]
    settings = Settings(None, (0, 1), preset="smoke", steps=1600, inputs=("none",), auxiliaries=("none",))
    first = alchemy_agents.run(settings, given, folder=folder / "study")
    (outcomes,) = first.outcomes.values()
    assert [o.steps for o in outcomes] == [1600, 1600]
    assert outcomes[0].sampled["episode score"].mean == pytest.approx(sum(outcomes[0].trial_scores))
    assert outcomes[0].kinds.shape[0] == 2
    assert (folder / "study" / "none-none" / "seed-1" / "policy" / "parameters.npz").exists()
    asked, real = [], learner.train
    monkeypatch.setattr(learner, "train", lambda config, run, **rest: asked.append(run.seed) or real(config, run, **rest))
    again = alchemy_agents.run(dataclasses.replace(settings, seeds=(0, 1, 2)), given, folder=folder / "study")
    assert asked == [2]
    assert again.rows[0].seeds[:2] == first.rows[0].seeds
    with pytest.raises(InputError, match="environment_steps: 1600, not 3200"):
        alchemy_agents.run(dataclasses.replace(settings, steps=3200), given, folder=folder / "study")


@pytest.mark.long
@pytest.mark.slow
def test_where_a_trained_agent_loses(folder, capsys):
    pytest.importorskip("numba", reason="exact planning needs the extra `planner`")
    assert main([*RUN, "--seeds", "0", "--episodes", "0", "--out", str(folder)]) == 0
    capsys.readouterr()
    assert main(["evaluate", "alchemy", "--agent", str(folder / "seed-0"), "--episodes", "published:3", "--regret", "1", "--json"]) == 0
    printed = capsys.readouterr()
    told = json.loads(printed.out.splitlines()[-1])
    assert told["answer"].startswith("It loses ")
    assert "points an episode against the ideal observer (1 episode): " in told["answer"]
    assert " ".join(printed.err.split()).count(told["answer"]) == 1
    assert sum(told["regret"].values()) > 50, "it has learned next to nothing"
    for kind, lost in told["regret"].items():
        assert len(told["regret_by_trial"][kind]) == 10
        assert sum(told["regret_by_trial"][kind]) == pytest.approx(lost)


@pytest.mark.host
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--preset", "tiny"], "preset is 'tiny'; allowed: one of smoke, cpu, hour, gpu, paper-vmpo, paper-impala"),
        (["--core", "rnn"], "core is 'rnn'; allowed: one of slots, gru, lstm, gtrxl"),
        (["--algorithm", "dqn"], "algorithm is 'dqn'"),
        (["--input", "all"], "input is 'all'; allowed: one of none, truth, belief, marginals"),
        (["--auxiliary", "colours"], "auxiliary is"),
        (["--seeds", "1", "1"], "seeds is"),
        (["--seeds"], "seeds is ()"),
        (["--seconds", "5", "--steps", "5"], "a budget in seconds or in steps, not both"),
        (["--environments", "6"], "a multiple of minibatches = 4"),
        (["--episodes", "some"], "episodes is 'some'"),
        (["--kickstart", "1"], "kickstart is 1.0; allowed: only with a teacher"),
        (["--imitate"], "imitate is True; allowed: only with a teacher"),
        (["--teacher", "x.npz", "--imitate", "--kickstart", "1"], "kickstart is 1.0; allowed: nothing with imitate"),
        (["--teacher", "nothing.npz"], "teacher is nothing.npz"),
        (["--teacher", str(EVENTS) + ":ideal_observer"], "a log with 1000 of the episodes that agents are tested on"),
        (["--teacher", str(EVENTS) + ":nobody"], "teacher is 'nobody'"),
        (["--evaluate-minutes", "-1"], "evaluate_minutes is -1"),
        (["--evaluate-updates", "0"], "evaluate_updates is 0"),
        (["--held-out", "0"], "held_out is 0"),
    ],
)
def test_refusals(arguments, said, capsys):
    assert main(["train", "alchemy", "--preset", "smoke", "--devices", "1", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.host
def test_a_reference_agent_is_not_greedy(capsys):
    assert main(["evaluate", "alchemy", "--agent", "oracle", "--greedy"]) == 2
    assert "greedy is True; allowed: only with a trained agent" in capsys.readouterr().err


@pytest.mark.host
def test_the_command_line_needs_no_flax():
    code = "import sys\nimport jaxdiff, jaxdiff.cli.main\nassert not {'flax', 'optax', 'orbax'} & set(sys.modules)\n"
    subprocess.run([sys.executable, "-c", code], check=True)
