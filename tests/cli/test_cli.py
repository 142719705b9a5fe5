import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jaxdiff.cli import doctor, main
from jaxdiff.studies import complexity_distribution as study
from jaxdiff.sweep import labelled

ROOT = Path(__file__).parents[2]
QUICK = ["--policies", "60", "--steps", "12"]


def run(*arguments):
    return main.main([str(a) for a in arguments])


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured") / "deep" / "folder"
    assert run("measure", "saeca", "--rules", "184", "110", *QUICK, "--out", folder) == 0
    return folder


def test_measure_prints_tables_and_writes_what_it_names(measured, capsys):
    assert run("measure", "saeca", "--rules", "184", "110", *QUICK, "--out", measured) == 0
    out = capsys.readouterr().out
    for word in ("R_max", "D_pos(0)", "184", "110", "hardest to play best", "discriminates best", "random walk"):
        assert word in out
    names = {line.removeprefix("wrote ") for line in out.splitlines() if line.startswith("wrote ")}
    assert names == {str(p) for p in measured.iterdir()}, "every file is named, and nothing else is left"
    assert {p.suffix for p in measured.iterdir()} == {".zip", ".png"}
    assert all(p.read_bytes()[:4] == b"\x89PNG" for p in measured.glob("*.png"))


def test_a_results_file_is_opened_again(measured, capsys):
    path = measured / "measurement.zarr.zip"
    assert run("measure", "--load", path, "--json") == 0
    shown = json.loads(capsys.readouterr().out.splitlines()[-1])
    data = labelled.load(path, study.KIND)
    assert [row["rule"] for row in shown["rules"]] == [184, 110]
    assert shown["rules"][0]["r_max"] == float(data.r_max.sel(rule=184)[0])
    assert shown["rules"][1]["difficulty_positive"]["0.25"] == pytest.approx(
        float(data.difficulty.sel(rule=110, side="positive", statistic="median").sel(gamma=0.25, method="nearest")[0])
    )


@pytest.mark.slow
def test_json_is_the_last_line_and_alone_on_standard_output(capsys):
    assert run("measure", "--rules", "30", *QUICK, "--strategy", "fresh", "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["settings"]["strategy"] == "fresh"
    assert "R_max" in captured.err


def test_list_and_doctor(capsys):
    assert run("list", "--json") == 0
    captured = capsys.readouterr()
    assert all(f"│ {name} " in captured.err for name in ("Alchemy-v0", "Birds-v0", "Lambda-v0", "SAECA-v0")), "the table keeps its names"
    # Other tests of the same process may have registered worlds of their own.
    worlds = {world["name"]: world for world in json.loads(captured.out.splitlines()[-1])["worlds"]}
    assert {"Alchemy-v0", "Birds-v0", "Lambda-v0", "SAECA-v0"} <= set(worlds)
    assert list(worlds) == sorted(worlds)
    assert worlds["Lambda-v0"]["options"]["agents"] == 1
    assert worlds["Lambda-v0"]["entries"] == ["cell of Good", "cell of Evil", "its own cell"]
    assert worlds["SAECA-v0"]["options"]["width"] == 21
    assert run("doctor", "--json") == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report["right"] is True
    assert len(report["checks"]) == 4
    assert report["versions"]["jax"]


def test_doctor_notices_a_wrong_number(monkeypatch, capsys):
    monkeypatch.setitem(doctor.GOLDEN, 110, 1)
    assert run("doctor") == 1
    assert "WRONG" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.slow
def test_reproduce_writes_rows_and_all_figures(tmp_path, monkeypatch, capsys):
    """The whole command on tiny populations."""
    from jaxdiff.studies import paper_numbers, reproduction

    for numbers in (paper_numbers.CHAINED, paper_numbers.DIFFICULTY, paper_numbers.DISTINCT):
        monkeypatch.setitem(numbers, 95, numbers[1900])
    monkeypatch.setattr(reproduction, "SIZES", (95,))
    assert run("reproduce", "complexity-distribution", "--size", "95", "--populations", "2", "--out", tmp_path, "--json") == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out.splitlines()[-1])
    assert shown["judged"] == sum(row["inside"] is not None for row in shown["rows"])
    assert json.loads((tmp_path / "rows.json").read_text())[0].keys() == shown["rows"][0].keys()
    for word in ("Table 1", "Table 2", "paper", "difference", "within tolerance"):
        assert word in captured.err
    assert {int(p.name.split("_")[1]) for p in tmp_path.glob("figure_*.png")} == set(range(1, 14))


