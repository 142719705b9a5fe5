import itertools

import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import irt
from jaxdiff.studies import assembly

pytestmark = [pytest.mark.slow, pytest.mark.host]


def test_hand_picked_items_differ_in_class_and_are_the_best_together(bank):
    test = assembly.hand_picked(bank, 3, (1, 4))
    assert test.sizes["item"] == 3
    assert len(set(test.representative.values.tolist())) == 3, "rules 110 and 124 are one class"
    np.testing.assert_allclose(test.ability, [1.0, 2.5, 4.0])
    np.testing.assert_allclose(test.information, irt.information(test.ability.values, test.item_a.values, test.item_b.values))
    items = assembly.flat(bank)
    items = items.isel(item=np.flatnonzero(assembly.usable(items)))
    told = irt.information(test.ability.values[:, None], items.item_a.values, items.item_b.values)
    classes = items.representative.values
    best = max(
        told[[0, 1, 2], list(chosen)].sum()
        for chosen in itertools.permutations(range(items.sizes["item"]), 3)
        if len({classes[i] for i in chosen}) == 3
    )
    assert float(test.information.sum()) == pytest.approx(best)


def test_items_that_tell_nothing_are_never_picked(bank):
    test = assembly.hand_picked(bank, 3)
    assert test.determined.all()
    assert not {0, 255} & set(test.rule.values.tolist())
    assert {str(s) for s in assembly.hand_picked(bank, 2, strategy="chained").strategy.values} == {"chained"}
    assert assembly.hand_picked(bank, 1, (2, 4)).ability.values == 3.0


def test_flat_names_items(bank, taken):
    items, answers = assembly.flat(bank), assembly.flat(taken)
    assert items.sizes["item"] == 12
    np.testing.assert_array_equal(items.item, answers.item)
    one = items.sel(item="chained-110")
    assert float(one.r_max) == float(bank.r_max.sel(strategy="chained", rule=110))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 0}, "count is 0"),
        ({"count": 50}, "count is 50; allowed: at most 3"),
        ({"abilities": ()}, "abilities is"),
        ({"abilities": ("x",)}, "abilities is"),
        ({"strategy": "levin"}, "strategy is 'levin'"),
    ],
)
def test_bad_input(bank, change, words):
    with pytest.raises(InputError, match=words):
        assembly.hand_picked(bank, **change)
