# SPDX-License-Identifier: Apache-2.0
# The commands of the project. Scripts/ does the work. All paths are relative, so the project can be in any folder.

SHELL := /bin/bash
SWIFT_CODE := Package.swift Sources Tests Benchmarks Examples Fuzz/Package.swift Fuzz/Sources
SWIFT_CODE += $(addprefix Wrappers/,Package.swift Sources Tests Examples Benchmarks)
FAULT_SUITES := KillTests|StarvationTests|FaultSampleTests
THREAD_SUITES := KeychainKitTests|KeychainTestingTests|KeychainSecItemTests|KeychainConfigurationTests|Observ|SwarmTests
THREAD_SUITES := $(THREAD_SUITES)|KeychainTests\.|ValetTests|KeychainClientTests|SecureStorageTests

.DEFAULT_GOAL := help
.PHONY: help demo test check faults archives carriers fuzz mutants simulate sanitize bench bench-sync bench-sync-peers bench-peers gate lint format docs consumers distributions nightly clean
.PHONY: release install uninstall deb container check-install

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

demo: ## Store a secret in one process and read it in another, in a temporary vault
	@Scripts/setup.sh build
	@Scripts/demo.sh

test: ## Run all tests
	@Scripts/setup.sh test
	@Scripts/test.sh

check: export KEYCHAIN_CHECK = 1
check: ## Before a commit: check formatting and documents, build without warnings, run all tests except the fault suites
	@Scripts/setup.sh test
	@$(MAKE) --no-print-directory lint docs
	@Scripts/check-fuzz.sh
	@Scripts/test.sh --skip '$(FAULT_SUITES)'

faults: ## Try all faults, power cuts and interleavings, and write Docs/Evidence.md
	@Scripts/setup.sh test
	@Scripts/faults.sh

archives: ## Try exports and imports in full: 10,000 items, kills at each write call, each byte changed; writes Docs/Evidence.md
	@Scripts/setup.sh test
	@Scripts/archives.sh

# Items on each of three machines.
ITEMS := 10000

carriers: ## Share ITEMS (10,000) from each of three machines over a folder, git, Syncthing and etcd, with faults; installs Syncthing
	@Scripts/setup.sh carriers
	Scripts/build.sh core --product exerciser
	@# With all traits, so also with etcd; as `make bench-sync` builds.
	Scripts/build.sh core --configuration release --product keychainctl
	KEYCHAINCTL="$$(Scripts/build.sh core --configuration release --show-bin-path)/keychainctl" \
		Scripts/check-sync.py --items $(ITEMS) --record Docs/Evidence.md

fuzz: ## Fuzz every decoder for FUZZ_SECONDS (60) each, with the address sanitizer
	@Scripts/setup.sh build
	@FUZZ_RECORD=Docs/Evidence.md Scripts/fuzz.sh

mutants: ## Check that the tests detect more than a hundred defects, each injected into a copy of the project
	@Scripts/setup.sh test
	@MUTANTS_RECORD=Docs/Evidence.md Scripts/mutants.sh

# A run of 1,000,000 takes some hours.
SEEDS := 1000000

simulate: ## Simulate sync for SEEDS (1,000,000) seeds, and write the result into Docs/Evidence.md
	@Scripts/setup.sh build
	@SIMULATION_RECORD=Docs/Evidence.md Scripts/simulate.sh $(SEEDS)

# Tests that measure the memory of a process or count how often it wakes up: the sanitizer increases both.
NOT_SANITIZED := $(FAULT_SUITES)|thousandReads|isNotWokenUp

# Which packages: `core` leaves the wrappers out.
SANITIZED := core wrappers
# The document that receives the result; empty: none.
SANITIZE_RECORD := Docs/Evidence.md

sanitize: ## Run the concurrency tests under the thread sanitizer
	@Scripts/setup.sh test
	@SANITIZED='$(SANITIZED)' SANITIZE_RECORD='$(SANITIZE_RECORD)' Scripts/sanitize.sh --filter '$(THREAD_SUITES)' --skip '$(NOT_SANITIZED)'

bench: ## Measure reads and writes in a release build
	@Scripts/setup.sh build
	@Scripts/bench.sh

