#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the suites whose outcome depends on the user: as root in a folder that others may not enter, and as a user without
# rights, name and home folder. To be run as root, after the tests were built. Arguments go to Swift Testing in place of the
# suites.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# Nobody's number on an ordinary machine, and one that has no keys in the kernel: those of an earlier run stay there until the
# machine goes down, and would use up the user's quota.
user=64210
while grep -qE "^ *$user:" /proc/key-users; do user=$((user + 1)); done
readonly user
readonly suites='ReadOnly|KernelKeyring|SharedKeyring|RefusedKeyring|LocationTests|DeviceKeyTests|PassphraseSlotTests|PassphraseTests'
readonly tools='KeychainctlTests\.SecrecyTests|TerminalTests|KeyringQuota|LockTests|ListTests|DoctorTests|Privileged|EntitlementsFile|Askpass|Pinentry'

if [[ $(id -u) != 0 ]]; then
    echo "Not root, who alone can become another user: not run. The tests themselves were run as this user." >&2
    exit 0
fi

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    local built
    built=$(swift build --enable-all-traits --show-bin-path)
    chmod 755 "$scratch"
    local arguments=("$@")
    if [[ $# == 0 ]]; then arguments=(--filter "$suites|$tools"); fi

    echo "=== As root, in a folder that others may not enter"
    install_into "$scratch/closed" "$built" 700 0
    run_in "$scratch/closed" env "${arguments[@]}"

    echo "=== As user $user"
    install_into "$scratch/open" "$built" 755 "$user"
    if ! setpriv --reuid="$user" --regid="$user" --clear-groups "$scratch/open/built/keychainctl" --help > "$scratch/help"; then
        echo "User $user cannot run what was built (above: why). Perhaps the toolchain lies in root's home: not run." >&2
        exit 0
    fi
    run_in "$scratch/open" setpriv --reuid="$user" --regid="$user" --clear-groups "${arguments[@]}"
}

# The tests find programs beside themselves, and samples by the path of their source.
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
    find "$built" -maxdepth 1 \( -name '*.so' -o -name '*.resources' \) -exec cp -r -- {} "$folder/built/" \;
    chmod -R go+rX,go-w "$folder/built"
    chmod "$mode" "$folder/built"
    chmod 700 "$folder/scratch"
    chown -R "$owner" "$folder/scratch"
}

# Arguments: the folder, what becomes the user, what Swift Testing is told. In an empty environment: nothing of root's is used.
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

# At the end, where the reader of a long log looks.
repeat_failures() {
    printf '\n=== What failed\n'
    grep -E '^(✘|error:|.*: error:|.*Fatal error)' "$scratch/log" || echo "The tests ended without saying what: see above."
}

main "$@"
