import json

import numpy as np
import pytest

from jaxdiff.cli import main, reproduce_society
from jaxdiff.studies.society import Settings
from jaxdiff.sweep import pieces


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.usefixtures("quick_compilation")
def test_tables_rows_and_figures(tmp_path, capsys):
    """The whole command on tiny sessions."""
    settings = Settings(sessions=8, steps=200, long=300, tune_sessions=2, other_sessions=8)
    assert reproduce_society.run(settings, tmp_path, True) == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out.splitlines()[-1])
    assert shown["study"] == "society"
    assert shown["judged"] == sum(row["inside"] is not None for row in shown["rows"])
    said = (
        "Figure 2 right",
        "Figure 6",
        "Sessions for a 95 % interval",
        "Rates tuned",
        "first selection (generation 0 to 1)",
        "judged rows",
    )
    for words in said:
        assert words in captured.err
    names = {path.name for path in tmp_path.iterdir()}
    assert {"rows.json", "runs", "difficulty.png", "evolution.png", "figure_05_teams.png"} <= names
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    rows = (tmp_path / "rows.json").read_text()
    assert reproduce_society.run(settings, tmp_path, False) == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()} == made, "nothing is run twice"
    assert (tmp_path / "rows.json").read_text() == rows


def test_pieces_are_made_once_for_the_same_settings(tmp_path):
    made = []

    def make(value):
        made.append(value)
        return {"x": np.array([value])}

    keep = pieces.keeper(tmp_path / "runs")
    assert keep("Some piece", {"seed": 1}, lambda: make(1))["x"] == 1
    assert keep("Some piece", {"seed": 1}, lambda: make(2))["x"] == 1
    assert keep("Some piece", {"seed": 2}, lambda: make(3))["x"] == 3, "other settings"
    (path,) = (tmp_path / "runs").iterdir()
    for broken in (path.read_bytes()[:40], b"", b"not a file of arrays"):
        path.write_bytes(broken)
        assert keep("Some piece", {"seed": 2}, lambda: make(4))["x"] == 4, "half a file does not count"
    assert made == [1, 3, 4, 4, 4]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--sessions", "2"], "sessions is 2"), (["--size", "9500"], "nothing, for society"), (["--rules", "30"], "nothing, for society")],
)
def test_bad_input(arguments, words, capsys):
    assert main.main(["reproduce", "society", *arguments]) == 2
    assert words in capsys.readouterr().err
