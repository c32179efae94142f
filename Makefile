# Commands for contributors. `make help` lists them.
#
# Needs make and Swift 6.2 or newer on PATH; everything else is installed by scripts/install-dependencies.sh,
# which does nothing if nothing is missing.

PREFIX  ?= /usr/local
DESTDIR ?=

SWIFT_SOURCES := Package.swift Sources Tests bench
BIN := .build/release
RELEASE := -c release --static-swift-stdlib
TESTS := .build/debug/transferdPackageTests.xctest --testing-library swift-testing

.PHONY: help build release test demo bench tsan units fuzz fuzzservers docs fmt lint install clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## debug build
	@scripts/install-dependencies.sh build
	swift build

release: ## transferd and transferctl in .build/release, the Swift runtime linked in
	@scripts/install-dependencies.sh build
	swift build $(RELEASE) $$(scripts/link-options.sh) --product transferd
	swift build $(RELEASE) $$(scripts/link-options.sh) --product transferctl
	@scripts/check-release.sh $(BIN)

test: ## every test
	@scripts/install-dependencies.sh test
	swift build --build-tests
	@# The program itself: `swift test` plans the build once more before each run.
	@# Each end-to-end test starts its own daemons and servers, so only a few of them run at once.
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 $(TESTS) --skip EndToEndTests
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 $(TESTS) --filter EndToEndTests

demo: ## shows a download that survives kill -9 of the daemon; needs no internet
	@scripts/install-dependencies.sh demo
	@# Debug builds, which `make test` needs, too: the two together take much less time than a release build and the tests.
	swift build --product transferd
	swift build --product transferctl
	@scripts/demo.sh .build/debug

bench: ## compares with curl, aria2, wget2, rclone and a minimal C loop; prints ratios
	@scripts/install-dependencies.sh bench
	@scripts/bench.sh

tsan: ## the tests of the engine and of the threads under the thread sanitizer
	@scripts/install-dependencies.sh test
	@scripts/tsan.sh

units: release ## both systemd units under a real systemd, in a container; needs root and systemd-container
	@scripts/units.sh $(BIN)

fuzz: ## libFuzzer on every parser, FUZZ_SECONDS=60 each, FUZZ_CASE=… for some; see scripts/fuzz.sh
	@scripts/install-dependencies.sh build
	@scripts/fuzz.sh

fuzzservers: ## 1,000 conversations with servers that send random responses; SEED=… repeats a run
	@scripts/install-dependencies.sh test
	@scripts/fuzz-servers.sh

docs: ## builds the engine's documentation in .build/docs; every public symbol must have a comment
	@scripts/install-dependencies.sh build
	@scripts/docs.sh

fmt: ## format in place
	swift format --in-place --recursive --parallel $(SWIFT_SOURCES)

lint: ## format, length of files, checked numbers, dependencies, no libdispatch in the daemon, no lock file
	swift format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	@find Sources -type f -exec awk 'END { if (FNR > 400) { print FILENAME ": " FNR " lines, 400 at most"; exit 1 } }' {} \; \
	  | { ! grep .; }
	@# Unchecked arithmetic on a number from outside can stop the program: docs/security.md.
	@command -v python3 >/dev/null || scripts/install-dependencies.sh demo
	@python3 scripts/lint-numbers.py --self-test
	@python3 scripts/lint-numbers.py
	@# Folders of a room form layers: docs/architecture.md.
	@python3 scripts/lint-folders.py
	@python3 scripts/lint-dependencies.py
	@# Version.swift is the place; the description of the API repeats it.
	@version=$$(sed -nE 's/.*current = "(.*)"/\1/p' Sources/TransferAPI/Version.swift); \
	  grep -qx "  version: $$version" docs/openapi.yaml || { echo "docs/openapi.yaml: the version must be $$version" >&2; exit 1; }
	@# Each of these starts libdispatch's timer in the daemon: docs/decisions/0004-threads-of-our-own.md.
	@! grep -rnE 'Task\.sleep|DispatchQueue\(|DispatchSource|UnixSignals' Sources/Threads Sources/Store Sources/TransferEngine Sources/transferd \
	  | grep -vE '^[^:]+:[0-9]+: *///'
	@# A library does not commit Package.resolved: its users resolve their own versions.
	@! git ls-files 2>/dev/null | grep -E '(^|/)Package\.resolved$$'

# Builds only missing programs: `make release && sudo make install` needs no Swift on root's PATH.
install: ## programs, completions and units below PREFIX (/usr/local) and DESTDIR
	@test -x $(BIN)/transferd -a -x $(BIN)/transferctl || $(MAKE) release
	@scripts/install.sh "$(BIN)" "$(DESTDIR)" "$(PREFIX)"

clean: ## delete every build
	rm -rf .build .build-*
