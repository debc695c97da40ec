# Two commands set everything up on a fresh machine: `make demo` and `make test`.
# Everything is installed into .venv from hash-locked lists; nothing outside the project is touched,
# except that `make test` asks apt for what the tests need where it runs as root.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MODELS := .venv-models
PEER := .venv-peer
comma := ,
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: bench-qa bench-regions bench-text demo deposit film-versions test test-models test-slurm mapping-sweep peer restore lint lock schema clean

demo: $(VENV)/.base
	@$(BIN)/cxrqba run

test: $(VENV)/.base $(VENV)/.test
	@tests/system-packages.sh
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

# A real Slurm of one node (Debian, root): installed, used, and removed again. Some minutes.
test-slurm: $(VENV)/.test
	CXRQBA_REQUIRE_SLURM=1 $(BIN)/python -m pytest tests/integration/test_slurm.py

# What needs torch and a real model runs in an environment of its own (about 2 GB, CPU only).
test-models: $(MODELS)/.ready
	CXRQBA_REQUIRE_MODELS=1 $(MODELS)/bin/python -m pytest -m models

# Score entity mapping on the gold phrases at thresholds 0.30 to 0.90: PART=sealed takes the other
# half, MODEL=folder a sentence-transformers model (after `make test-models`) instead of n-grams.
PART ?= dev
MODEL ?=
SWEEP := results/mapping_sweep/$(if $(MODEL),$(notdir $(MODEL)),lexical).$(PART)
EMBEDDING := $(if $(MODEL),"backend": "sentence_transformers"$(comma) "model": "$(MODEL)")
mapping-sweep: $(VENV)/.base
	@$(if $(MODEL),$(MODELS),$(VENV))/bin/python workflow/scripts/sweep_mapping.py \
	  --gold resources/mapping_gold/mapping.csv --reference resources/reference \
	  --scores $(SWEEP).csv --table $(SWEEP).md \
	  --settings '{"part": "$(PART)", "embedding": {$(EMBEDDING)}}'
	@cat $(SWEEP).md

# The maintained peer of the extraction's table, after a run of the dataset; the next run shows it.
# It pins an old numpy, so it has an environment of its own (about 500 MB).
DATASET ?= demo
peer: $(PEER)/.ready
	@PYTHONPATH=workflow/scripts $(PEER)/bin/python -m cxrqba.evaluate.peer \
	  --sentences $(wildcard results/$(DATASET)/extract_sentences/*.sentences.parquet) \
	  --reference resources/reference --claims results/$(DATASET)/evaluate_extraction/peer.parquet

lint: $(VENV)/.test
	$(BIN)/ruff check workflow/scripts tests
	$(BIN)/ruff format --check workflow/scripts tests
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

# Processor time a report of passes, mapping and graphs; OPENI=<folder or .tgz> takes real reports,
# BENCH="--images 2 --copies 200" see the script.
OPENI ?= $(wildcard ../shared/data/openi/openi_reports.tgz)

bench-text: $(VENV)/.base
	$(BIN)/python tests/timing/bench_text.py $(if $(OPENI),--openi $(OPENI)) $(BENCH)

# Questions and ratings of a synthetic corpus: BENCH="--studies 20000" see the script.
bench-qa: $(VENV)/.base
	$(BIN)/python tests/timing/bench_qa.py $(BENCH)

bench-regions: $(VENV)/.base
	$(BIN)/python tests/timing/bench_regions.py

# The atlas on altered films (darker, tilted, cropped, ...) with their refusals: FILMS=<folder with
# images/ and masks/>, EVERY=2 takes twice as many.
FILMS ?= ../shared/data/jsrt
EVERY ?= 4
film-versions: $(VENV)/.base
	@PYTHONPATH=workflow/scripts $(BIN)/python -m cxrqba.evaluate.film_versions $(FILMS) \
	  --every $(EVERY) --out results/film_versions.csv

# The results of a run as one file, without raw sources, and back into a fresh clone (DATASET=name):
# tables and figures can then be made again, and no stage before them runs.
ARCHIVE ?= results/$(DATASET).deposit.tar

deposit: $(VENV)/.base
	@$(BIN)/cxrqba deposit --config $(DATASET) --out $(ARCHIVE)

restore: $(VENV)/.base
	@$(BIN)/cxrqba restore $(ARCHIVE) --config $(DATASET)

# Renew the locks (needs uv); review the difference before committing it.
lock:
	uv pip compile pyproject.toml --extra build --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --upgrade --output-file requirements.lock
	uv pip compile pyproject.toml --extra build --extra test --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --no-header --constraint requirements.lock \
	  --output-file requirements-test.lock
	uv pip compile requirements-peer.in --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --no-header --output-file requirements-peer.lock

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

$(MODELS)/.ready: requirements-test.lock requirements-models.txt pyproject.toml
	@$(PYTHON) -m venv $(MODELS)
	@echo "Installing the packages of requirements-models.txt into $(MODELS) ..."
	@$(MODELS)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes --requirement requirements-test.lock
	@$(MODELS)/bin/python -m pip --disable-pip-version-check --quiet install --requirement requirements-models.txt
	@$(MODELS)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@

$(PEER)/.ready: requirements-peer.lock
	@$(PYTHON) -m venv $(PEER)
	@echo "Installing the packages of requirements-peer.lock into $(PEER) ..."
	@$(PEER)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes --requirement requirements-peer.lock
	@touch $@
