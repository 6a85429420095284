# Every target sets up what it needs. PYTHON may name another interpreter (3.11 or newer).
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Compiled modules are kept, whatever the shell says: the tests start `karat` hundreds of times.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup extras site web demo test test-all test-long check lint words types contracts docs audit bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

demo: setup
	$(BIN)/karat demo

# What a contributor runs: light dependencies, a few minutes at most.
test: setup
	$(BIN)/pytest --numprocesses auto -m 'not extras'

# What `make test` leaves out: what needs the packages of extras, and everything that is not a test. The two together are
# the whole check, and nothing runs twice. A file of tests stays in one process, so that Spark starts once. Later steps
# add PostgreSQL here. Tests of pages need a Chromium of the system, and Node for the tools of the client.
test-all: export KARAT_EXTRAS = 1
test-all: extras web/node_modules lint words types contracts docs
	$(BIN)/pytest --numprocesses auto --dist loadfile -m 'extras or both'

# Hours, at the lowest priority: judges and annotators under load, servers and runs that are killed again and again, then INPUTS inputs for
# each target of the fuzzer. `.ci/run` does not call it; `make test-all` has short versions of all three.
ROUNDS ?= 20
INPUTS ?= 20000
test-long: export KARAT_EXTRAS = 1
test-long: extras
	nice -n 19 $(BIN)/python -m tests.protocols.verification.load --judges 50 --seconds 300
	nice -n 19 $(BIN)/python -m tests.protocols.annotation.load --annotators 20 --seconds 600 --kills 60
	for round in $$(seq $(ROUNDS)); do nice -n 19 $(BIN)/pytest -n0 -q -k 'kill or survives' \
		tests/protocols/verification tests/protocols/annotation tests/systems/running tests/web tests/kb || exit 1; done
	KARAT_LONG=1 nice -n 19 $(BIN)/pytest -n0 -q tests/protocols/reproduce/test_conventions.py
	nice -n 19 $(BIN)/python -m tests.protocols.verification.test_restarts
	nice -n 19 $(BIN)/python -m tests.storage.sweep
	nice -n 19 $(BIN)/python tests/fuzz.py --inputs $(INPUTS)

extras: setup
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,all,docs,genre]' datasets evaluate playwright schemathesis
	$(BIN)/pip install --quiet --no-deps --ignore-requires-python --require-hashes --requirement tests/tagger.txt
	$(BIN)/pip install --quiet --no-deps --require-hashes --requirement tests/croissant.txt

# The documentation as a site in build/site, which works from disk.
site: extras
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The client of reports and viewer: checked, and built into src/karat/web/archive/bundle, which is committed.
web: web/node_modules
	cd web && npm run --silent check && npm run --silent build

web/node_modules: web/package.json
	cd web && npm install --no-package-lock --no-audit --no-fund --silent
	touch web/node_modules

check: lint words types contracts docs test

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Refuse identifiers that name no thing and docstrings that open with a riddle.
words: setup
	$(BIN)/python tools/check_words.py

types: setup
	$(BIN)/mypy

contracts: setup
	$(BIN)/lint-imports

# Say which generated parts are stale (JSON Schemas, blocks in docs/, README); `python tools/generate.py` writes them.
docs: setup
	$(BIN)/python tools/generate.py --check

# Compare the pinned versions with published advisories. It needs the network, so no other target calls it.
audit:
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv "$$folder" && \
	{ "$$folder/bin/pip" install --quiet pip-audit || { echo 'make audit: no pip-audit; check the network.' >&2; exit 2; }; } && \
	"$$folder/bin/pip-audit" --strict --disable-pip --no-deps --requirement constraints.txt

bench: setup
	$(BIN)/python bench/run.py --growth --parquet-million

clean:
	rm -rf $(VENV) web/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
