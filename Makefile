# The few commands, the same for people and for CI.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

# Compiled once, not again by each of the many processes that a run starts.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install demo test lint format bench faults simulation screenshots clean

help:
	@echo "make install     the environment alone (.venv)"
	@echo "make demo        everything, working, to look at (ARGS=--once ends by itself)"
	@echo "make test        the whole test suite (ARGS='-k keys' for a part)"
	@echo "make lint        formatting, linting, types"
	@echo "make bench       the benchmarks, each beside its floor"
	@echo "make faults      real processes killed at random for 20 minutes (ARGS='--faults 100' for less)"
	@echo "make screenshots the pictures of the console in docs/images"
	@echo "make simulation  100,000 simulated lives (ARGS='--seed 7' for one, told in full)"

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml config/constraints.txt
	@PYTHON=$(PYTHON) .ci/system-packages build
	@echo "installing Farhand's packages into $(VENV) (about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@# A person sees pip at work; a log gets only what goes wrong.
	@[ -t 1 ] || quietly=--quiet; $(BIN)/python -m pip install $$quietly --disable-pip-version-check \
	    --constraint config/constraints.txt --editable '.[server,machine,embedded-mongodb,development]'
	@touch $@

demo: install
	@.ci/system-packages run
	@$(BIN)/farhand demo $(ARGS)

test: install
	@.ci/system-packages run tests
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(ARGS)

lint: install
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

format: install
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: install
	@.ci/system-packages run
	@$(BIN)/python -m benchmarks $(ARGS)

faults: install
	@.ci/system-packages run tests
	@$(BIN)/python -m tests.faults $(ARGS)

screenshots: install
	@.ci/system-packages run tests
	@$(BIN)/python -m tests.browser $(ARGS)

simulation: install
	@$(BIN)/python -m tests.simulation $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
