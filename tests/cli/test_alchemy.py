import io
import json

import numpy as np
import pytest

from jaxdiff.cli import main

pytest.importorskip("numba", reason="exact planning needs the extra `planner`")
pytestmark = [pytest.mark.host, pytest.mark.slow]


def run(*arguments):
    return main.main([str(a) for a in arguments])


def typed(monkeypatch, *lines):
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


class TestEvaluate:
    @pytest.mark.long
    def test_a_reference_agent_and_its_log(self, tmp_path, capsys):
        """The log that it writes says the same when it is evaluated, with the episodes that it carries."""
        assert run("evaluate", "alchemy", "--agent", "oracle", "--episodes", "3", "--out", tmp_path, "--json") == 0
        captured = capsys.readouterr()
        shown = json.loads(captured.out.splitlines()[-1])
        assert shown["agent"] == "oracle"
        assert {"episode score", "potions in trial 1", "entropy after the episode", "no effect, last trial"} <= shown["numbers"].keys()
        assert "inverse temperature, paired" in captured.err
        assert {path.name for path in tmp_path.iterdir()} == {"log.npz", "evaluation.zarr.zip", "agent.png"}
        assert run("evaluate", "alchemy", "--agent", tmp_path / "log.npz", "--json") == 0
        again = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert again["numbers"] == shown["numbers"]

    @pytest.mark.long
    @pytest.mark.slow
    def test_the_ideal_observer_with_rotation_and_regret(self, tmp_path, capsys):
        arguments = ["--agent", "ideal_observer", "--episodes", "2", "--rotation", "--regret", "1", "--out", tmp_path, "--json"]
        assert run("evaluate", "alchemy", *arguments) == 0
        captured = capsys.readouterr()
        shown = json.loads(captured.out.splitlines()[-1])
        assert sum(shown["regret"].values()) == pytest.approx(0, abs=1e-9)
        assert "points lost against the ideal observer" in captured.err
        assert (tmp_path / "play.npz").is_file()

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--agent", "nobody"], "agent is nobody, which is no file"),
            (["--agent", "nowhere.npz:baseline"], "agent is nowhere.npz:baseline, which is no file"),
            (["--episodes", "some"], "episodes is 'some'"),
            (["--episodes", "published:0"], "episodes is 0"),
            (["--episodes", "published:1001"], "episodes is 1001"),
            (["--episodes", "0"], "episodes is 0"),
            (["--rotation"], "rotation is True"),
            (["--regret", "-1"], "regret is -1"),
            (["--data", "nowhere"], "data is 'nowhere'"),
        ],
    )
    def test_bad_input_is_one_sentence(self, arguments, words, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert run("evaluate", "alchemy", *arguments, "--out", tmp_path / "out") == 2
        captured = capsys.readouterr()
        assert words in captured.err
        assert len(captured.err.strip().splitlines()) == 1
        assert captured.out == ""

    @pytest.mark.parametrize(("change", "words"), [("slot", "used already"), ("score", "in the log"), ("short", "log is of")])
    def test_a_log_of_another_episode_is_one_sentence(self, change, words, tmp_path, capsys):
        stone, potion = np.full((2, 10, 3), -1), np.full((2, 10, 3), -2)
        stone[:, :, 0], potion[:, :, 0] = 0, -1
        score = {}
        if change == "slot":
            stone[1, 4, 1], potion[1, 4, 1] = 0, 5
        elif change == "score":
            score = {"trial_score": np.full((2, 10), 7)}
        else:
            stone, potion = stone[:1], potion[:1]
        np.savez(tmp_path / "log.npz", stone=stone, potion=potion, **score)
        assert run("evaluate", "alchemy", "--agent", tmp_path / "log.npz", "--episodes", "published:2") == 2
        captured = capsys.readouterr()
        assert words in captured.err
        assert len(captured.err.strip().splitlines()) == 1


class TestPlay:
    @pytest.mark.long
    def test_a_game_is_shown_and_logged_and_measured(self, tmp_path, capsys, monkeypatch):
        typed(monkeypatch, "help", "belief", "9 red", "1 c", "1 c", "end", "2 cauldron")
        assert run("play", "alchemy", "--trials", "2", "--out", tmp_path, "--json") == 0
        captured = capsys.readouterr()
        shown = json.loads(captured.out)
        for words in ("trial 1, 20 steps left", "trial 2, 20 steps left", "chemistries are possible", "STONE COLOUR", "stopped", "potions"):
            assert words in captured.err
        assert shown["regret"] is None
        with np.load(tmp_path / "log.npz") as log:
            assert log["stone"].shape == (1, 2, 20)
            assert log["stone"][0, :, 0].tolist() == [0, 1]
            assert log["trial_score"][0].tolist() == shown["scores"]
        assert run("evaluate", "alchemy", "--agent", tmp_path / "log.npz", "--json") == 0
        assert json.loads(capsys.readouterr().out)["numbers"]["episode score"][0] == shown["score"]

    @pytest.mark.long
    def test_what_was_played_is_kept_however_it_ends(self, tmp_path, capsys, monkeypatch):
        def interrupted(lines=iter(["1 c\n"])):  # noqa: B008
            line = next(lines, None)
            if line is None:
                raise KeyboardInterrupt
            return line

        monkeypatch.setattr("sys.stdin", type("Typing", (), {"readline": staticmethod(interrupted)})())
        assert run("play", "alchemy", "--trials", "3", "--out", tmp_path / "me", "--json") == 0
        shown = json.loads(capsys.readouterr().out)
        with np.load(tmp_path / "me" / "log.npz") as log:
            assert log["stone"].shape == (1, 1, 20), "trials that were not begun are none of the player's"
            assert log["trial_score"][0].tolist() == shown["scores"]
        before = (tmp_path / "me" / "log.npz").read_bytes()
        assert run("evaluate", "alchemy", "--agent", tmp_path / "me" / "log.npz", "--out", tmp_path / "me", "--json") == 0
        told = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert told["numbers"]["episode score"] == [shown["score"], None], "one episode has no standard error"
        assert (tmp_path / "me" / "log.npz").read_bytes() == before

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--agent", "nowhere.npz"], "which is no file"),
            (["--seed", "-1"], "seed is -1"),
            (["--episodes", "many"], "episodes is 'many'"),
        ],
    )
    def test_the_right_setting_is_named(self, arguments, words, capsys):
        assert run("evaluate", "alchemy", *arguments) == 2
        assert words in capsys.readouterr().err

    @pytest.mark.long
    @pytest.mark.slow
    def test_advice_and_regret(self, capsys, monkeypatch):
        typed(monkeypatch, "advice", "1 c", "2 c", "3 c")
        assert run("play", "alchemy", "--trials", "1", "--advice", "--json") == 0
        captured = capsys.readouterr()
        assert "expected" in captured.err
        assert captured.err.count("regret") >= 4
        assert json.loads(captured.out)["regret"] > 0

    def test_without_numba_the_game_goes_on(self, capsys, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "jaxdiff.alchemy.planner", None)
        monkeypatch.delattr("jaxdiff.alchemy.planner", raising=False)
        typed(monkeypatch, "advice", "1 c", "quit")
        assert run("play", "alchemy", "--trials", "1") == 0
        assert "jaxdiff[planner]" in capsys.readouterr().out
        assert run("play", "alchemy", "--trials", "1", "--advice") == 2
        assert "jaxdiff[planner]" in capsys.readouterr().err

    @pytest.mark.parametrize(("arguments", "words"), [(["--trials", "0"], "trials is 0"), (["--trials", "11"], "trials is 11")])
    def test_bad_input_is_one_sentence(self, arguments, words, capsys):
        assert run("play", "alchemy", *arguments) == 2
        assert words in capsys.readouterr().err

    def test_a_log_is_never_written_over(self, tmp_path, capsys, monkeypatch):
        (tmp_path / "log.npz").write_text("mine")
        assert run("play", "alchemy", "--out", tmp_path) == 2
        assert "without a log.npz" in capsys.readouterr().err


