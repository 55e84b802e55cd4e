# The front door. `make demo` and `make test` do all their set-up themselves.
BUILD ?= build/release
PREFIX ?= /usr/local

.PHONY: all build demo test fuzz torture tsan bench conformance docs install deb format lint valgrind clean help

all: build

help:
	@echo "make demo      install what is missing, build, run the main example, make its replay page"
	@echo "make test      the same, then every test"
	@echo "make fuzz      look for inputs that break the readers and the solvers, SECONDS=300 long"
	@echo "make torture   10 000 corrupt files, 3000 refused requests of memory, 200 kills, 50 full disks, 20 limits of memory"
	@echo "make tsan      the threaded paths under the thread sanitizer, on 1, 2 and 4 threads"
	@echo "make bench     compare with other engines on the same input"
	@echo "make conformance  every scene by every integrator against its truth: build/conformance.html"
	@echo "make docs      the reference of the C interface, as HTML"
	@echo "make install   into PREFIX (default /usr/local);  make deb  a Debian package"
	@echo "make format    clang-format everything;  make lint  clang-format, clang-tidy, compiler warnings of gcc and clang"
	@echo "make valgrind  the quick tests under valgrind"

build:
	@scripts/setup build
	@scripts/build release carom_cli carom_static

demo: build
	@$(BUILD)/carom demo seven-prisms --dir build/demo --force

test:
	@scripts/setup build test
	@scripts/test

# New seeds, for as long as told: make fuzz SECONDS=300
SECONDS ?= 300
fuzz:
	@scripts/setup build test
	@scripts/build fuzz fuzzers
	@tests/fuzz/run $(SECONDS)

torture:
	@scripts/setup build test
	@scripts/torture

tsan:
	@scripts/setup build test
	@scripts/tsan

valgrind:
	@scripts/setup build test
	@scripts/valgrind

bench:
	@scripts/setup build bench
	@scripts/fetch-rvo2
	@scripts/build bench
	@scripts/bench

conformance:
	@scripts/setup build test bench
	@scripts/build bench carom_bench_conformance
	@scripts/conformance

docs:
	@scripts/setup docs
	@mkdir -p build/docs && doxygen docs/Doxyfile && echo "docs: build/docs/html/index.html"

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

deb: build
	@cd $(BUILD) && cpack -G DEB && ls -1 *.deb

format:
	@scripts/setup lint
	@scripts/lint --fix

lint:
	@scripts/setup lint
	@scripts/lint

clean:
	@rm -rf build
