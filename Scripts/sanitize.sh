#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests under the thread sanitizer, which stops with an error at the first data race. Arguments are passed to the tests.
#
#   SANITIZED          the packages to test: `core wrappers` (the default), or `core`
#   SANITIZE_RECORD    a document whose section "Thread sanitizer" is replaced with the result

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# A separate build, of what these tests need (Package.swift).
readonly build=(Scripts/build.sh core --sanitize=thread)
readonly build_wrappers=(Scripts/build.sh wrappers --sanitize=thread)
readonly packages=${SANITIZED:-core wrappers}

# The number of concurrent tests, as in test.sh. The limit matters more here, since tests take ten times as long.
readonly width=24

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    # Build before setting any variables: a changed environment makes SwiftPM compile every module again.
    "${build[@]}" --build-tests
    if [[ $packages == *wrappers* ]]; then "${build_wrappers[@]}" --build-tests; fi
    local core wrappers
    core=$("${build[@]}" --show-bin-path)/swift-keychainPackageTests.xctest
    export KEYCHAIN_VAULT="$scratch/vault" KEYCHAIN_DEVICE_KEY="$scratch/config/device.key" XDG_CONFIG_HOME="$scratch/settings" XDG_STATE_HOME="$scratch/state"
    export KEYCHAIN_ANCHORS=file
    "$(clang_of_swift)" -shared -fPIC -O1 -Wall -Wextra -Werror -o "$scratch/annotations.so" \
        Tests/Sanitizer/MutexAnnotations.c -ldl
    run "$core" "$@"
    if [[ $packages == *wrappers* ]]; then
        wrappers=$("${build_wrappers[@]}" --show-bin-path)/swift-keychain-wrappersPackageTests.xctest
        run "$wrappers" "$@"
    fi
    ((found > 0)) || { echo "No test matches the filter." >&2; exit 1; }
    if [[ -n ${SANITIZE_RECORD-} ]]; then record; fi
}

found=0

run() { # program, arguments of Swift Testing
    local status=0
    LD_PRELOAD="$scratch/annotations.so" TSAN_OPTIONS="halt_on_error=1 exitcode=66" \
        "$1" --testing-library swift-testing --experimental-maximum-parallelization-width "$width" "${@:2}" 2>&1 | tee -a "$scratch/log" || status=$?
    # As in test.sh.
    if ((status == 69)) && [[ " ${*:2}" == *' --filter'* ]]; then return; fi
    found=1
    ((status == 0)) || exit "$status"
}

# Replaces the section of the document. A failure ends the script before.
record() {
    {
        printf '## Thread sanitizer\n\nWritten by `make sanitize` on %s. ' "$(date -u +%F)"
        printf 'The tests of concurrent code, of the packages: %s. A data race would have ended them.\n\n' "$packages"
        sed -nE 's/.*Test run with ([0-9]+ tests in [0-9]+ suites) passed.*/- \1 passed/p' "$scratch/log"
    } >"$scratch/section"
    Scripts/evidence.py "$SANITIZE_RECORD" "Thread sanitizer" "$scratch/section"
}

# Only Swift's own clang supports Swift's calling convention.
clang_of_swift() {
    local clang
    clang=$(dirname -- "$(readlink -f -- "$(command -v swift)")")/clang
    [[ -x $clang ]] || { echo "'clang' is missing in the folder of 'swift'. It is part of the Swift toolchain." >&2; exit 1; }
    echo "$clang"
}

main "$@"