bench-sync: ## Measure in a release build, over a folder and over etcd, how soon another machine has a change, and what sharing adds to a save
	@Scripts/setup.sh test
	Scripts/build.sh core --configuration release --product keychain-benchmarks
	"$$(Scripts/build.sh core --configuration release --show-bin-path)/keychain-benchmarks" "$(CURDIR)/.build" sync

bench-sync-peers: ## Compare sync with pass git and with KeePassXC over Syncthing, and write the result into Docs/PERFORMANCE.md
	@Scripts/setup.sh carriers
	Scripts/compare-sync.py --record Docs/PERFORMANCE.md

gate: ## Check in a release build that the most important calls have not become slower, beside what SQLite alone costs
	@Scripts/setup.sh build
	@Scripts/gate.sh

bench-peers: ## Measure other secret stores beside this one, and write the result into Docs/PERFORMANCE.md; installs packages
	@Scripts/setup.sh build
	@Scripts/bench-peers.sh

lint: ## Check the formatting of all Swift code, the package manifests, and that only one place reads the environment
	@Scripts/setup.sh build
	swift format lint --strict --parallel --recursive $(SWIFT_CODE)
	@Scripts/check-manifest.py
	@Scripts/check-environment.sh

format: ## Format all Swift code
	@Scripts/setup.sh build
	swift format --in-place --parallel --recursive $(SWIFT_CODE)

docs: ## Check the documents: links, test names, examples, folder order, API reference
	@Scripts/check-docs.py
	@Scripts/check-folders.py --self-test
	@Scripts/check-folders.py
	@Scripts/setup.sh build
	@Scripts/check-docc.sh

consumers: ## Build the packages from the READMEs, and packages that depend on this one by URL and version (debug, release)
	@Scripts/setup.sh build
	@Scripts/check-readme.sh
	@CONSUMERS_RECORD=Docs/Evidence.md Scripts/check-consumers.sh --all

distributions: ## Try what was built here in other distributions, as root; installs debootstrap
	@Scripts/setup.sh test
	@DISTRIBUTIONS_RECORD=Docs/Evidence.md DISTRIBUTIONS_SKIP='$(FAULT_SUITES)|SwarmTests|NeedleTests' Scripts/check-distributions.sh

# What takes hours. Each part runs even if an earlier one has failed.
NIGHTLY := fuzz faults archives mutants simulate carriers sanitize consumers
NIGHTLY_SEEDS := 100000

nightly: ## Run all that takes long: fuzz, faults, archives, mutants, simulate, carriers, sanitize, consumers; changes Docs/Evidence.md
	@failed=(); for part in $(NIGHTLY); do \
			$(MAKE) --no-print-directory "$$part" SEEDS=$(NIGHTLY_SEEDS) || failed+=("$$part"); \
		done; \
		(($${#failed[@]} == 0)) || { echo "Failed: $${failed[*]}" >&2; exit 1; }

release: ## Build the tool as it is installed: optimized, with Swift's libraries inside
	@Scripts/setup.sh build
	@Scripts/install.sh release

# Where `make install` puts the tool. DESTDIR is a folder in front of it, for packages; TOOL an already built keychainctl.
PREFIX ?= /usr/local

install uninstall deb check-install: export PREFIX := $(PREFIX)
install uninstall deb check-install: export DESTDIR := $(DESTDIR)
install uninstall deb check-install: export TOOL := $(TOOL)
install: export WITH_SECURITY := $(WITH_SECURITY)
install: export REPLACE := $(REPLACE)

install: ## Install the tool, man pages, completions and units in PREFIX (/usr/local); WITH_SECURITY=1 adds the name `security`
	@Scripts/install.sh install

uninstall: ## Remove what `make install` has put into PREFIX
	@Scripts/install.sh uninstall

deb: ## Make the Debian package of the tool, in .build
	@Scripts/deb.sh

container: ## Build the container image of the tool, swift-keychain; needs docker
	docker build --tag swift-keychain .

check-install: ## Try make install, uninstall and deb: completions, man pages, units; the package only as root
	@Scripts/check-install.sh

clean: ## Remove all build products
	rm -rf .build
