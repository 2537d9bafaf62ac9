# Everything runs from .venv, which the first target that needs it makes.
# `make serve` on a fresh machine installs, fetches the model files, builds the index and serves; each step is skipped when done.

PYTHON ?= python3.11
PORT ?= 7860
BIN := .venv/bin
STAMP := .venv/.installed
# Each test worker takes 1.6 GB, the browser tests 2 GB more; with more than two, whole files are handed out all the same.
WORKERS ?= 2
# What runs side by side prints when it is done; make before 4.0 mixes the lines.
IN_TURN := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.PHONY: serve ask test models lint types contract gate install

serve: $(STAMP)
	@$(BIN)/gpu-advisor serve --port $(PORT)

ask: models
	@$(BIN)/gpu-advisor ask "$(Q)"

models: $(STAMP)
	@$(BIN)/gpu-advisor models pull >/dev/null

install: $(STAMP)

# The stamp is written last, so an interrupted installation starts again. pip would compile 25,000 files on one core, the
# tests of all packages among them; some files are no Python and stay as they are, as with pip.
$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip==26.1
	$(BIN)/python -m pip install --progress-bar on --no-compile -c constraints.txt -e . --group dev
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' .venv/lib || true
	@touch $(STAMP)

# The gate builds the index that the tests with the real models use, while types are checked on another core.
test: $(STAMP)
	@$(MAKE) --no-print-directory -j2 $(IN_TURN) lint contract types gate
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

gate: models
	$(BIN)/python -m evals gate

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contract: $(STAMP)
	$(BIN)/lint-imports
