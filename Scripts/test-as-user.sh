#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the suites whose outcome depends on the user: as root in a folder that other users may not enter, and as a user without
# privileges, name and home folder. Run it as root, after the tests have been built. Arguments are passed to Swift Testing and
# replace the suites.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# A user id that is not in use and has no keys in the kernel. Keys of earlier runs stay in the kernel until the machine shuts
# down, and would use up the user's quota.
user=64210
while grep -qE "^ *$user:" /proc/key-users; do user=$((user + 1)); done
readonly user
readonly suites='ReadOnly|KernelKeyring|SharedKeyring|RefusedKeyring|LocationTests|DeviceKeyTests|PassphraseSlotTests|PassphraseTests'
readonly tools='KeychainctlTests\.SecrecyTests|TerminalTests|KeyringQuota|LockTests|ListTests|DoctorTests|RunTests|Privileged|EntitlementsFile|AskpassAuthenticator|Pinentry'

if [[ $(id -u) != 0 ]]; then
    echo "Skipped: only root can run tests as another user. The tests have run as the current user." >&2
    exit 0
fi

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    local built
    built=$(Scripts/build.sh core --show-bin-path)
    chmod 755 "$scratch"
    local arguments=("$@")
    if [[ $# == 0 ]]; then arguments=(--filter "$suites|$tools"); fi

    echo "=== As root, in a folder that other users may not enter"
    install_into "$scratch/closed" "$built" 700 0
    run_in "$scratch/closed" env "${arguments[@]}"

    echo "=== As user $user"
    install_into "$scratch/open" "$built" 755 "$user"
    local status=0 reason
    reason=$(setpriv --reuid="$user" --regid="$user" --clear-groups "$scratch/open/built/keychainctl" --help 2>&1 >"$scratch/help") ||
        status=$?
    # The program, or a library of the toolchain, cannot be opened. `.ci/run` repeats this line at its end.
    if ((status == 126 || status == 127)); then
        echo "Skipped: user $user cannot run the built programs: ${reason//$'\n'/ }. The toolchain may be in root's home folder." >&2
        exit 0
    fi
    run_in "$scratch/open" setpriv --reuid="$user" --regid="$user" --clear-groups "${arguments[@]}"
}

# The tests find programs beside their own executable, and samples by the path of their source.
install_into() {
    local folder=$1 built=$2 mode=$3 owner=$4
    mkdir "$folder" "$folder/built" "$folder/scratch"
    chmod "$mode" "$folder" "$folder/built"
    local path
    for path in "$built"/*; do
        if [[ -f $path && -x $path && $path != *.so && $path != *.o ]]; then
            cp --reflink=auto -- "$path" "$folder/built/"
        fi
    done
    # The optimized one, as in test.sh.
    cp --reflink=auto -- .build/release/keychainctl "$folder/built/keychainctl"
    find "$built" -maxdepth 1 \( -name '*.so' -o -name '*.resources' \) -exec cp -r -- {} "$folder/built/" \;
    chmod -R go+rX,go-w "$folder/built"
    chmod "$mode" "$folder/built"
    chmod 700 "$folder/scratch"
    chown -R "$owner" "$folder/scratch"
}

# Arguments: the folder, the command that changes the user, the arguments of Swift Testing. The environment is empty, so that
# nothing of root's is used.
run_in() {
    local folder=$1
    shift
    local become=()
    while [[ $1 != --filter && $1 != --skip ]]; do
        become+=("$1")
        shift
    done
    (
        cd /
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 NO_COLOR=1 \
            HOME="$folder/scratch" KEYCHAIN_VAULT="$folder/scratch/vault" \
            KEYCHAIN_DEVICE_KEY="$folder/scratch/config/device.key" XDG_CONFIG_HOME="$folder/scratch/settings" \
            XDG_STATE_HOME="$folder/scratch/state" KEYCHAIN_ANCHORS=file \
            "${become[@]}" "$folder/built/swift-keychainPackageTests.xctest" --testing-library swift-testing \
            --experimental-maximum-parallelization-width 24 "$@"
    ) 2>&1 | tee "$scratch/log" || { repeat_failures; exit 1; }
}

# Repeat the failures at the end, where they are easy to find in a long log.
repeat_failures() {
    printf '\n=== Failures\n'
    grep -E '^(✘|error:|.*: error:|.*Fatal error)' "$scratch/log" || echo "The tests failed without naming a test; see the log above."
}

main "$@"
