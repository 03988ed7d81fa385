# Everything is installed in .venv, never in your Python; .venv/.ready-<extra> says that an extra is in place.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# an active environment or a PYTHONPATH of the caller must not leak into ours
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test system-packages lint format docs unit integration bench pins clean distclean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
	  || sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1: \2/p' $(MAKEFILE_LIST)

demo: $(VENV)/.ready-all ## run a closed loop of modules, each in its own process
	$(BIN)/simsched run examples/two_modules/scenario.py

test: $(VENV)/.ready-test system-packages lint docs unit integration ## everything that must pass: linters, types, docs, tests
	@echo "all passed"

system-packages: ## install the system packages that tests need, or say which are missing
	@$(PYTHON) tools/system_packages.py

lint: $(VENV)/.ready-test ## ruff and mypy
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy --no-error-summary

format: $(VENV)/.ready-test ## let ruff rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.ready-test ## build the documentation in site/
	@if [ -f mkdocs.yml ]; then set -x; $(BIN)/mkdocs build --strict; fi

unit: $(VENV)/.ready-test ## the tests without sockets or processes, and the examples in docstrings, in parallel
	$(BIN)/python -m pytest -q -n 2 --doctest-modules tests/unit simsched modules cpp_bridge tools

# one at a time: these measure time and fill both cores by themselves
integration: $(VENV)/.ready-test ## all other tests
	$(BIN)/python -m pytest -q tests --ignore=tests/unit

bench: $(VENV)/.ready-bench ## the table of docs/performance.md
	$(BIN)/python benchmarks/exchange.py

pins: $(VENV)/.ready-test $(VENV)/.ready-bench ## write the versions of .venv to constraints.txt
	$(BIN)/python tools/pins.py > constraints.new
	mv constraints.new constraints.txt

clean: ## remove what builds and tests leave behind
	rm -rf build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean ## and .venv
	rm -rf $(VENV)

# an environment holds absolute paths: with the folder it was made in, it moves to nowhere
ifneq ($(shell cat $(VENV)/.made-in 2>/dev/null),$(CURDIR))
MOVED := moved
endif
.PHONY: moved

$(VENV)/.ready-%: pyproject.toml constraints.txt tools/set_up.py $(MOVED)
	@$(PYTHON) tools/set_up.py $*
