import json

import pytest

from jaxdiff.cli import main
from jaxdiff.sweep import store as stores

pytestmark = pytest.mark.host
GRID = ["--rules", "110", "30", "--strategies", "fresh", "--policies", "40", "--steps", "7", "--walkers", "0"]


def run(*arguments):
    return main.main([str(a) for a in arguments])


def test_plan_sweep_and_go_on(tmp_path, capsys):
    out = tmp_path / "deep" / "bank.zarr"
    assert run("sweep", "saeca", *GRID, "--out", out, "--dry-run", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert not out.exists()
    assert [line["strategy"] for line in plan["lines"]] == ["fresh"]
    assert plan["lines"][0]["policy_steps"] == 2 * 40 * 7
    assert plan["store_bytes"] == 4 * 2 * 40 + 40 * 20
    assert plan["lines"][0]["seconds"] > 0

    assert run("sweep", "saeca", *GRID, "--out", out) == 0
    assert "2 tasks computed, 0 found done" in capsys.readouterr().out
    assert stores.load(out).numerator.shape == (1, 1, 2, 40)

    assert run("sweep", "saeca", *GRID, "--out", out, "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["done"]["computed"] == []
    assert f"{out} is whole" in "".join(captured.err.split("\n"))

    assert run("sweep", "saeca", *GRID, "--out", out, "--dry-run") == 0
    words = capsys.readouterr().out.split()
    assert words[words.index("fresh") + 2 : words.index("fresh") + 5 : 2] == ["1", "1"]  # tasks, done


@pytest.mark.slow
def test_a_damaged_item_bank_is_made_again(tmp_path, capsys):
    out = tmp_path / "bank.zarr"
    assert run("sweep", "saeca", *GRID, "--out", out) == 0
    metadata = out / "items" / "zarr.json"
    whole = metadata.read_text()
    metadata.write_text(whole.replace('"gamma": 0.', '"gamma": 1.'))
    assert metadata.read_text() != whole
    capsys.readouterr()
    assert run("export", out, "items", "--out", tmp_path / "items.csv") == 2
    assert "damaged" in capsys.readouterr().err
    assert run("sweep", "saeca", *GRID, "--out", out) == 0
    assert "made again" in capsys.readouterr().out
    assert metadata.read_text() == whole
    assert run("export", out, "py-irt", "--most", "30", "--out", tmp_path / "a.jsonl") == 2
    assert "no searcher can try more policies" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rules", "300"], "rules is '300'"),
        (["--policies", "0"], "policies is 0"),
        (["--batch", "0"], "batch is 0"),
        (["--processes", "2"], "coordinator is None"),
        (["--join-timeout", "0"], "join_timeout is 0"),
        (["chess"], "world is 'chess'"),
        (["--policies", "41"], "another name, or the same sweep; the one there has policies 40, not 41"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, capsys, arguments, said):
    out = tmp_path / "bank.zarr"
    if "41" in arguments:
        assert run("sweep", *GRID, "--out", out) == 0
        before = sorted(out.rglob("*"))
        capsys.readouterr()
    given = dict(zip(GRID[3::2], GRID[4::2], strict=True)) | {"--rules": "110"}
    for name in given.keys() - set(arguments):
        arguments = [*arguments, name, given[name]]
    assert run("sweep", *arguments, "--out", out) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.out == ""
    if "41" in arguments:
        assert sorted(out.rglob("*")) == before
    else:
        assert not out.exists()
