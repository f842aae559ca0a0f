# Every target sets up its own environment: python3 and make are all it takes.

PYTHON ?= python3
EXTRAS ?= dev
PYTEST_WORKERS ?= 2

BIN := .venv/bin
CODE := $(wildcard src studies tests scripts benchmarks)
TYPED := $(wildcard src studies/src scripts benchmarks)
PROJECTS := pyproject.toml studies/pyproject.toml

# $(call install,ENVIRONMENT,WHAT): what pip says is shown only where it fails.
install = $(1)/bin/python -m pip install --disable-pip-version-check $(2) \
  > $(1)/install.log 2>&1 || { cat $(1)/install.log >&2; exit 1; }

# $(call pytest,ENVIRONMENT): a worker takes tests that lie together, so that what they share is
# made once; one that has done its share takes half of what another has left. With a worker per
# core, more threads in each would only wait for each other.
pytest = OMP_NUM_THREADS=1 $(1)/bin/python -m pytest -n $(PYTEST_WORKERS) --dist worksteal

# Workers share what is compiled, rewritten assertions above all: collecting takes half as long.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo page page-lint test test-slow test-all lint format bench docs docs-open dist mutants lowest clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/.ready: $(PROJECTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "voros needs Python 3.11 or newer, and '$(PYTHON)' is not." >&2; \
	  echo "Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(call install,.venv,--editable '.[$(EXTRAS)]' --editable 'studies[test]')
	@touch $@

demo: .venv/.ready  ## who should raise the alarm? SUPPORT2, four prognoses
	$(BIN)/voros demo

page: .venv/.ready  ## dist/voros.html, the page that reads a file of one's own
	mkdir -p dist
	$(BIN)/voros explore -o dist/voros.html --force

test: .venv/.ready  ## the tests and the examples in docstrings, less the slow ones
	$(call pytest,.venv) -m "not slow"

# pytest answers 5 when no test is marked slow: nothing to run is not a failure.
test-slow: .venv/.ready  ## the slow tests, those of more packages, and the laws on more examples
	$(call pytest,.venv) -m "slow or extras" $(PYTEST_ARGS) || test $$? -eq 5
	VOROS_THOROUGH=1 $(call pytest,.venv) tests/properties

test-all: test test-slow lowest  ## everything: test, test-slow and lowest

lint: .venv/.ready  ## ruff (rules and format), the layers and mypy
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy $(TYPED)
	@$(MAKE) --no-print-directory page-lint

page/node_modules/.ready: page/package-lock.json
	npm --prefix page ci --no-audit --no-fund --loglevel=error
	@touch $@

page-lint:  ## eslint and type checks of the page's JavaScript; skipped where there is no npm
	@if command -v npm >/dev/null; then \
	  $(MAKE) --no-print-directory page/node_modules/.ready && \
	  npm --prefix page run --silent lint && npm --prefix page run --silent types; \
	else echo "npm is not installed: the page's JavaScript is not checked"; fi

format: .venv/.ready  ## let ruff fix what it can
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

# Processor time and one thread, so that neighbours on the machine matter less. KEEP=--keep writes
# the ratios down; without it a row that takes twice as long as kept is an error.
BENCH := --benchmark-timer=time.process_time --benchmark-min-rounds=3 --benchmark-max-time=0.4

bench: .venv/.ready  ## timings beside scikit-learn, MAPIE and dcurves, as ratios
	mkdir -p build
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest benchmarks/test_speed.py -q $(BENCH) --benchmark-json=build/timings.json
	$(BIN)/python benchmarks/ratios.py build/timings.json $(KEEP)

.venv-docs/.ready: $(PROJECTS)
	$(PYTHON) -m venv --clear .venv-docs
	$(call install,.venv-docs,--editable '.[docs]' --editable studies)
	@touch $@

# Warnings are errors: a link or a name that leads nowhere stops the build.
docs: .venv-docs/.ready  ## the documentation site, in docs/_build/html
	.venv-docs/bin/python -m sphinx --fail-on-warning --keep-going --jobs auto --quiet docs docs/_build/html
	@echo "docs/_build/html/index.html"

docs-open: docs  ## build the site and serve it on this machine
	.venv-docs/bin/python -m webbrowser http://localhost:8000 || true
	.venv-docs/bin/python -m http.server --bind localhost --directory docs/_build/html 8000

dist: .venv/.ready  ## wheels, tested as installed, and source archives that install the same
	$(BIN)/python scripts/check_dist.py

.venv-mutants/.ready: pyproject.toml
	$(PYTHON) -m venv --clear .venv-mutants
	$(call install,.venv-mutants,--editable '.[mutants]')
	@touch $@

# Which files and tests: [tool.mutmut] in pyproject.toml. CI=1 makes Hypothesis repeat itself.
mutants: .venv-mutants/.ready  ## changes to the code that no test notices: make mutants NAMES='voros.hull*'
	CI=1 nice -n 19 .venv-mutants/bin/mutmut run --max-children 1 $(foreach name,$(NAMES),'$(name)')
	.venv-mutants/bin/mutmut results

# numpy 1.26 and SciPy 1.12 have wheels for Python 3.11 and 3.12 only.
LOWEST_PYTHONS := $(PYTHON) python3.11 python3.12
LOWEST_PYTHON ?= $(firstword $(foreach python,$(LOWEST_PYTHONS),$(shell $(python) -c \
  'import sys; (3, 11) <= sys.version_info < (3, 13) and print("$(python)")' 2>/dev/null)))

.venv-lowest/.ready: LOWEST_INSTALL = --editable '.[test]'
.venv-lowest-studies/.ready: LOWEST_INSTALL = --editable . --editable 'studies[test]'
.venv-lowest/.ready .venv-lowest-studies/.ready: $(PROJECTS) scripts/lowest_versions.py
	@test -n "$(LOWEST_PYTHON)" || { \
	  echo "the lowest supported versions need Python 3.11 or 3.12; name one:" >&2; \
	  echo "  make LOWEST_PYTHON=/path/to/python3.11 lowest" >&2; exit 1; }
	$(LOWEST_PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python scripts/lowest_versions.py > $(@D)/constraints.txt
	$(call install,$(@D),--constraint $(@D)/constraints.txt $(LOWEST_INSTALL))
	@touch $@

# Only tests, for how numbers print in docstrings differs between the versions of numpy. The studies
# come with the command line, which the tests of voros are to do without here.
lowest: .venv-lowest/.ready .venv-lowest-studies/.ready  ## the tests on the lowest supported versions
	$(call pytest,.venv-lowest) -m "not slow" tests
	$(call pytest,.venv-lowest-studies) -m "not slow" studies/tests

clean:  ## remove the environments, caches and builds
	rm -rf .venv .venv-docs .venv-lowest .venv-lowest-studies .venv-mutants mutants docs/_build docs/gallery docs/reference build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache page/node_modules
	find src studies tests scripts benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
