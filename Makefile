# Everything is set up by the targets themselves: python3 and make are enough. A compiler is not needed; with one, such
# as g++, the kernel is built as well.
PYTHON ?= python3
VENV   := $(if $(LOCKED),.venv-locked,.venv)
PEERS  := .venv-peers
BIN    := $(VENV)/bin
PIP    := -m pip --disable-pip-version-check --quiet
KERNEL := setup.py $(wildcard kernel/*)
LOCK   := tools/locked.txt

.PHONY: demo test test-full fuzz paper bench bench-real figures shown lock lint clean

demo: $(VENV)/installed-demo
	$(BIN)/lifagu demo

# With LOCKED=1, in an environment of its own, packages are those of the lock file, each checked by its hash
test: $(VENV)/installed-test $(VENV)/installed-system lint
	$(BIN)/python -m pytest -m "not full" --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-full: $(VENV)/installed-test $(PEERS)/installed $(VENV)/installed-system lint
	$(BIN)/python -m pytest
	$(PEERS)/bin/python -m research.bench --small
	$(BIN)/python fuzz/campaign.py --seconds 3600

# What nobody should do to it, for as long as wanted, such as: make fuzz FUZZ="--seconds 3600 --only inputs.py"
fuzz: $(VENV)/installed-test $(VENV)/installed-system
	$(BIN)/python fuzz/campaign.py $(FUZZ)

# What is given as BENCH goes to the report, such as: make bench BENCH="--only colour"
bench: $(PEERS)/installed $(VENV)/installed-system
	$(PEERS)/bin/python -m research.bench $(BENCH)

# The paper's evaluation, and what it needs: make paper PAPER="--small", "--theta 0.5", "--export FOLDER"
paper: $(VENV)/installed-test
	$(BIN)/python -m research.paper $(PAPER)

# Hours; LEAGUE="--small", LEAGUE="--data FOLDER --only portal", and see research/README.md
bench-real: $(PEERS)/installed
	OMP_NUM_THREADS=1 $(PEERS)/bin/python -m research.league $(LEAGUE)

figures: $(VENV)/installed-test
	$(BIN)/python docs/figures/redraw.py

# What pages show of commands, run again; PAGES="docs/hospital.md" for some of them
shown: $(VENV)/installed-test
	$(BIN)/python docs/shown.py $(PAGES)

# The lock file renewed: the newest versions that pyproject.toml admits, for all Pythons and systems; nothing in it
# says where they come from
lock: | $(BIN)/python
	$(BIN)/python $(PIP) install 'uv>=0.5,<1'
	$(BIN)/uv pip compile pyproject.toml --extra test --group build --universal --upgrade --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' --quiet --output-file $(LOCK)

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv .venv-locked $(PEERS) build dist .mypy_cache .ruff_cache .hypothesis src/*.egg-info src/lifagu/_kernel*.so

$(VENV)/bin/python $(PEERS)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: lifagu needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(@:/bin/python=)

$(VENV)/installed-demo: pyproject.toml $(KERNEL) | $(BIN)/python
	$(BIN)/python $(PIP) install -e '.[sql,web]'
	@$(BIN)/python -m compileall -q src/lifagu
	@$(BIN)/lifagu --version
	@touch $@

$(VENV)/installed-test: pyproject.toml $(KERNEL) $(if $(LOCKED),$(LOCK)) | $(BIN)/python
ifdef LOCKED
	$(BIN)/python $(PIP) install --no-deps --require-hashes -r $(LOCK)
	$(BIN)/python $(PIP) install --no-deps --no-build-isolation -e .
else
	$(BIN)/python $(PIP) install -e '.[test]'
endif
	@$(BIN)/python -m compileall -q src/lifagu
	@$(BIN)/lifagu --version
	@touch $@ $(VENV)/installed-demo

# The peers that benchmarks compare with have an environment of their own, with lifagu beside them.
$(PEERS)/installed: pyproject.toml $(KERNEL) | $(PEERS)/bin/python
	$(PEERS)/bin/python $(PIP) install -e '.[bench]'
	@touch $@

$(VENV)/installed-system: tools/system-packages | $(BIN)/python
	tools/system-packages
	@touch $@
