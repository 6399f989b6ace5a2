#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the tests of this package and of the package in Wrappers. Arguments such as --filter and --skip are passed to
# Swift Testing, as with `swift test`.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# The number of concurrent tests. By default Swift Testing starts all tests at once. A test that waits for an answer would then
# continue only after all others, minutes after its timeout.
readonly width=24

# The tests of the tool, and those that start etcd one after the other, as patterns.
readonly tool_tests='^KeychainctlTests\.' etcd_tests='^KeychainSyncTests\.Etcd'

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    # All builds of the project enable all traits, since a change of traits compiles every module again. check-readme.sh builds
    # without them.
    Scripts/build.sh core --build-tests
    Scripts/build.sh wrappers --build-tests
    local core wrappers
    core=$(Scripts/build.sh core --show-bin-path)/swift-keychainPackageTests.xctest
    wrappers=$(Scripts/build.sh wrappers --show-bin-path)/swift-keychain-wrappersPackageTests.xctest
    # The tests run the tool as it is installed. It is also five times as fast, and runs a thousand times.
    Scripts/install.sh release
    Scripts/check-foundation.py
    set_environment
    if [[ " $*" == *' --filter'* ]]; then
        run core "$core" "$@"
        run wrappers "$wrappers" "$@"
    else
        run_all "$core" "$wrappers" "$@"
    fi
    [[ -e $scratch/found ]] || { echo "No test matches the filter." >&2; exit 1; }
    ((failed == 0)) || { repeat_failures; exit 1; }
}

failed=0

# The tests of the tool and of etcd mostly wait for processes, and a test program has only as many threads that wait as there are
# processors. So the other tests of the core run at the same time.
run_all() { # program of the core, program of the wrappers, arguments of Swift Testing
    local -a beside=()
    local pid
    (run others "$1" --skip "$tool_tests|$etcd_tests" "${@:3}"; exit "$failed") &
    beside+=($!)
    (run etcd "$1" --filter "$etcd_tests" "${@:3}"; exit "$failed") &
    beside+=($!)
    run tool "$1" --filter "$tool_tests" "${@:3}"
    run wrappers "$2" "${@:3}"
    for pid in "${beside[@]}"; do wait "$pid" || failed=1; done
}

# Does not use `swift test`: it would record the environment, and the next build would compile every module again.
run() { # name of the log, program, arguments of Swift Testing
    local status=0
    # A shell lets programs in the background ignore the signals that tests send.
    env --default-signal=INT,QUIT "$2" --testing-library swift-testing --experimental-maximum-parallelization-width "$width" "${@:3}" 2>&1 |
        tee "$scratch/$1.log" || status=$?
    # Swift Testing exits with 69 if no test is left. Another program may have some.
    if ((status == 69 && $# > 2)); then return; fi
    # A variable would be lost with the subshells of run_all.
    touch "$scratch/found"
    ((status == 0)) || failed=1
}

set_environment() {
    # Programs know themselves by this path, without symbolic links.
    KEYCHAIN_TEST_TOOL=$(realpath .build/release/keychainctl)
    export KEYCHAIN_TEST_TOOL
    # Tests create their own vaults. A test that does not must not open the user's vault.
    export KEYCHAIN_VAULT="$scratch/vault" KEYCHAIN_DEVICE_KEY="$scratch/config/device.key"
    # The same applies to the settings.
    export XDG_CONFIG_HOME="$scratch/settings" XDG_STATE_HOME="$scratch/state" KEYCHAIN_ANCHORS=file
    # The library of TPMs prints the failures that tests provoke.
    export TSS2_LOG=all+NONE
    # With colours, failures could not be found in the log.
    export NO_COLOR=1
    local python="$PWD/.build/test-venv/bin/python"
    if [[ -x $python ]]; then export KEYCHAIN_TEST_PYTHON="$python"; fi
}

# Repeat the failures at the end, with what the tests say of them, where they are easy to find in a long log.
repeat_failures() {
    printf '\n=== Failures\n'
    grep -hE '^(✘|↳|error:|.*: error:|.*Fatal error)' "$scratch"/*.log || echo "The tests failed without naming a test; see the log above."
}

main "$@"