class TestReproduce:
    @pytest.mark.long
    @pytest.mark.slow
    def test_tables_rows_and_figures(self, tmp_path, capsys):
        """The whole command on few episodes; what was played is not played again."""
        assert run("reproduce", "alchemy", "--episodes", "3", "--rotated", "2", "--out", tmp_path, "--json") == 0
        captured = capsys.readouterr()
        shown = json.loads(captured.out.splitlines()[-1])
        assert shown["judged"] == sum(row["inside"] is not None for row in shown["rows"])
        assert json.loads((tmp_path / "rows.json").read_text()) == shown["rows"]
        for words in ("Table 1", "Figure 2", "Figure 3", "Figure 10", "Rotated episodes (2, published by nobody)", "judged rows"):
            assert words in captured.err
        figures = {f"figure_{name}{where}.png" for name in ("02", "03", "10") for where in ("", "_rotated")}
        assert figures <= {path.name for path in tmp_path.iterdir()}
        assert {"play_published.npz", "play_rotated.npz", "published_oracle.zarr.zip"} <= {path.name for path in tmp_path.iterdir()}

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--episodes", "0"], "episodes is 0"),
            (["--episodes", "1001"], "episodes is 1001"),
            (["--rotated", "-1"], "rotated is -1"),
            (["--data", "nowhere"], "data is 'nowhere'"),
        ],
    )
    def test_bad_input_is_one_sentence(self, arguments, words, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert run("reproduce", "alchemy", *arguments) == 2
        captured = capsys.readouterr()
        assert words in captured.err
        assert len(captured.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [("evaluate", "FILE.npz:AGENT"), ("play", "Tell the regret after each action"), ("reproduce", "How many of the published episodes")],
)
def test_help_teaches(command, words, capsys):
    with pytest.raises(SystemExit) as stop:
        run(command, "--help")
    assert stop.value.code == 0
    assert words in " ".join(capsys.readouterr().out.split())
