# Every target does its own set-up: the first run on a fresh machine creates .venv and installs what it needs.

PYTHON ?= python3
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo help test lowest bench fuzz reproduce docs lint release-check clean

demo: .venv/.ready-demo  ## reduce the mammals of WordNet to the plane, and draw them
	$(BIN)/horopca demo --force

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One process more than there are cores, because some tests wait for browsers and other processes; one thread in each. Bytecode is
# written, because the processes that tests start use it too.
PYTEST = OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(1)/python -m pytest -n $$($(PYTHON) -c 'import os; print(os.cpu_count() + 1)') --dist worksteal
test: .venv/.ready-dev  ## run the tests; ARGS='-k map' selects some
	$(call PYTEST,$(BIN)) $(ARGS)

# With the lowest versions that pyproject.toml allows: inner.txt are tests of the core, extras.txt of the command line and the extras. They
# ignore warnings of old versions.
lowest: .venv-lowest/.ready  ## run tests with the lowest versions of the dependencies and extras
	$(call PYTEST,.venv-lowest/bin) @tests/inner.txt @tests/extras.txt

bench: .venv/.ready-dev  ## run the benchmarks
	$(BIN)/python -m benchmarks

# Fuzzing: odd arrays and damaged files of every format, and a table of the outcomes. MINUTES is the duration.
MINUTES ?= 5
fuzz: .venv/.ready-dev  ## test with random arrays and damaged files, for MINUTES=5
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES)

# The tables and figures of the paper; after an interruption the same command resumes.
reproduce: .venv/.ready-dev  ## recompute the tables and figures of the paper
	$(BIN)/python -m reproduction run all --jobs 2 --out results
	$(BIN)/python -m reproduction publish --out results

# The site, in build/docs/index.html. The code of the pages and the gallery is run, the pictures are drawn (except the screenshots of
# docs/make_screenshots.py), warnings are errors, and every link is checked. `make test` runs the examples of the docstrings. One
# thread, because the examples are small.
ONE_THREAD = OMP_NUM_THREADS=1 MPLBACKEND=agg
docs: .venv/.ready-docs  ## build the site in build/docs, and run the code of its pages and of examples/
	rm -rf docs/api build/docs
	$(ONE_THREAD) $(BIN)/horopca demo --force --output docs/images/demo.png
	for script in idea comparison plots; do $(ONE_THREAD) $(BIN)/python docs/make_$$script.py || exit 1; done
	$(ONE_THREAD) $(BIN)/python docs/run_pages.py
	$(ONE_THREAD) $(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet docs build/docs
	$(BIN)/python docs/check_site.py build/docs

lint: .venv/.ready-dev  ## check style, spelling and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/basedpyright --level error --pythonpath $(BIN)/python tests/typed_script.py

release-check: .venv-release/.ready  ## build a release in dist/ and check it
	.ci/release-check $(<D)/bin

clean:  ## remove everything that these targets create
	rm -rf .venv .venv-lowest .venv-release build dist docs/api docs/gallery docs/_static/mammals.html .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv .venv

# Stamps: pip runs again only when pyproject.toml has changed.  The demo needs no development tools.
.venv/.ready-demo: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[plot]'
	touch $@

.venv/.ready-dev: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[dev]'
	touch $@ .venv/.ready-demo

.venv/.ready-docs: pyproject.toml | $(BIN)/python
	$(INSTALL) '.[docs]'
	touch $@ .venv/.ready-dev .venv/.ready-demo

# The lowest versions of the dependencies and of the extras but torch (several gigabytes), with the package and everything else from .venv.
SITE = $$($(1)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
.venv-lowest/.ready: pyproject.toml .venv/.ready-dev
	rm -rf .venv-lowest
	$(BIN)/python -m venv .venv-lowest
	sed -n '/^dependencies = \[/,/^\]/p; /^plot = /,/^anndata = /p' pyproject.toml | grep -v '^torch = ' | sed 's/ #.*//' | \
		grep -o '"[^"]*>=[^"]*"' | tr -d '"' | sed 's/>=/==/' | sort -u > .venv-lowest/versions.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --requirement .venv-lowest/versions.txt
	printf '%s\n' "$$PWD/src" "$(call SITE,$(BIN))" > "$(call SITE,.venv-lowest/bin)/everything-else.pth"
	touch $@

# The tools of a release are in an environment of their own, because their dependencies conflict.
RELEASE_TOOLS = build cffconvert check-jsonschema check-wheel-contents twine validate-pyproject
.venv-release/.ready: Makefile
	rm -rf .venv-release
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check $(RELEASE_TOOLS)
	touch $@
