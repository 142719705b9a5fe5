import io
import json
from pathlib import Path

import pytest

from jaxdiff.cli import main

DATA = Path(__file__).parents[1] / "data" / "birds"
pytestmark = [pytest.mark.host]


def typed(monkeypatch, *lines):
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


@pytest.mark.long
@pytest.mark.slow
def test_a_person_shoots(tmp_path, capsys, monkeypatch):
    typed(monkeypatch, "help me", "45 101", "20 10", "30 5 1")
    arguments = ["play", "birds", "--level", str(DATA / "declares_utf16.xml"), "--out", str(tmp_path / "out"), "--json"]
    assert main.main(arguments) == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out.splitlines()[-1])
    assert shown["birds"] == len(shown["actions"]) == 2
    assert shown["actions"][0] == pytest.approx([1 / 3, 0.1, 1.0])
    assert shown["passed"] == (shown["pigs_left"] == 0)
    assert captured.err.count("ANGLE PULL") == 3
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"level.png", "episode.gif"}
    assert main.main(arguments) == 2
    assert "without an episode.gif" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--level", "nothing.xml"], "path is 'nothing.xml'"),
        (["--trials", "3"], "trials is 3"),
        (["--seed", "-1"], "seed is -1"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words, capsys):
    assert main.main(["play", "birds", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert main.main(["play", "alchemy", "--level", "x.xml"]) == 2
