# All a person needs: demo, test, lint, bench, docs, install. CMake does the work.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
# ON builds the plug-in for GPUs where nvcc is found. REQUIRED installs nvcc where it is missing,
# and fails without it and on its warnings: .ci/run does that.
CUDA ?= ON

.PHONY: all demo test test-asan fuzz coverage lint abi format bench reliability docs install clean \
        to-build to-test to-lint to-cuda build/roofs

all: build/roofs

# What is missing is installed first (Debian and Ubuntu; elsewhere it says what to get).
to-build to-test to-lint to-cuda: to-%:
	@scripts/install-dependencies $*

build/roofs: to-build $(if $(filter REQUIRED,$(CUDA)),to-cuda)
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DROOFS_CUDA=$(CUDA) > build.log 2>&1 || \
		{ cat build.log; rm build.log; exit 1; }
	@rm -f build.log
	@cmake --build build --parallel $(JOBS)

demo: build/roofs
	@scripts/demo build/roofs

# The release build as people use it, then everything again under the address and
# undefined-behaviour sanitizers.
test: to-test build/roofs test-asan
	ctest --test-dir build --output-on-failure --parallel $(JOBS) --timeout 3600

test-asan: to-test
	@cmake --preset asan > /dev/null
	@cmake --build build/asan --parallel $(JOBS)
	ctest --test-dir build/asan --output-on-failure --parallel $(JOBS) --timeout 3600 \
		--exclude-regex 'pytest.(install|house)'

# Every fuzz target for 20 minutes, and thousands of fits against the references.
fuzz: to-test build/roofs
	scripts/fuzz 1200
	ROOFS_FUZZ_EXAMPLES=20000 ROOFS=build/roofs $(PYTHON) -m pytest -q -p no:cacheprovider tests/fuzz -k agree

# Which lines of src the tests reach; fails below 92%. The page is build/coverage/lines.html.
coverage: to-test
	@scripts/coverage 92

lint: to-lint
	@scripts/lint

# Compares the C interface with the frozen one (docs/versioning.md); a part of lint.
abi: to-lint
	@scripts/abi-check

format: to-lint
	@clang-format -i $$(scripts/c-files)

bench: to-test build/roofs
	build/roofs bench --rival "$(PYTHON) bench/numpy_roofs.py --as-listed"
	build/roofs bench --no-scaling --rival "$(PYTHON) bench/numpy_roofs.py"
	$(PYTHON) bench/parse.py

# The table of docs/reliability.md: what was done to a running fit, and what was lost.
reliability: to-test build/roofs
	$(PYTHON) tests/faults/table.py

docs: to-test build/roofs
	@scripts/docs "$(PYTHON)" "$(CURDIR)/build"

install: build/roofs
	@cmake --install build --prefix $(PREFIX)
	@[ "$$(id -u)" -ne 0 ] || ldconfig # so that programs find the new library

clean:
	@rm -rf build
