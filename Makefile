# Everything runs in .venv, which is made on first need and brought up to date when pyproject.toml changes.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
SOFTMAX := examples/softmax.pto rand:24x128 zeros:24x128 24 --grid 3
TILES := examples/tiles/softmax.pto rand:70x128 zeros:70x128 70 --grid 2

export PYTHONDONTWRITEBYTECODE :=  # the processes that tests start need not compile the sources again

.PHONY: demo test test-all fuzz lint suite bench size stubs mutants pictures dist editor docs clean

demo: $(STAMP)
	mkdir -p build
	$(BIN)/ptosim run $(SOFTMAX)
	$(BIN)/ptosim check $(SOFTMAX)
	$(BIN)/ptosim profile $(SOFTMAX) --html build/softmax.html
	$(BIN)/ptosim run $(TILES)
	$(BIN)/ptosim check $(TILES)
	$(BIN)/ptosim check examples/python/softmax.py:softmax rand:48x128 zeros:48x128 48
	$(BIN)/ptosim profile $(TILES) --html build/tiles.html
	$(BIN)/ptosim plan examples/tiles/softmax.pto --html build/plan.html
	@echo "wrote build/softmax.html, build/tiles.html and build/plan.html"

test: $(STAMP)  # types are checked while the tests begin
	$(MAKE) --jobs=2 lint suite

test-all: $(STAMP)
	$(MAKE) --jobs=2 lint suite FULL=--full

suite: $(STAMP)
	$(BIN)/pytest -n 2 --dist worksteal $(FULL)

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright

KIND ?= order
N ?= 100
SEED ?= 1

fuzz: $(STAMP)  # KIND: a name of the table in tests/fuzz/__main__.py
	PYTHONPATH=tests $(BIN)/python -m fuzz $(KIND) $(N) $(SEED)

bench: $(STAMP)  # AGAINST: a revision to compare with, in turns
	$(BIN)/python -m $(if $(AGAINST),benchmarks.against $(AGAINST),benchmarks)

stubs: $(STAMP)  # what editors read of kernels in Python, from the operation classes
	$(BIN)/python -m ptosim.ptodsl.stubs

size: $(STAMP)  # code lines by floor; AGAINST: how many more than at a revision
	@$(BIN)/python -m tools.size $(AGAINST)

mutants: $(STAMP)  # faults that the tests of each room catch and miss; MUTANTS="--rooms timing --faults 20"
	$(BIN)/python -m tools.mutants $(MUTANTS)

pictures: $(STAMP)
	$(BIN)/python -m tools.pictures
	$(BIN)/python -m tools.doors

dist: $(STAMP)  # wheel and source archive, tried in an environment that has nothing else
	$(BIN)/pyright --pythonversion 3.14
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/python tests/distribution

docs: $(STAMP)  # the site, into build/docs/html
	$(BIN)/python docs/site.py

editor: $(STAMP)  # the extension of VS Code, built, tested and packed into dist/; needs npm
	mkdir -p dist
	cd editors/vscode && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts
	cd editors/vscode && npm run --silent build && npm run --silent test && npm run --silent package -- $$(../../$(BIN)/ptosim --version | cut -d' ' -f2)

clean:
	rm -rf .venv build dist src/*.egg-info .pytest_cache .ruff_cache .hypothesis

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
