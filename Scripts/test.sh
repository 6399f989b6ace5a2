#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the tests. Arguments go to Swift Testing, as those of `swift test` do: --filter, --skip.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# So many tests at once. Swift Testing by itself begins all of them: one that waits for an answer would go on when all
# others are through, minutes after its deadline.
readonly width=24

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    # All builds of the project itself have all traits on: another choice compiles every module anew. check-readme.sh has it off.
    swift build --enable-all-traits --build-tests
    local tests
    tests=$(swift build --enable-all-traits --show-bin-path)/swift-keychainPackageTests.xctest
    set_environment
    # Not by `swift test`: that takes note of the environment, and the next build would compile every module anew.
    "$tests" --testing-library swift-testing --experimental-maximum-parallelization-width "$width" "$@" 2>&1 |
        tee "$scratch/log" || { repeat_failures; exit 1; }
}

set_environment() {
    # Tests make vaults of their own. Should one ever forget to, it must not meet the user's.
    export KEYCHAIN_VAULT="$scratch/vault" KEYCHAIN_DEVICE_KEY="$scratch/config/device.key"
    # The same goes for their settings.
    export XDG_CONFIG_HOME="$scratch/settings" XDG_STATE_HOME="$scratch/state" KEYCHAIN_ANCHORS=file
    # Else what fails could not be found in the log.
    export NO_COLOR=1
    local python="$PWD/.build/test-venv/bin/python"
    if [[ -x $python ]]; then export KEYCHAIN_TEST_PYTHON="$python"; fi
}

# At the end, where the reader of a long log looks.
repeat_failures() {
    printf '\n=== What failed\n'
    grep -E '^(✘|error:|.*: error:|.*Fatal error)' "$scratch/log" || echo "The tests ended without saying what: see above."
}

main "$@"
