# Everything a clone needs. `make` alone says what there is.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
EXTRAS := local,minilm,langgraph,qdrant,serve,test,dev
MODELS := 1.5b 0.5b
PYTHON ?= $(shell for p in python3.11 python3.12 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))' 2>/dev/null && { echo $$p; break; }; done)

# Public data sets are read from beside the clone where they are found; tests say what they skipped.
ifneq ($(wildcard ../shared/benchmarks/.),)
export QUERYPLAN_BENCHMARKS ?= $(abspath ../shared/benchmarks)
endif

# A package index or a hub that hiccups is asked again: three tries, ten seconds apart.
RETRY = retry() { for try in 1 2 3; do "$$@" && return 0; [ $$try = 3 ] || { echo "try $$try failed; again in 10 s" >&2; sleep 10; }; done; return 1; }; retry

.DEFAULT_GOAL := help
.PHONY: help install weights models small graphs demo demo-full test bench check clean

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

install: $(STAMP) weights ## Make .venv with everything, fetch the embedded models and learn about graphs once

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or 3.12 is needed: install it, or say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@$(RETRY) $(BIN)/pip install --disable-pip-version-check --progress-bar off --quiet \
		--constraint constraints.txt --editable '.[$(EXTRAS)]'
	@mkdir -p $(VENV)/typing && ln -sfn ../.. $(VENV)/typing/queryplan
	@touch $(STAMP)

# Fetched or learned once; what is there already takes no time.
weights: models graphs

models: $(STAMP)
	@for model in $(MODELS); do $(RETRY) $(BIN)/queryplan models pull $$model || exit 1; done

small: $(STAMP) # all that the demonstration asks
	@$(RETRY) $(BIN)/queryplan models pull 0.5b

graphs: $(STAMP)
	@$(BIN)/queryplan graph learn >/dev/null

demo: small ## Install, compile a planner on a sample, see what it gained, plan with it (some 12 minutes on two cores)
	$(BIN)/queryplan demo

demo-full: small ## The same on the whole labelled set
	$(BIN)/queryplan demo --full

# A language model shares its cores with nothing: its tests run alone, after the others.
test: install ## Run every test; those that need the weights run wherever they are
	$(BIN)/pytest -m "not weights" --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --quiet
	$(BIN)/pytest -m weights

bench: install ## Run the benchmarks
	$(BIN)/queryplan bench

check: $(STAMP) ## Lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(RETRY) $(BIN)/pyright --version >/dev/null
	$(BIN)/pyright

clean: ## Remove what was built here; compiled programs and the weights stay
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
