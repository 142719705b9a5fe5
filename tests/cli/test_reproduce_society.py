import json

import pytest

from jaxdiff.cli import reproduce_society
from jaxdiff.studies.society import Settings


@pytest.mark.slow
def test_tables_rows_and_figures(tmp_path, capsys):
    """The whole command on tiny sessions."""
    settings = Settings(sessions=8, steps=200, long=300, tune_sessions=2, other_sessions=8)
    assert reproduce_society.run(settings, tmp_path, True) == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out.splitlines()[-1])
    assert shown["study"] == "society"
    assert shown["judged"] == sum(row["inside"] is not None for row in shown["rows"])
    for words in ("Figure 2 right", "Figure 6", "Sessions for a 95 % interval", "Rates tuned", "change, 0 to 1", "judged rows"):
        assert words in captured.err
    names = {path.name for path in tmp_path.iterdir()}
    assert {"rows.json", "curves.npz", "difficulty.png", "evolution.png", "figure_05_teams.png"} <= names
