"""Settings of the whole suite."""

import os

from hypothesis import HealthCheck, settings

# Deadlines are timing thresholds; the first example of a property compiles.
settings.register_profile("suite", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("suite")

# Under way, not part of this version, and not yet run to the end on a quiet machine: societies.
# JAXDIFF_UNDERWAY=1 collects their tests too.
if not os.environ.get("JAXDIFF_UNDERWAY"):
    collect_ignore = [
        "society",
        "studies/test_society.py",
        "plots/test_society.py",
        "cli/test_reproduce_society.py",
        "core/test_adapters_multi_agent.py",
    ]
