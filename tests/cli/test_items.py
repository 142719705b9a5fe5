import json

import pytest

from jaxdiff.cli import main
from jaxdiff.studies import bank_table, item_bank
from tests import sweeps

pytestmark = pytest.mark.slow


def run(*arguments):
    return main.main([str(a) for a in arguments])


@pytest.fixture(scope="module")
def bank():
    return item_bank.items(sweeps.sweep((0, 30, 110), seeds=1))


@pytest.mark.parametrize("suffix", ["zarr", "csv"])
def test_a_bank_is_listed(bank, tmp_path, capsys, suffix):
    path = tmp_path / f"bank.{suffix}"
    (bank_table.write if suffix == "csv" else item_bank.save)(bank, path)
    assert run("list", "items", "--by", "rule", "--bank", path, "--strategy", "fresh", "--json") == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out.splitlines()[-1])
    assert [row["rule"] for row in shown["items"]] == [0, 30, 110]
    assert shown["items"][0]["item_a"] is None
    assert shown["items"][2]["r_max"] == pytest.approx(float(bank.r_max.sel(strategy="fresh", rule=110)), rel=1e-6)
    assert "fresh-110" in captured.err


def test_the_reference_table_is_listed_without_a_bank(capsys):
    assert run("list", "items", "--by", "difficulty", "--count", 7) == 0
    out = capsys.readouterr().out
    assert "7 of 512 items" in out
    assert "D_pos(0.25)" in out
    assert "b (bits)" in " ".join(out.split())
    assert sum(line.lstrip("│ ").startswith(("fresh-", "chained-")) for line in out.splitlines()) == 7


def test_worlds_are_listed_with_their_names(capsys):
    assert run("list", "worlds") == 0
    out = capsys.readouterr().out
    for name in ("SAECA-v0", "Alchemy-v0"):
        assert f"│ {name}" in out
    assert "observe_used=True" in out


def test_a_table_that_is_no_text(tmp_path, capsys):
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00\x81")
    assert run("list", "items", "--bank", tmp_path / "a.csv") == 2
    assert "not readable as text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--count", "0"], "count is 0"),
        (["--strategy", "levin"], "strategy is 'levin'"),
        (["--bank", "nowhere.zarr"], "store is nowhere.zarr, which is no folder"),
        (["--bank", "nowhere.csv"], "bank is 'nowhere.csv'"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("list", "items", *arguments) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.out == ""
