import json

import pytest

from jaxdiff.studies.paper_rows import VERDICTS, PaperRow


@pytest.mark.host
def test_a_number_that_nobody_published_is_null_in_json():
    row = PaperRow(table="Table 1", quantity="score", paper=float("nan"), here=2.0, inside=None)
    assert json.loads(json.dumps(row.as_dict(), allow_nan=False))["difference"] is None
    assert VERDICTS[row.inside] == "(informational)"
    assert PaperRow(table="Table 1", quantity="score", paper=1.5, here=2.0, inside=True).difference == 0.5
