# SPDX-License-Identifier: Apache-2.0
# What there is to run. The work is done in Scripts/; every path here is relative, so that the project may lie anywhere.

SHELL := /bin/bash
SWIFT_CODE := Package.swift Sources Tests Benchmarks Examples Fuzz/Package.swift Fuzz/Sources
FAULT_SUITES := KillTests|StarvationTests|FaultSampleTests
THREAD_SUITES := KeychainKitTests|KeychainTestingTests|KeychainSecItemTests|KeychainConfigurationTests|Observ|SwarmTests
THREAD_SUITES := $(THREAD_SUITES)|KeychainTests\.|ValetTests|KeychainClientTests|SecureStorageTests

.DEFAULT_GOAL := help
.PHONY: help demo test check faults fuzz mutants sanitize bench lint format docs clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: ## Store a secret in one process and read it in another, in a throw-away vault
	@Scripts/setup.sh build
	@Scripts/demo.sh

test: ## Run all tests
	@Scripts/setup.sh test
	@Scripts/test.sh

check: ## Before a commit: format, documents, build without warnings, all tests but the fault suites
	@Scripts/setup.sh test
	@$(MAKE) --no-print-directory lint docs
	@Scripts/test.sh --skip '$(FAULT_SUITES)'

faults: ## Try all faults, power cuts and interleavings, and write Docs/Evidence.md
	@Scripts/setup.sh test
	@Scripts/faults.sh

fuzz: ## Give every decoder odd bytes, FUZZ_SECONDS each (60), with the address sanitizer
	@Scripts/setup.sh build
	@FUZZ_RECORD=Docs/Evidence.md Scripts/fuzz.sh

mutants: ## Put eighty defects into a copy, one at a time, and see whether the tests notice
	@Scripts/setup.sh test
	@MUTANTS_RECORD=Docs/Evidence.md Scripts/mutants.sh

sanitize: ## Run the tests of everything that many threads use under the thread sanitizer
	@Scripts/setup.sh test
	@Scripts/sanitize.sh --filter '$(THREAD_SUITES)' --skip '$(FAULT_SUITES)|thousandReads'

bench: ## Measure reads and writes in a release build
	@Scripts/setup.sh build
	swift build --configuration release --enable-all-traits --product keychain-benchmarks
	"$$(swift build --configuration release --show-bin-path)/keychain-benchmarks"

lint: ## Check the format of all Swift code, and that one place reads the environment
	@Scripts/setup.sh build
	swift format lint --strict --parallel --recursive $(SWIFT_CODE)
	@Scripts/check-environment.sh

format: ## Format all Swift code
	@Scripts/setup.sh build
	swift format --in-place --parallel --recursive $(SWIFT_CODE)

docs: ## Check that the documents are true: links, names of tests, examples, the reference
	@Scripts/check-docs.py
	@Scripts/setup.sh build
	@Scripts/check-docc.sh

clean: ## Remove everything that was built
	rm -rf .build
