# Two commands set everything up on a fresh machine: `make demo` and `make test`.
# Everything is installed into .venv from hash-locked lists; nothing outside the project is touched,
# except that `make test` asks apt for what the tests need where it runs as root.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint lock schema clean

demo: $(VENV)/.base
	@$(BIN)/cxrqba run

test: $(VENV)/.base $(VENV)/.test
	@tests/system-packages.sh
	$(BIN)/python -m pytest

lint: $(VENV)/.test
	$(BIN)/ruff check workflow/scripts tests
	$(BIN)/ruff format --check workflow/scripts tests
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

# Renew the locks (needs uv); review the difference before committing it.
lock:
	uv pip compile pyproject.toml --extra build --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --upgrade --output-file requirements.lock
	uv pip compile pyproject.toml --extra build --extra test --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --no-header --constraint requirements.lock \
	  --output-file requirements-test.lock

# Write the JSON schemas and the key tables of config/README.md from the configuration model.
schema: $(VENV)/.base
	$(BIN)/cxrqba schema

clean:
	rm -rf results logs benchmarks .snakemake

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "error: $(PYTHON) not found; install Python 3.11 or newer (Debian: apt install python3-venv make)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is older than 3.11; run make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "error: no venv module; on Debian: apt install python3-venv"; exit 1; }

$(VENV)/.base: $(VENV)/bin/python requirements.lock pyproject.toml
	@echo "Installing the packages of requirements.lock into $(VENV) (once, a few minutes) ..."
	@$(PIP) install --require-hashes --requirement requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.base requirements-test.lock
	@echo "Installing the packages of requirements-test.lock into $(VENV) ..."
	@$(PIP) install --require-hashes --requirement requirements-test.lock
	@touch $@
