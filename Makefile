# What a contributor types. `make help` lists it.
#
# Needs make and Swift 6.2 or newer on PATH; everything else is installed by scripts/install-dependencies.sh,
# which does nothing where nothing is missing.

PREFIX  ?= /usr/local
DESTDIR ?=

SWIFT_SOURCES := Package.swift Sources Tests bench
RELEASE := -c release --static-swift-stdlib
BIN := .build/release

.PHONY: help build release test demo bench tsan units fuzz fuzzservers docs fmt lint install clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## debug build
	@scripts/install-dependencies.sh build
	swift build

release: ## transferd and transferctl in .build/release, the Swift runtime linked in
	@scripts/install-dependencies.sh build
	swift build $(RELEASE) --product transferd
	swift build $(RELEASE) --product transferctl

test: ## every test
	@scripts/install-dependencies.sh test
	swift build --build-tests
	@# Each end-to-end test starts daemons and servers of its own: few at a time, or two cores are too few for them.
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 swift test --skip-build --disable-xctest --skip EndToEndTests
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 swift test --skip-build --disable-xctest --filter EndToEndTests

demo: ## a download survives kill -9 of the daemon, on this machine alone
	@scripts/install-dependencies.sh test
	@scripts/demo.sh

bench: ## against curl, aria2, wget2, rclone and a bare loop; prints ratios
	@scripts/install-dependencies.sh bench
	@scripts/bench.sh

tsan: ## the tests of the engine and of the threads under the thread sanitizer
	@scripts/install-dependencies.sh test
	@scripts/tsan.sh

units: release ## both systemd units under a real systemd, in a container; needs root and systemd-container
	@scripts/units.sh $(BIN)

fuzz: ## libFuzzer on every parser, FUZZ_SECONDS=60 each, FUZZ_CASE=… for some; scripts/fuzz.sh says more
	@scripts/install-dependencies.sh build
	@scripts/fuzz.sh

fuzzservers: ## 1,000 conversations with servers that answer at random; SEED=… for one that was printed
	@scripts/install-dependencies.sh test
	@scripts/fuzz-servers.sh

docs: ## the engine's documentation, in .build/docs; every public symbol has some
	@scripts/install-dependencies.sh build
	@scripts/docs.sh

fmt: ## format in place
	swift format --in-place --recursive --parallel $(SWIFT_SOURCES)

lint: ## format, length of files, checked numbers, no libdispatch in the daemon, no lock file
	swift format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	@find Sources -type f -exec awk 'END { if (FNR > 400) { print FILENAME ": " FNR " lines, 400 at most"; exit 1 } }' {} \; \
	  | { ! grep .; }
	@# Numbers from outside stop the program where their arithmetic traps: docs/security.md.
	@command -v python3 >/dev/null || scripts/install-dependencies.sh test
	@python3 scripts/lint-numbers.py --self-test
	@python3 scripts/lint-numbers.py
	@# Each brings libdispatch's timer back into the daemon: docs/decisions/0004-threads-of-our-own.md.
	@! grep -rnE 'Task\.sleep|DispatchQueue\(|DispatchSource|UnixSignals' Sources/Threads Sources/Store Sources/TransferEngine Sources/transferd \
	  | grep -vE '^[^:]+:[0-9]+: *///'
	@# A library's Package.resolved is not its users'.
	@! git ls-files 2>/dev/null | grep -E '(^|/)Package\.resolved$$'

# Builds only what is not there: `make release && sudo make install` needs no Swift on root's PATH.
install: ## programs, completions and units below PREFIX (/usr/local) and DESTDIR
	@test -x $(BIN)/transferd -a -x $(BIN)/transferctl || $(MAKE) release
	@scripts/install.sh "$(BIN)" "$(DESTDIR)" "$(PREFIX)"

clean: ## forget every build
	rm -rf .build .build-*
