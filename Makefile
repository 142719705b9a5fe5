# `make demo` and `make test` create and fill .venv by themselves.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
OUT ?= demo
# The pass in x64 mode is about dtypes and keys, which the compiler's optimisations do not touch: without them it takes half the time.
X64 = JAX_ENABLE_X64=1 JAX_DEBUG_KEY_REUSE=1 XLA_FLAGS="--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"

PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: help demo test test-long test-fast lint format bench bench-ideal-observer bench-accelerator notebooks docs clean

help:
	@echo "make demo               four automata: tables and figures under $(OUT)/"
	@echo "make test               the tests, but for the longest"
	@echo "make test-long          those: whole commands, all notebooks; then x64 mode with key-reuse checks"
	@echo "make test-fast          the quick ones"
	@echo "make lint               ruff and pyright"
	@echo "make bench              every claim of the README's benchmark table, on this machine"
	@echo "make bench-ideal-observer  Alchemy's reference agents on all published episodes: half an hour"
	@echo "make bench-accelerator  on whatever accelerator JAX finds"
	@echo "make notebooks          execute the notebooks in place"

# One stamp an extra, so that nothing is installed that a target does not need.
$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "jaxdiff needs Python 3.11 or later; choose one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.core: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) --editable .
	touch $@

$(VENV)/.%: $(VENV)/.core
	$(PIP) --editable '.[$*]'
	touch $@

demo: $(VENV)/.core
	$(BIN)/jaxdiff measure saeca --rules 184 110 122 164 --strategy chained --policies 2000 --populations 10 --steps 300 --out $(OUT)

test: $(VENV)/.test
	$(PYTEST) -m 'not long'

test-long: $(VENV)/.test
	$(PYTEST) -m long
	$(X64) $(PYTEST) -m 'not slow and not host'

test-fast: $(VENV)/.test
	$(PYTEST) -m 'not slow'

lint: $(VENV)/.lint $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python bench/automata.py
	$(BIN)/python bench/response.py
	$(BIN)/python bench/census.py
	$(BIN)/python bench/sweep.py
	$(BIN)/python bench/kill_resume.py
	$(BIN)/python bench/alchemy.py
	$(BIN)/python bench/society.py
	$(BIN)/python bench/birds.py
	$(BIN)/python bench/measure.py
	$(BIN)/python bench/startup.py

bench-ideal-observer: $(VENV)/.planner
	$(BIN)/python bench/ideal_observer.py

bench-accelerator: $(VENV)/.core
	$(BIN)/python bench/accelerator.py

notebooks: $(VENV)/.notebooks
	$(BIN)/python notebooks/execute.py

clean:
	rm -rf $(VENV) $(OUT) build dist .pytest_cache .ruff_cache
