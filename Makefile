# The whole developer interface. Needs make, Python 3.11 or 3.12, and pip; everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PINS := .build/pins
ARGS ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# A python3 of the system may be too old or too new, so the exact names go first, unless PYTHON was chosen by hand.
ifeq ($(origin PYTHON),file)
CANDIDATES := python3.11 python3.12 $(PYTHON)
else
CANDIDATES := $(PYTHON)
endif

# Tried by running it: a name on the PATH may be a shim with nothing behind it.
FIND_PYTHON = python=; for candidate in $(CANDIDATES); do \
	if $$candidate -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' 2>/dev/null; then \
		python=$$candidate; break; fi; done; \
	if [ -z "$$python" ]; then \
		echo "Greenroom needs Python 3.11 or 3.12, and none of these is one: $(CANDIDATES)." \
			"Install it, or say where it is: make install PYTHON=/path/to/python3.11" >&2; exit 1; fi

.DEFAULT_GOAL := help
.PHONY: help install serve test check conformance clients chaos bench fuzz load llm-test pins

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## create .venv with everything that is pinned, and this project in it

$(STAMP): pyproject.toml requirements-dev.txt
	@$(FIND_PYTHON); echo "Installing into $(VENV) with $$($$python --version)"; $$python -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

serve: install ## serve a workflow on http://127.0.0.1:8000/mcp until Ctrl-C; ARGS="--workflow FOLDER" chooses it
	@WORKFLOW_PATH="$${WORKFLOW_PATH:-examples/bookshop}" $(BIN)/greenroom serve $(ARGS)

test: install ## run the tests; ARGS="-k session" picks some
	@$(BIN)/pytest $(ARGS)

check: install ## lint, formatting and strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p greenroom -p tests

conformance: install ## run the MCP conformance suite against a server of our own
	$(BIN)/python -m tests.conformance.run $(ARGS)

clients: install ## run real MCP clients against a server of our own
	$(BIN)/python -m tests.clients.run $(ARGS)

chaos: install ## kill the server 200 times under load and compare what is kept with what clients have seen
	$(BIN)/python -m tests.chaos.run $(ARGS)

bench: install ## measure Greenroom beside its peers, about nine minutes; ARGS="--quick" takes a look
	$(BIN)/python -m bench.run $(ARGS)

fuzz: install ## 100,000 hostile byte streams for the HTTP/1.1 connection, and 5,000 hostile calls of REST
	$(BIN)/python -m tests.http1.fuzz --cases 100000
	$(BIN)/python -m tests.rest.fuzz --cases 5000

load: install ## 2,000 sessions for five minutes; ARGS="--sessions 500 --minutes 1" is a smaller wave
	$(BIN)/python -m load.run $(ARGS)

llm-test: install ## let a small real language model carry out tasks through the agent; fetches 1.1 GB
	$(BIN)/python -m tests.llm_real.run $(ARGS)

pins: ## choose the newest versions again and write both requirements files
	@$(FIND_PYTHON); $$python -m venv --clear $(PINS)
	$(PINS)/bin/python -m pip install --quiet .
	$(call FREEZE,requirements.txt)
	$(PINS)/bin/python -m pip install --quiet '.[dev]'
	$(call FREEZE,requirements-dev.txt)

FREEZE = @{ echo '\# Exact versions of the full closure; regenerate with: make pins'; \
	$(PINS)/bin/python -m pip freeze --exclude-editable --exclude greenroom; } > $(1)
