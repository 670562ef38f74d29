# Every target does its own set-up: the first run on a fresh machine creates .venv and installs what it needs.

PYTHON ?= python3
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo help test lowest covered bench fuzz reproduce docs lint release-check clean

demo: .venv/.ready-demo  ## a tree, reduced and drawn
	$(BIN)/horopca demo --force

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A process for each core, and in each of them one thread: more would only wait for each other. What they compile is kept, for
# each other, for the processes that tests start, and for the next run.
# A worker more than there are cores: some tests wait for browsers and for other processes.
PYTEST = OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(1)/python -m pytest -n $$($(PYTHON) -c 'import os; print(os.cpu_count() + 1)') --dist worksteal
test: .venv/.ready-dev  ## the tests
	$(call PYTEST,$(BIN)) $(COVERAGE)

# With the lowest versions that pyproject.toml allows. Warnings about what these do with the newest pytest and torch, which inner.txt
# leaves out, are theirs: how scikit-learn 1.6 hands over its checks, how array-api-compat 1.9 makes a tensor.
lowest: .venv-lowest/.ready  ## the tests of the inner rooms, with the lowest versions of the dependencies
	$(call PYTEST,.venv-lowest/bin) @tests/inner.txt

# How much of each room the tests have reached, after `make test COVERAGE='--cov --cov-report='`.
covered:  ## how much of each room the tests have reached
	@$(BIN)/coverage report | awk '{ room = match($$1, /horopca\/[_a-z]+[\/.]/) ? substr($$1, RSTART + 8, RLENGTH - 9) : $$1 } \
		$$4 ~ /%/ && room !~ /^__/ { if (!(room in all)) rooms[++n] = room; all[room] += $$2; missed[room] += $$3 } \
		END { for (k = 1; k <= n; k++) printf "%-14s%4.0f %%\n", tolower(rooms[k]), 100 - 100 * missed[rooms[k]] / all[rooms[k]] }'

bench: .venv/.ready-dev  ## the benchmarks
	$(BIN)/python -m benchmarks

# Odd arrays and damaged files of every format for so many minutes, and a table of what came of them.
MINUTES ?= 5
fuzz: .venv/.ready-dev  ## odd arrays and damaged files, for MINUTES=5
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES)

# The paper's tables and figures, computed again; the same command goes on where it was interrupted.
reproduce: .venv/.ready-dev  ## the paper's tables and figures, computed again
	$(BIN)/python -m reproduction run all --jobs 2 --out results
	$(BIN)/python -m reproduction publish --out results

# The site, in build/docs/index.html: warnings are errors, the gallery and the pages to start from are run, and every link has to lead
# somewhere. The examples of the docstrings are run by `make test`. One thread: examples are small.
docs: .venv/.ready-docs  ## the site, in build/docs: pages, API reference, and the gallery of examples/, which is run
	rm -rf docs/api build/docs
	OMP_NUM_THREADS=1 MPLBACKEND=agg $(BIN)/python docs/run_pages.py
	OMP_NUM_THREADS=1 MPLBACKEND=agg $(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet docs build/docs
	$(BIN)/python docs/check_site.py build/docs

lint: .venv/.ready-dev  ## the linter, the spelling and the types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/basedpyright --level error --pythonpath $(BIN)/python tests/typed_script.py

release-check: .venv-release/.ready  ## everything that has to hold of a release; leaves its files in dist/
	.ci/release-check $(<D)/bin

clean:  ## remove what these have made
	rm -rf .venv .venv-lowest .venv-release build dist docs/api docs/gallery docs/_static/mammals.html .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv .venv

# Stamps: pip runs again only when pyproject.toml has changed.  The demo does without the developers' tools.
.venv/.ready-demo: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[plot]'
	touch $@

.venv/.ready-dev: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[dev]'
	touch $@ .venv/.ready-demo

.venv/.ready-docs: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[docs]'
	touch $@ .venv/.ready-dev .venv/.ready-demo

# The lowest versions, and beside them the package and everything else as it is in .venv.
SITE = $$($(1)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
.venv-lowest/.ready: pyproject.toml .venv/.ready-dev
	rm -rf .venv-lowest
	$(BIN)/python -m venv .venv-lowest
	sed -n '/^dependencies = \[/,/^\]/s/^ *"\(.*\)>=\(.*\)",/\1==\2/p' pyproject.toml > .venv-lowest/versions.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --requirement .venv-lowest/versions.txt
	printf '%s\n' "$$PWD/src" "$(call SITE,$(BIN))" > "$(call SITE,.venv-lowest/bin)/everything-else.pth"
	touch $@

# The tools of a release, apart: some of them need old versions of what others need new.
RELEASE_TOOLS = build cffconvert check-jsonschema check-wheel-contents twine validate-pyproject
.venv-release/.ready: Makefile
	rm -rf .venv-release
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check $(RELEASE_TOOLS)
	touch $@
