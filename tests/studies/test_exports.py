import csv
import json

import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.studies import adaptive, assembly, exports, item_bank

pytestmark = [pytest.mark.slow, pytest.mark.host]


def lines_of(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_the_response_matrix_in_both_orientations(taken, tmp_path):
    wide = lines_of(exports.response_matrix(taken, tmp_path / "persons.csv"))
    tall = lines_of(exports.response_matrix(taken, tmp_path / "items.csv", "items"))
    assert wide[0][0] == "person"
    assert tall[0][0] == "item"
    assert [row[1:] for row in wide[1:]] == [list(row) for row in zip(*(line[1:] for line in tall[1:]), strict=True)]
    assert wide[0][1:] == [line[0] for line in tall[1:]]
    column = wide[0].index("chained-110")
    np.testing.assert_array_equal([int(row[column]) for row in wide[1:]], taken.success.sel(strategy="chained", rule=110))


def test_py_irt_lines(taken, tmp_path):
    lines = [json.loads(line) for line in exports.py_irt(taken, tmp_path / "answers.jsonlines").read_text().splitlines()]
    assert len(lines) == 120
    assert set(lines[0]) == {"subject_id", "responses"}
    assert len({line["subject_id"] for line in lines}) == 120
    for line in (lines[0], lines[77]):
        person = int(line["subject_id"].removeprefix("person-"))
        assert line["responses"]["fresh-164"] == int(taken.success.sel(person=person, strategy="fresh", rule=164))
        assert len(line["responses"]) == 12
        assert set(line["responses"].values()) <= {0, 1}


def test_catsims_item_matrix(bank, tmp_path):
    header, *rows = lines_of(exports.catsim_items(bank, tmp_path / "items.csv"))
    matrix = np.load(exports.catsim_items(bank, tmp_path / "items.npy"))
    np.testing.assert_array_equal(matrix, [[float(x) for x in row[1:5]] for row in rows])
    assert header == ["item", "a", "b", "c", "d", "a_per_bit", "b_bits"]
    assert (matrix[:, 2] == 0).all()
    assert (matrix[:, 3] == 1).all()
    items, scale = assembly.flat(bank), adaptive.scale_of(bank)
    for row in rows:
        one = items.sel(item=row[0])
        assert float(row[1]) == pytest.approx(float(one.item_a) * scale.unit)
        assert scale.from_catsim(float(row[2])) == pytest.approx(float(one.item_b))
        assert float(row[6]) == float(one.item_b)
    catsim = pytest.importorskip("catsim")
    np.testing.assert_array_equal(catsim.ItemBank(matrix, validate=False).difficulty, matrix[:, 1])


def test_all_rewards_in_a_long_table(swept, tmp_path):
    few = swept.sel(rule=[30, 110]).isel(policy=slice(0, 7))
    header, *rows = lines_of(exports.rewards(few, tmp_path / "rewards.csv"))
    assert header == ["strategy", "seed", "rule", "policy", "complexity", "reward"]
    assert len(rows) == 2 * 2 * 2 * 7
    k = item_bank.populations(few)[1].complexity
    (one,) = (row for row in rows if row[:4] == ["chained", "1", "110", "5"])
    numerator = int(few.numerator.sel(strategy="chained", seed=1, rule=110)[5])
    assert float(one[5]) == numerator / (few.attrs["scale"] * few.attrs["steps"])
    assert int(one[4]) == k[5]


def test_refusals_leave_nothing(bank, taken, tmp_path):
    for call in (
        lambda: exports.response_matrix(taken, tmp_path / "nowhere" / "x.csv"),
        lambda: exports.response_matrix(taken, tmp_path / "x.csv", "columns"),
        lambda: exports.catsim_items(bank, tmp_path / "x.txt"),
        lambda: exports.py_irt(taken, tmp_path / "nowhere" / "x"),
    ):
        with pytest.raises(InputError):
            call()
    assert not list(tmp_path.iterdir())
