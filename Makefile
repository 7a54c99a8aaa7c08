# Named trips; the work is CMake's. `make help` lists them.
PRESET  ?= dev
PREFIX  ?= /usr/local
DESTDIR ?=
B       := build/$(PRESET)
RELEASE := release$(if $(filter arm64,$(ARCH)),-arm64)
harness  = $(if $(FORMAT),$(basename $(notdir $(firstword $(wildcard tests/fuzz/fuzz_$(FORMAT).c) fuzz_input))))

all: build-deps $(B)/build.ninja ## build the program: build/dev/strata (PRESET=… for another build)
	@cmake --build $(B)

test: all ## run all tests, ONLY=regex those of such names; PRESET=asan or aarch64 (under qemu)
	@cmake --build $(B) --target $(if $(ONLY),$$(tools/test-targets $(B) '$(ONLY)'),unit)
	@tools/run-tests $(B) $(if $(ONLY),-R '$(ONLY)')

web-test: all web-deps ## type check and browser tests of the page; ONLY=text those whose name contains it
	@web/test/run $(B) '$(ONLY)'

tables-test: all web-deps ## files for data tools, opened by DuckDB, Apache Arrow, pprof's and speedscope's readers from npm
	@tests/tables/run $(B)/strata

web-bench: all web-deps ## first paint and frame times of a page with a million slices
	@web/bench/run $(B)

mutate: all ## change expected values, a seeded choice, and see that tests notice; SEED=n
	@cmake --build $(B) --target unit
	@tests/mutate $(B) $(if $(SEED),--seed $(SEED))

plant: all ## every plantable cause on SEEDS=n seeds: accounting, savings and first cause against the truth
	@tests/synth/plant.py $(B)/strata --seeds $(or $(SEEDS),20) --table

demo: build-deps $(B)/build.ninja ## build quietly, answer one real question, show the files it wrote
	@echo "building strata, which takes a minute or two"
	@cmake --build $(B) -- --quiet
	@tools/demo $(B)

pictures: all ## make the pictures of docs/pictures again
	@tools/screenshot $(B)/strata docs/pictures/*.svg

check-gpu: all ## with a GPU: every workload of examples/gpu in every mode, classes and times as expected
	@rm -rf out/check-gpu
	@mkdir -p out
	@examples/gpu/profile-all $(B)/strata out/check-gpu

ci: ci-deps ## everything the continuous integration checks, ends with "N passed, N failed"
	@tools/ci

bench: bench-deps build/release/build.ninja ## measure fixed workloads, compare with the baseline
	@cmake --build build/release --target all benches
	@tests/bench/run build/release

fuzz: fuzz-deps build/asan/build.ninja ## fuzz every parser; FORMAT=name for one, SECONDS_EACH=n
	@$(if $(FORMAT),tools/harness build/asan $(harness),cmake --build build/asan --target fuzzers)
	@tools/fuzz build/asan $(FORMAT)

attack: build-deps build/asan/build.ninja ## mutants, faults, kills and more against the asan build; MINUTES=n SEED=s
	@cmake --build build/asan --target all fault fault_alloc fault_clock
	@tests/attack/attack --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1)

scaling: all ## how the time of each main command grows with events, lanes, steps, names, nesting, rows, ranks
	@tests/scaling/exponents.py $(B)/strata --table

coverage: fuzz-deps build/coverage/build.ninja ## lines of each importer that tests and corpora reach
	@cmake --build build/coverage --target all unit
	@tools/coverage build/coverage

install: build-deps build/release/build.ninja ## install under $(DESTDIR)$(PREFIX)
	@cmake --build build/release
	@DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

deb: package-deps build/$(RELEASE)/build.ninja ## a Debian package in build/packages; ARCH=arm64 for ARM
	@echo "building strata for release, which takes several minutes"
	@cmake --build build/$(RELEASE) -- --quiet
	@cpack -G DEB --config build/$(RELEASE)/CPackConfig.cmake -B build/packages >build/cpack.log || { cat build/cpack.log; exit 1; }
	@ls build/packages/*.deb

tarball: build-deps build/release/build.ninja ## a portable folder with its libraries, as build/packages/strata-*.tar.gz
	@cmake --build build/release -- --quiet
	@tools/tarball build/release build/packages

wheel: build-deps build/release/build.ninja ## program, library and Python module for pip, as build/packages/strata-*.whl
	@cmake --build build/release -- --quiet
	@python3 tools/wheel.py build/release build/packages

house: ## measures of the source tree; `tools/house --list` names what they count
	@tools/house

schema: all ## write docs/schema and the catalogue of causes from what describes them
	@tools/gen-schema $(CURDIR)/$(B)/strata
	@tools/gen-causes
	@tools/gen-page

format: format-deps ## rewrite the C sources in the house's shape
	@tools/check-format --fix

check: all format-deps ## before a commit: quick checks, tests of what changed
	@tools/check $(B)

check-format: format-deps ## one lint alone
check-tidy: tidy-deps $(B)/build.ninja
check-cppcheck: cppcheck-deps
check-shell: shell-deps
check-format check-tidy check-cppcheck check-shell:
	@tools/$@

check-bare: bare-deps ## the README in a bare Debian 12; PART=root, user or packages
	@tools/check-bare $(PART)

check-layers check-links check-diagnostics check-packages: build-deps ## one document check alone
	@tools/$@

clean: ## remove everything that was built
	@rm -rf build out

help: ## this list
	@awk -F ':.*## ' '/^[a-z].*## / { printf "make %-28s %s\n", $$1, $$2 }' Makefile

package-deps: $(if $(filter arm64,$(ARCH)),aarch64-deps,build-deps)
	@command -v cpack dpkg-shlibdeps >/dev/null || { echo "make deb needs cpack and dpkg-dev" >&2; exit 1; }

build-deps: $(if $(filter aarch64,$(PRESET)),aarch64-deps)

build-deps ci-deps bench-deps fuzz-deps format-deps tidy-deps cppcheck-deps shell-deps bare-deps aarch64-deps web-deps: %-deps:
	@tools/install-deps $*

build/%/build.ninja: CMakePresets.json | build-deps
	@mkdir -p build
	@cmake --preset $* >build/configure.log || { cat build/configure.log; exit 1; }

# Ninja and CTest use all processors; two package installations at once would lock each other out.
.NOTPARALLEL:
export SECONDS_EACH

.PHONY: deb tarball wheel package-deps all test mutate plant demo pictures check-gpu ci bench fuzz attack scaling coverage install house schema format clean help build-deps ci-deps \
	bench-deps fuzz-deps format-deps tidy-deps cppcheck-deps shell-deps bare-deps aarch64-deps check check-bare check-format \
	check-tidy check-cppcheck check-shell check-layers check-links check-diagnostics check-packages
