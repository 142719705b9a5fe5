"""`jaxdiff train` and `jaxdiff evaluate --agent FOLDER`, end to end on the smallest preset, and what they refuse."""

import json
import subprocess
import sys

import pytest

from jaxdiff.cli.main import main

pytestmark = pytest.mark.usefixtures("quick_compilation")
RUN = ["train", "alchemy", "--preset", "smoke", "--steps", "1600", "--devices", "1", "--json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.mark.long
@pytest.mark.slow
def test_train_and_evaluate(folder, capsys):
    assert main([*RUN, "--seeds", "0", "1", "--episodes", "published:3", "--out", str(folder)]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out.splitlines()[-1])
    assert [run["seed"] for run in result["runs"]] == [0, 1]
    for run in result["runs"]:
        assert run["steps"] == 1600
        assert set(run["sampled"]) >= {"episode score", "score, trial 1", "score, last trial", "no effect", "policy entropy"}
        assert (folder / f"seed-{run['seed']}" / "policy" / "parameters.npz").exists()
    assert "ideal observer (paper)" in printed.err
    assert "1,600 steps" in printed.err
    again = main([*RUN, "--seeds", "0", "--episodes", "published:3", "--out", str(folder)])
    repeated = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert again == 0
    assert repeated["runs"][0]["sampled"] == result["runs"][0]["sampled"], "a finished run is read, not trained again"
    assert main(["evaluate", "alchemy", "--agent", str(folder / "seed-0"), "--episodes", "published:3", "--json"]) == 0
    evaluated = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert evaluated["numbers"]["episode score"] == result["runs"][0]["sampled"]["episode score"]


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
