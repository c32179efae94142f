# transferd and transferctl. A fresh Debian 12 with Swift 6 on the PATH is enough: what else a target needs
# is installed by scripts/install-dependencies.sh, which does nothing when nothing is missing.

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=

release_bin = .build/release
room = $(DESTDIR)$(PREFIX)

.PHONY: build release test demo fmt lint install bench tsan clean

build: ## Both programs, for debugging
	scripts/install-dependencies.sh build
	$(SWIFT) build

release: ## Both programs, optimised, with Swift inside: they run where no Swift is installed
	scripts/install-dependencies.sh build
	$(SWIFT) build -c release --static-swift-stdlib --product transferd
	$(SWIFT) build -c release --static-swift-stdlib --product transferctl

test: ## All tests; the last line is the result
	scripts/install-dependencies.sh build test
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build

demo: release ## A download that survives kill -9, on this machine alone
	scripts/install-dependencies.sh test
	scripts/demo.sh

fmt: ## Formats the sources in place
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

lint: ## Format, file length, and no pinned versions in the repository
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests
	@find Sources -name '*.swift' -exec awk \
	  'FNR == 401 { print FILENAME ": more than 400 lines"; bad = 1 } END { exit bad }' {} +
	@if [ -n "$$(git ls-files -- Package.resolved '*/Package.resolved')" ]; then \
	  echo "Package.resolved is tracked; it must not be" >&2; exit 1; fi

# Built as the user, installed as root: `make release && sudo make install`.
install: $(release_bin)/transferd $(release_bin)/transferctl ## Programs, units, completions
	install -d $(room)/bin $(room)/lib/systemd/system $(room)/lib/systemd/user
	install -m 755 $^ $(room)/bin
	for scope in system user; do \
	  for unit in packaging/$$scope/*; do \
	    [ -e "$$unit" ] || continue; \
	    to=$(room)/lib/systemd/$$scope/$$(basename "$$unit"); \
	    sed 's|@BINDIR@|$(PREFIX)/bin|g' "$$unit" >"$$to" && chmod 644 "$$to" || exit 1; \
	  done; \
	done
	install -d $(room)/share/bash-completion/completions $(room)/share/zsh/site-functions
	install -d $(room)/share/fish/vendor_completions.d
	for program in transferd transferctl; do \
	  complete="$(release_bin)/$$program --generate-completion-script"; \
	  $$complete bash >$(room)/share/bash-completion/completions/$$program || exit 1; \
	  $$complete zsh >$(room)/share/zsh/site-functions/_$$program || exit 1; \
	  $$complete fish >$(room)/share/fish/vendor_completions.d/$$program.fish || exit 1; \
	done

$(release_bin)/transferd $(release_bin)/transferctl:
	$(MAKE) release

bench: release ## Compares with other download programs on this machine
	scripts/install-dependencies.sh bench
	scripts/bench.sh

tsan: ## All tests under the thread sanitizer, in a build directory of their own
	scripts/install-dependencies.sh build test
	TSAN_OPTIONS=halt_on_error=1 $(SWIFT) test --sanitize=thread --scratch-path .build-tsan

clean:
	rm -rf .build .build-tsan
