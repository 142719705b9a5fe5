import pytest

from jaxdiff.core.adapters.optional import needed
from jaxdiff.core.errors import InputError

pytestmark = pytest.mark.host


def test_what_is_not_installed_names_its_extra():
    with pytest.raises(InputError, match=r"no_such_library is not installed .*pip install 'jaxdiff\[birds\]'"):
        needed("no_such_library", "birds")


def test_what_is_installed_is_given():
    assert needed("json", "nothing").dumps([]) == "[]"
