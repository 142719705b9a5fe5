import zlib

import numpy as np
import pytest

from jaxdiff.studies import emergence as study
from jaxdiff.studies.rule_difficulty import Settings
from tests import oracles

pytestmark = pytest.mark.slow

SETTINGS = Settings(rules=(184, 110, 122, 164, 0, 204), policies=60, populations=3, steps=25)


@pytest.fixture(scope="module")
def dataset():
    return study.measure(SETTINGS)


def test_a_constant_diagram_is_the_simplest():
    rng = np.random.default_rng(0)
    for encoding in study.ENCODINGS:
        constant = study.compressed(np.zeros((40, 21), np.uint8), encoding)
        assert constant <= study.compressed(np.indices((40, 21)).sum(0) % 2, encoding)
        assert constant < study.compressed(rng.integers(0, 2, (40, 21), dtype=np.uint8), encoding)


def test_the_paper_s_order_of_complexity_holds_under_every_encoding_of_its_world():
    for encoding in study.ENCODINGS[:-1]:
        size = study.diagram_complexity(study.PAPER_ORDER["diagram"], 21, 300, encoding)
        assert (np.diff(size) > 0).all(), encoding


def test_diagrams_are_those_of_the_automaton(dataset):
    for rule in SETTINGS.rules:
        rows = [[i % 2 for i in range(21)]]
        for _ in range(25):
            rows.append(oracles.eca_step(rows[-1], rule))
        text = "".join(str(cell) for row in rows for cell in row).encode()
        assert int(dataset.diagram.sel(rule=rule, form="digits")) == len(zlib.compress(text, 6)) - 8
        bits = bytes(int("".join(map(str, row)).ljust(24, "0")[k : k + 8], 2) for row in rows for k in (0, 8, 16))
        assert int(dataset.diagram.sel(rule=rule, form="packed_rows")) == len(zlib.compress(bits, 6)) - 8


def test_everything_is_there(dataset):
    assert dict(dataset.sizes) == {"rule": 6, "form": 5, "strategy": 2, "population": 3, "gamma": 3}
    assert (dataset.difficulty.sel(rule=0) == 0).all()
    assert (dataset.difficulty.isel(gamma=0) >= dataset.difficulty.isel(gamma=2)).all()
    assert dataset.representative.values.tolist() == [184, 110, 122, 164, 0, 204]
    assert (dataset.h > 0).all()


def test_answers_hold_what_is_asked(dataset):
    rows = {row.quantity: row for row in study.answers(dataset)}
    assert len(rows) == len(study.answers(dataset))
    for strategy in study.STRATEGIES:
        for what in ("D_pos(0)", "D_pos(0.25)", "hbar"):
            row = rows[f"diagram and {what}, {strategy}"]
            assert row.low <= row.value <= row.high
            assert row.least <= row.value <= row.most
            assert -1 <= rows[f"{what}, {strategy}: two populations"].value <= 1
    assert "-0.8" in rows["diagram and D_pos(0.25), chained"].paper
    assert np.isfinite(rows["h and hbar, fresh"].value)


def test_the_paper_s_rank_correlations():
    """.4 and -.8: Spearman of the orders that section 6.1 gives."""
    from jaxdiff.difficulty.indicators import spearman

    rank = {name: [order.index(r) for r in (184, 110, 122, 164)] for name, order in study.PAPER_ORDER.items()}
    assert spearman(rank["diagram"], rank["D_pos(0)"]) == pytest.approx(0.4)
    assert spearman(rank["diagram"], rank["D_pos(0.25)"]) == pytest.approx(-0.8)
    assert all(f"{value:g}" in text for value, text in ((0.4, study._PAPER_RHO[0.0]), (-0.8, study._PAPER_RHO[0.25])))


def test_orders_of_the_paper_s_rules(dataset):
    rows = {name: (paper, here) for name, paper, here in study.orders(dataset)}
    assert rows["complexity of the diagram"][0] == "164 < 184 < 122 < 110"
    assert rows["D_pos(0.25), chained"][0] == "110 < 184 < 122 < 164"
    four = dataset.sel(rule=[164, 184, 122, 110]).diagram.sel(form="digits")
    here = rows["complexity of the diagram"][1].replace("=", "<").split(" < ")
    assert [int(four.sel(rule=int(r))) for r in here] == sorted(four.values.tolist())
    assert study._order([1, 2, 3], [5.0, 4.0, 5.0]) == "2 < 1 = 3"
