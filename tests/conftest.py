"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

# Deadlines are timing thresholds; the first example of a property compiles.
settings.register_profile("suite", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("suite")
