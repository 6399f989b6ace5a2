#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests under the thread sanitizer, which ends with an error at the first race. Arguments go to the tests.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# Another build of everything, beside the usual one.
readonly build=(swift build --sanitize=thread --scratch-path .build/sanitize --enable-all-traits)

# So many tests at once, as in test.sh; here most of all, since everything takes ten times as long.
readonly width=24

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    # Before anything is set: another environment compiles every module anew.
    "${build[@]}" --build-tests
    local tests
    tests=$("${build[@]}" --show-bin-path)/swift-keychainPackageTests.xctest
    export KEYCHAIN_VAULT="$scratch/vault" KEYCHAIN_DEVICE_KEY="$scratch/config/device.key" XDG_CONFIG_HOME="$scratch/settings" XDG_STATE_HOME="$scratch/state"
    export KEYCHAIN_ANCHORS=file
    "$(clang_of_swift)" -shared -fPIC -O1 -Wall -Wextra -Werror -o "$scratch/annotations.so" \
        Tests/Sanitizer/MutexAnnotations.c -ldl
    LD_PRELOAD="$scratch/annotations.so" TSAN_OPTIONS="halt_on_error=1 exitcode=66" \
        "$tests" --testing-library swift-testing --experimental-maximum-parallelization-width "$width" "$@"
}

# Only this one knows how Swift calls functions.
clang_of_swift() {
    local clang
    clang=$(dirname -- "$(readlink -f -- "$(command -v swift)")")/clang
    [[ -x $clang ]] || { echo "There is no 'clang' beside 'swift', with which it comes." >&2; exit 1; }
    echo "$clang"
}

main "$@"
