# Every target makes its own .venv and installs what it needs; a second run installs nothing.
# T=PATH runs a part of the tests, QUICK=1 shortens the benchmarks, PYTHON=… chooses the interpreter for .venv.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-gpu lint bench cluster slurm pins

T ?=
QUICK ?=
PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/installed-base
DEVELOPMENT := $(VENV)/installed-development
CHECKS := 'ruff check .' mypy lint-imports 'vermin --quiet --target=3.7- --no-tips --violations agent/hedgerow'
INSTALL_INPUTS := pyproject.toml constraints.txt tools/virtualenv.sh

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(BASE) ## a training job really hangs on this machine and comes back by itself (under 2 minutes with set-up)
	@$(BIN)/hedgerow demo

test: $(DEVELOPMENT) ## lint and all tests, real clusters included (as root); T=tests/unit runs a part
	@$(if $(T),,$(MAKE) --no-print-directory lint)
	@$(BIN)/python tools/run_tests.py $(T)

test-gpu: $(DEVELOPMENT) ## the node agent on the GPUs of this machine; TORCH_PYTHON=… is an interpreter that has torch
	@$(BIN)/python tests/gpu/run.py --python '$(or $(TORCH_PYTHON),python3)'

lint: $(DEVELOPMENT) ## ruff, mypy, the import contracts, and Python 3.7 syntax of what runs inside training images
	@status=0; for check in $(CHECKS); do echo "$$check"; $(BIN)/$$check || status=1; done; exit $$status

bench: $(DEVELOPMENT) ## run every benchmark into one table; QUICK=1 takes at most 40 s for each
	@$(BIN)/python tools/run_benchmarks.py $(if $(QUICK),--quick)

cluster: $(DEVELOPMENT) ## a shell in a real Kubernetes cluster of its own, with Hedgerow installed (as root)
	@sh tools/debian_packages.sh $$($(BIN)/python -m tests.cluster.testbed packages)
	@$(BIN)/python -m tests.cluster.testbed shell

slurm: $(DEVELOPMENT) ## a shell beside a real Slurm of four nodes (as root)
	@sh tools/debian_packages.sh $$($(BIN)/python -m tests.slurm.testbed packages)
	@$(BIN)/python -m tests.slurm.testbed shell

pins: $(DEVELOPMENT) ## move constraints.txt to the newest versions that pyproject.toml allows
	@sh tools/pins.sh $(VENV)

$(BASE): $(INSTALL_INPUTS)
	@PYTHON='$(PYTHON)' sh tools/virtualenv.sh $(VENV)
	@echo 'Installing Hedgerow into $(VENV) ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

# Dependency groups need pip 25.1; Debian 12 has 23.0.
$(DEVELOPMENT): $(INSTALL_INPUTS)
	@PYTHON='$(PYTHON)' sh tools/virtualenv.sh $(VENV)
	@echo 'Installing Hedgerow and the tools for its development into $(VENV) ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all]' --group dev
	@touch $(BASE) $@
