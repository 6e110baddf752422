# Targets for people: demo, test, lint, bench, docs, install. CMake builds.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
# The plug-in for GPUs. ON: build it if nvcc is found. REQUIRED: install nvcc if it is missing; fail
# without nvcc and on its warnings, as .ci/run does.
CUDA ?= ON

.PHONY: all demo test test-asan test-long fuzz coverage lint abi format bench reliability power-loss soak docs \
        wheel r-package r-check deb tarball release \
        install clean configure to-build to-test to-lint to-cuda build/roofs

all: build/roofs

# Installs missing packages on Debian and Ubuntu; on other systems prints their names.
to-build to-test to-lint to-cuda: to-%:
	@scripts/install-dependencies $*

configure: to-build $(if $(filter REQUIRED,$(CUDA)),to-cuda)
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DROOFS_CUDA=$(CUDA) > build.log 2>&1 || \
		{ cat build.log; rm build.log; exit 1; }
	@rm -f build.log

build/roofs: configure
	@cmake --build build --parallel $(JOBS)

# Builds the program alone: no libraries, tests or plug-ins.
demo: configure
	@cmake --build build --parallel $(JOBS) --target roofs
	@scripts/demo build/roofs

# Tests the release build, and a build with the address and undefined-behaviour sanitizers.
test: to-test build/roofs test-asan
	ctest --test-dir build --output-on-failure --parallel $(JOBS) --timeout 3600

test-asan: to-test
	@cmake --preset asan > /dev/null
	@cmake --build build/asan --parallel $(JOBS)
	ctest --test-dir build/asan --output-on-failure --parallel $(JOBS) --timeout 3600 \
		--exclude-regex 'pytest.(install|house|examples|bench|docs)'

# Streams six gigabytes instead of one through a fit, and tries ten times as many damaged files.
test-long: to-test build/roofs
	ROOFS_STREAMED=6000000000 ROOFS_MUTANTS=600 ROOFS=build/roofs $(PYTHON) -m pytest -q -p no:cacheprovider \
		tests/cli/test_memory.py tests/cli/test_differential_reading.py

# Runs every fuzz target for 20 minutes, and compares thousands of fits with the references.
fuzz: to-test build/roofs
	scripts/fuzz 1200
	ROOFS_FUZZ_EXAMPLES=20000 ROOFS=build/roofs $(PYTHON) -m pytest -q -p no:cacheprovider tests/fuzz -k agree

# Measures how many lines and branches of src the tests reach; fails below tests/coverage-floors. Writes
# build/coverage/lines.html.
coverage: to-test
	@scripts/coverage

lint: to-lint
	@scripts/lint

# Compares the C interface with that of the last release (docs/versioning.md). Lint includes it.
abi: to-lint
	@scripts/abi-check

format: to-lint
	@clang-format -i $$(scripts/c-files)

bench: to-test build/roofs
	build/roofs bench --rival "$(PYTHON) bench/numpy_roofs.py --as-listed"
	build/roofs bench --no-scaling --rival "$(PYTHON) bench/numpy_roofs.py"
	$(PYTHON) bench/parse.py

# Makes the table of docs/reliability.md: what happens to a running fit, and what it loses.
reliability: to-test build/roofs
	$(PYTHON) tests/faults/table.py

# Cuts the power, simulated, after every operation on files: at least 10,000 times.
power-loss: to-test build/roofs
	$(PYTHON) tests/faults/power.py

# An hour of random fits, resumes, kills and corrupt inputs. SEED=2 draws others.
soak: to-test build/roofs
	$(PYTHON) tests/soak.py --program build/roofs --seed $(or $(SEED),1)

docs: to-test build/roofs
	@scripts/docs "$(PYTHON)" "$(CURDIR)/build"

install: build/roofs
	@cmake --install build --prefix $(PREFIX)
	@[ "$$(id -u)" -ne 0 ] || ldconfig # so that programs find the new library

# Packages. Each script says what it needs; CONTRIBUTING.md has the list.
wheel r-package r-check deb tarball release:
	@scripts/$@

clean:
	@rm -rf build
