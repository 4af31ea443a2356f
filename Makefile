# demo: everything set up, then the product with a rehearsal run. test: everything set up, then all tests.
PYTHON ?= python3
BIN := .venv/bin
GROUND := pyproject.toml hatch_build.py package-lock.json CHANGELOG.md

.PHONY: demo test check chaos fuzz bench bench-scale screens fmt clean needs

demo: .venv/product
	@$(BIN)/agentdash demo $(ARGS)

test: needs check
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

check: .venv/workshop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/loq

needs: .venv/workshop
	@sh .ci/needs

# Full sizes, on this machine; the table goes into docs/we-break-it.md.
chaos: needs
	$(BIN)/python -m tests.chaos $(ARGS)

# 5,000 random histories under random edits (A42); a chain that breaks a rule is written down as a case.
fuzz: .venv/workshop
	AGENTDASH_FUZZ=$${AGENTDASH_FUZZ:-5000} $(BIN)/python -m pytest -s tests/engine/test_fuzz.py $(ARGS)

bench: .venv/workshop
	$(BIN)/python -m bench $(ARGS)

# Many runs at once on Redis and Postgres, about ten minutes; ARGS="--runs 100 --seconds 30" is a small one.
bench-scale: .venv/workshop
	$(BIN)/python -m bench.scale $(ARGS)

# The same job by other harnesses, in a venv of their own that the product never sees.
bench-peers: .venv/workshop .venv-peers/ready
	$(BIN)/python -m bench.peers $(ARGS)

.venv-peers/ready: bench/peers/requirements.txt
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

screens: .venv/workshop
	$(BIN)/python -m bench.screens $(ARGS)

fmt: .venv/workshop
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-peers .demo build dist static/vendor .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "agentdash needs Python 3.11 or newer, and $(PYTHON) is older or missing. Install one, or name it: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "This Python lacks its venv module. On Debian or Ubuntu: sudo apt install python3-venv"; exit 2; }
	@$(PYTHON) -m venv .venv

.venv/product: .venv/bin/python $(GROUND)
	@echo "Setting up in .venv (once; about half a minute) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/workshop: .venv/bin/python $(GROUND)
	@echo "Setting up in .venv, with what tests need (once; about a minute) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/product
