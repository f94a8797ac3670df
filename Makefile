# Everything is set up by the targets themselves: python3 and make are enough. A compiler is not needed; with one, such
# as g++, the kernel is built as well.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
KERNEL := setup.py $(wildcard kernel/*)

.PHONY: demo test test-full bench figures lint clean

demo: $(VENV)/installed
	$(BIN)/lifagu demo

test: $(VENV)/installed-test $(VENV)/installed-system lint
	$(BIN)/python -m pytest -m "not full"

test-full: $(VENV)/installed-test $(VENV)/installed-bench $(VENV)/installed-system lint
	$(BIN)/python -m pytest

bench: $(VENV)/installed-bench
	$(BIN)/python benchmarks/ground.py
	$(BIN)/python benchmarks/transfer.py
	$(BIN)/python benchmarks/lifting.py
	$(BIN)/python benchmarks/colour.py
	$(BIN)/python benchmarks/lifted.py
	$(BIN)/python benchmarks/relational.py
	$(BIN)/python benchmarks/files.py
	$(BIN)/python benchmarks/web.py

figures: $(VENV)/installed
	$(BIN)/python docs/figures/redraw.py

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis src/*.egg-info src/lifagu/_kernel*.so

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: lifagu needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml $(KERNEL) | $(BIN)/python
	$(PIP) install -e .
	@$(BIN)/lifagu --version
	@touch $@

$(VENV)/installed-test: pyproject.toml $(KERNEL) | $(BIN)/python
	$(PIP) install -e '.[test]'
	@$(BIN)/lifagu --version
	@touch $@ $(VENV)/installed

$(VENV)/installed-bench: pyproject.toml $(KERNEL) | $(BIN)/python
	$(PIP) install -e '.[bench]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-system: tools/system-packages | $(BIN)/python
	tools/system-packages
	@touch $@
