# Every target does its own set-up: the first run on a fresh machine creates .venv and installs what it needs.

PYTHON ?= python3
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo test bench fuzz reproduce lint clean

demo: .venv/.ready-demo
	$(BIN)/horopca demo --force

test: .venv/.ready-dev
	$(BIN)/python -m pytest -n auto --dist worksteal

bench: .venv/.ready-dev
	$(BIN)/python -m benchmarks

# Odd arrays and damaged files of every format for so many minutes, and a table of what came of them.
MINUTES ?= 5
fuzz: .venv/.ready-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES)

# The paper's tables and figures, computed again; the same command goes on where it was interrupted.
reproduce: .venv/.ready-dev
	$(BIN)/python -m reproduction run all --jobs 2 --out results
	$(BIN)/python -m reproduction publish --out results

lint: .venv/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv .venv

# Stamps: pip runs again only when pyproject.toml has changed.  The demo does without the developers' tools.
.venv/.ready-demo: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[plot]'
	touch $@

.venv/.ready-dev: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[dev]'
	touch $@ .venv/.ready-demo
