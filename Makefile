# Everything is done by the `backport` command in .venv; see `.venv/bin/backport --help`.

PYTHON ?= python3
SERIES ?= ocata/bug-1783613
NOVA ?=
ONTO ?=
BRANCH ?= ocata
ARGS ?=
# Through the environment, so that any path survives the shell.
export SERIES NOVA ONTO

BIN := .venv/bin
# Twice quiet: no warnings either; errors are shown.
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help backport test test-quick lint format bench bench-pairs bench-replay schema clean \
        distclean unreleased release submit

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  NOVA=PATH|URL   a nova clone (left out: one is made from the release on the index)"
	@echo "  SERIES=NAME     a folder under patches/ (now $(SERIES))"
	@echo "  ONTO=REV        the commit to go onto (left out: the tip of the stable branch)"
	@echo "  ARGS='…'        further options of 'backport run', such as ARGS=--dry-run"

backport: .venv/run.stamp  ## apply the series, prove it, make the branch: the main job
	@$(BIN)/backport run "$$SERIES" $${NOVA:+--checkout "$$NOVA"} $${ONTO:+--onto "$$ONTO"} --report build/report $(ARGS)

unreleased: .venv/run.stamp  ## list what the branch holds since its last tag
	@$(BIN)/backport unreleased $${NOVA:+--checkout "$$NOVA"} $(ARGS)

release: .venv/release.stamp  ## work out the next version, its notes and its request
	@$(BIN)/backport release $${NOVA:+--checkout "$$NOVA"} $(ARGS)

submit: .venv/run.stamp  ## send the series to Gerrit; ARGS=--dry-run shows the push
	@$(BIN)/backport submit "$$SERIES" $${NOVA:+--checkout "$$NOVA"} $${ONTO:+--onto "$$ONTO"} --report build/report $(ARGS)

test: .venv/dev.stamp  ## run all tests, those on real nova included
	$(BIN)/pytest -m "not nova" -n 2
	$(BIN)/pytest -m nova

test-quick: .venv/dev.stamp  ## run the tests that need neither the network nor Python 2.7
	$(BIN)/pytest -m "not nova" -n 2

lint: .venv/dev.stamp  ## ruff and mypy --strict, over the tests too
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/dev.stamp  ## let ruff put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/dev.stamp  ## measure speed, as ratios within one run
	PYTHONPATH=tests $(BIN)/python -m bench $(ARGS)

bench-pairs: .venv/dev.stamp  ## prove history's own pairs of recreate test and fix; needs NOVA=
	PYTHONPATH=tests $(BIN)/python -m bench pairs

bench-replay: .venv/dev.stamp  ## apply every backport that a branch ever took (BRANCH=pike …), and compare
	PYTHONPATH=tests $(BIN)/python -m bench.replay $(if $(NOVA),"$$NOVA",$(error bench-replay: name a clone of nova: NOVA=PATH)) $(BRANCH) $(ARGS)

schema: .venv/run.stamp  ## print the JSON schema of the report
	@$(BIN)/backport schema

clean:  ## remove the built-in checkout and the reports
	rm -rf build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis

distclean: clean  ## also remove the tool's own virtual environment
	rm -rf .venv *.egg-info

.venv/python.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "Python 3.10 or newer is needed; name one with: make PYTHON=python3.12" >&2; exit 2; }
	@echo "Setting up the tool in .venv (once)" >&2
	@$(PYTHON) -m venv --clear .venv || \
	  { rm -rf .venv; echo "Python's venv module is needed (Debian: apt install python3-venv)" >&2; exit 2; }
	@touch $@

.venv/run.stamp: pyproject.toml | .venv/python.stamp
	@$(PIP) install --editable .
	@touch $@

.venv/release.stamp: pyproject.toml | .venv/python.stamp
	@$(PIP) install --editable '.[release]'
	@touch $@ .venv/run.stamp

.venv/dev.stamp: pyproject.toml | .venv/python.stamp
	@$(PIP) install --editable '.[dev]'
	@touch $@ .venv/run.stamp .venv/release.stamp
