import pytest
from matplotlib.figure import Figure

from jaxdiff.core.errors import InputError
from jaxdiff.plots import bound
from jaxdiff.plots.files import save

pytestmark = pytest.mark.host


def test_a_picture_of_the_right_size_and_no_leftovers(tmp_path):
    path = save(bound.bound(), tmp_path / "figure", dpi=50)
    assert path == tmp_path / "figure.png"
    assert list(tmp_path.iterdir()) == [path]
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    assert int.from_bytes(head[16:20], "big") == 500
    again = save(bound.bound(), str(tmp_path / "again.png"), dpi=50)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<?xml"), ("a.pdf", b"%PDF")])
def test_other_formats(tmp_path, name, start):
    assert save(bound.bound(), tmp_path / name).read_bytes().startswith(start)


def test_a_failure_leaves_the_old_file(tmp_path):
    class Broken(Figure):
        def savefig(self, *args, **kwargs):
            raise RuntimeError("no ink")

    path = save(bound.bound(), tmp_path / "a.png", dpi=30)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="no ink"):
        save(Broken(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_refusals(tmp_path):
    with pytest.raises(InputError, match="path is"):
        save(bound.bound(), tmp_path / "a.gif")
    with pytest.raises(InputError, match="folder that can be written"):
        save(bound.bound(), tmp_path / "nowhere" / "a.png")
    with pytest.raises(InputError, match="dpi is 0"):
        save(bound.bound(), tmp_path / "a.png", dpi=0)