def test_a_place_that_is_taken_is_told_in_one_sentence(tmp_path, capsys):
    (tmp_path / "measurement.zarr.zip").mkdir()
    assert run("measure", "--rules", "30", *QUICK, "--out", tmp_path) == 2
    error = capsys.readouterr().err
    assert error.startswith("jaxdiff: cannot use")
    assert "Traceback" not in error
    assert [p.name for p in tmp_path.iterdir()] == ["measurement.zarr.zip"]


def test_where_no_rule_discriminates(capsys):
    assert run("measure", "--rules", "0", "255", "--policies", "2", "--steps", "1") == 0
    out = capsys.readouterr().out
    assert "undetermined" in out
    assert "nan" not in out


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.host
def test_results_are_written_even_if_nobody_reads_on(tmp_path):
    command = f"{sys.executable} -m jaxdiff measure --rules 30 {' '.join(QUICK)} --out {tmp_path}/x | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert "Traceback" not in done.stderr
    assert (tmp_path / "x" / "measurement.zarr.zip").exists()


@pytest.mark.host
def test_a_terminal_without_unicode_and_a_platform_that_is_not_there():
    base = {**os.environ, "PYTHONPATH": str(ROOT)}
    plain = subprocess.run(
        [sys.executable, "-m", "jaxdiff", "list"], capture_output=True, check=False, env={**base, "PYTHONIOENCODING": "ascii"}
    )
    assert plain.returncode == 0
    lost = subprocess.run(
        [sys.executable, "-m", "jaxdiff", "doctor"], capture_output=True, text=True, check=False, env={**base, "JAX_PLATFORMS": "cuda"}
    )
    assert lost.returncode == 2
    assert "Traceback" not in lost.stderr


def test_the_whole_policy_space(tmp_path, capsys):
    assert run("measure", "saeca", "--census", "4", "--rules", "110", "164", "--steps", "20", "--out", tmp_path, "--json") == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out.splitlines()[-1])
    assert (shown["behaviours"], shown["programs"]) == (125, 1555)
    assert [(row["rule"], row["weighting"]) for row in shown["rows"]][:3] == [(110, "programs"), (164, "programs"), (110, "shortest")]
    assert "1,555 programs" in captured.err
    assert {p.name for p in tmp_path.iterdir()} == {"whole_space.zarr.zip", "sampled_and_exact.png"}


READ_ONLY = Path("/proc/nothing")


def short(tmp_path):
    path = tmp_path / "short.zarr.zip"
    path.write_bytes(b"PK\x03\x04 not much")
    return path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["measure", "--rules", "256"], "rules is '256'"),
        (["measure", "--rules", "-1"], "rules is '-1'"),
        (["measure", "--rules", "many"], "rules is 'many'"),
        (["measure", "--rules", "²"], "rules is '²'"),
        (["measure", "--rules", "30", "--populations", "1000000000"], "in all populations together"),
        (["measure", "--strategy", "random_walk", "--walk-steps", "1000000000"], "walk_steps is 1000000000"),
        (["measure", "--rules", "30", "30"], "every rule once"),
        (["measure", "chess"], "world is 'chess'"),
        (["measure", "--width", "2"], "width is 2"),
        (["measure", "--width", "500"], "63 bits"),
        (["measure", "--start", "21"], "start is 21"),
        (["measure", "--start", "-1"], "start is -1"),
        (["measure", "--steps", "0"], "steps is 0"),
        (["measure", "--policies", "0"], "policies is 0"),
        (["measure", "--populations", "0"], "populations is 0"),
        (["measure", "--observation", "up"], "observation is 'up'"),
        (["measure", "--load", "nowhere.zarr.zip"], "load is 'nowhere.zarr.zip'"),
        (["measure", "--load", short], "cut short"),
        (["measure", "--rules", "30", "--out", READ_ONLY], "a folder that can be made and written"),
        (["measure", "--census", "25"], "minutes to count"),
        (["measure", "--census", "0"], "census is 0"),
        (["measure", "--census", "3", "--load", "x"], "load is PosixPath('x'); allowed: nothing, with census"),
        (["measure", "--census", "3", "--policies", "7"], "policies is 7; allowed: nothing, with census"),
        (["measure", "--load", "x", "--rules", "7"], "rules is ('7',); allowed: nothing, with load"),
        (["reproduce", "--size", "7"], "size is 7"),
        (["reproduce", "--populations", "0"], "populations is 0"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*(a(tmp_path) if callable(a) else a for a in arguments)) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.err.startswith("jaxdiff: ")
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.out == ""
    assert {p.name for p in tmp_path.iterdir()} <= {"short.zarr.zip"}, "nothing half-written"


@pytest.mark.parametrize(
    "arguments", [["measure", "--nonsense"], ["measure", "--strategy", "guess"], ["measure", "--steps", "many"], ["play-chess"]]
)
def test_what_the_parser_refuses_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        run(*arguments)
    assert stop.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_results_of_another_kind(tmp_path, capsys):
    import xarray as xr

    path = labelled.save(xr.Dataset({"x": ("a", np.arange(2))}), tmp_path / "other", "something-else")
    assert run("measure", "--load", path) == 2
    assert "of kind 'something-else'" in capsys.readouterr().err


def test_help_teaches(capsys):
    with pytest.raises(SystemExit) as stop:
        run("measure", "--help")
    assert stop.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for words in ("Rule numbers 0..255", "one in twenty is a random walker", "Cells of the ring", "(default: 300)"):
        assert words in text


@pytest.mark.host
def test_the_installed_program_runs_and_a_reader_may_stop_early():
    program = Path(sys.executable).with_name("jaxdiff")
    command = [str(program)] if program.exists() else [sys.executable, "-m", "jaxdiff.cli.main"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    listed = subprocess.run([*command, "list"], capture_output=True, text=True, check=True, env=environment)
    assert "SAECA-v0" in listed.stdout
    refused = subprocess.run([*command, "measure", "--rules", "256"], capture_output=True, text=True, check=False, env=environment)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Traceback" not in refused.stderr


@pytest.mark.long
@pytest.mark.slow
def test_the_questions(tmp_path, capsys):
    arguments = ["--rules", "184", "110", "30", "--policies", "40", "--steps", "12", "--climbers", "2", "--budget", "8", "--patience", "3"]
    assert run("reproduce", "questions", *arguments, "--out", tmp_path, "--json") == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out.splitlines()[-1])
    assert [row["rule"] for row in shown["rules"]] == [184, 110, 30]
    assert set(shown["answers"]) == {"emergence", "guided_search", "interfaces"}
    assert shown["settings"]["populations"] == 3
    assert {p.name for p in tmp_path.iterdir()} == {Path(name).name for name in shown["files"]}
    assert {p.name for p in tmp_path.glob("*.zip")} == {f"{name}.zarr.zip" for name in shown["answers"]}
    for word in ("section 6.1", "section 6.2", "section 6.3", "helps most", "do not seem to correlate", "95 % interval"):
        assert word in captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["questions", "--rules", "110"], "at least two rules"),
        (["questions", "--rules", "256", "1"], "rules is '256'"),
        (["questions", "--size", "9500"], "nothing, for questions"),
        (["questions", "--budget", "0"], "budget is 0"),
        (["complexity-distribution", "--rules", "110"], "nothing, for complexity-distribution"),
    ],
)
def test_questions_refuse_bad_input(arguments, words, capsys):
    assert run("reproduce", *arguments) == 2
    assert words in capsys.readouterr().err
