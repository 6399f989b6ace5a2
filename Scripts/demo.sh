#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Demonstrates the main feature: one program stores a secret, the vault encrypts it on disk, and another program reads it.
# It uses a temporary vault and does not touch the user's own.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

readonly secret='correct horse'

folder=$(mktemp -d)
readonly folder
trap 'rm -rf -- "$folder"' EXIT

main() {
    # Build before setting any variables: a changed environment makes SwiftPM compile every module again.
    build keychainctl Scripts/build.sh core
    build KeychainKitDemo Scripts/build.sh core
    build SecItemDemo Scripts/build.sh core
    build JWTDemo Scripts/build.sh core
    build ClientCertificateDemo Scripts/build.sh core
    build WrapperDemo Scripts/build.sh wrappers
    PATH="$(Scripts/build.sh core --show-bin-path):$PATH"
    export KEYCHAIN_VAULT="$folder/vault" KEYCHAIN_DEVICE_KEY="$folder/config/device.key"
    export XDG_STATE_HOME="$folder/state" KEYCHAIN_ANCHORS=file
    echo
    echo "Temporary vault: $KEYCHAIN_VAULT"

    say "One process stores a secret, another process reads it"
    run "printf %s '$secret' | keychainctl set --service example.com --account alice"
    expect "$secret" "keychainctl get --service example.com --account alice"
    run "keychainctl list"
    run "keychainctl status"

    say "A program written for Apple's API (Examples/SecItemDemo) reads it too, and stores another secret"
    run "SecItemDemo"
    expect "changed by SecItemUpdate" "keychainctl get --service example.com --account bob"

    say "Programs that use KeychainKit (Examples/KeychainKitDemo): one saves a secret, another reads it, a third counts to two"
    run "KeychainKitDemo save"
    expect "battery staple" "KeychainKitDemo read"
    expect "2" "KeychainKitDemo count"
    expect "alice's secret has 6 characters, and this is visit 1" "KeychainKitDemo"
    expect "s3cret" "keychainctl get --service com.example.app --account alice"

    say "A program written for a wrapper (Wrappers/Examples/WrapperDemo) stores its token here too, in its own encoding"
    expect "carol's token has 9 characters" "WrapperDemo"
    expect '"tr0ub4dor"' "keychainctl get --service com.example.app --account carol"

    say "One process waits, without polling, until another process has saved alice's secret again"
    expect "alice's secret: updated" \
        "timeout 60 KeychainKitDemo watch & while kill -0 \$! 2>/dev/null; do KeychainKitDemo >/dev/null; done; wait \$!"

    say "The files contain none of it in readable form"
    run "ls -l \"\$KEYCHAIN_VAULT\""
    check_unreadable "$secret" "changed by SecItemUpdate" "battery staple" s3cret tr0ub4dor alice bob carol example.com

    say "A deleted secret is gone for every program"
    run "keychainctl delete --service example.com --account alice"
    expect_failure 3 "no item matches" "keychainctl get --service example.com --account alice"

    say "With a passphrase and without the device key the vault is locked"
    run "printf %s 'a few words' | keychainctl protect add passphrase --new-passphrase-fd 0"
    run "printf %s 'a few words' | keychainctl protect remove device-key --passphrase-fd 0"
    expect_failure 5 "the vault is locked" "keychainctl get --service example.com --account bob"
    expect "changed by SecItemUpdate" \
        "printf %s 'a few words' | keychainctl get --service example.com --account bob --passphrase-fd 0"
    unlock_for_all

    say "Keys that sign and stay in a vault: JSON Web Tokens (Examples/JWTDemo), a TLS client (Examples/ClientCertificateDemo)"
    expect_lines "is a valid token of alice" 3 "JWTDemo"
    expect "A client without a certificate: refused
A client with a key in the vault: hello, client" "ClientCertificateDemo"

    echo
    echo "The demonstration succeeded: one process stored a secret, another read it; it was encrypted on disk, locked and unlocked."
}

# Shows every fiftieth build step and all other output: a first build takes minutes, and silence would look like a hang.
build() { # product, build command
    # `.ci/run` has just built everything. The packages would take turns, which takes minutes.
    if [[ ${KEYCHAIN_BUILT-} == 1 ]]; then return; fi
    echo "Building $1. The first build takes some minutes."
    "${@:2}" --product "$1" 2>&1 | awk '
        /^(Fetched|Comput|Creating|Working copy)/ { next }
        /^\[/ && ++steps % 50 != 0 { next }
        { print; fflush() }'
}

say() { printf '\n== %s\n' "$1"; }

# Shows a command and runs it in a separate shell.
run() {
    printf '$ %s\n' "$1"
    bash -euo pipefail -c "$1"
}

expect() {
    local output
    printf '$ %s\n' "$2"
    output=$(bash -euo pipefail -c "$2")
    echo "$output"
    [[ $output == "$1" ]] || fail "expected: $1"
}

expect_lines() { # text, number of lines with it, command
    local output
    printf '$ %s\n' "$3"
    output=$(bash -euo pipefail -c "$3")
    echo "$output"
    (($(grep -c -F -- "$1" <<<"$output") == $2)) || fail "expected $2 lines with: $1"
}

# Unlocking once for all processes requires the kernel keyring, which containers often forbid.
unlock_for_all() {
    if ! keychainctl status | grep -q 'one unlock serves all'; then
        echo "(The kernel keyring is not available here, so every process gets the passphrase.)"
        return
    fi
    run "printf %s 'a few words' | keychainctl unlock --timeout 5m --passphrase-fd 0"
    expect "changed by SecItemUpdate" "keychainctl get --service example.com --account bob"
    run "keychainctl lock --all"
    expect_failure 5 "the vault is locked" "keychainctl get --service example.com --account bob"
}

expect_failure() {
    local status=0
    run "$3" || status=$?
    ((status == $1)) || fail "expected exit code $1, got $status"
    echo "(exit code $status: $2)"
}

check_unreadable() {
    local text
    # Check first that the search can find the text at all.
    printf %s "$*" >"$folder/control"
    for text in "$@"; do
        found "$text" "$folder/control" || fail "the search itself does not work"
        if found "$text" "$KEYCHAIN_VAULT" "$KEYCHAIN_DEVICE_KEY"; then fail "readable on disk: $text"; fi
        echo "not in any file: $text"
    done
}

found() { LC_ALL=C grep --recursive --quiet --text --fixed-strings -- "$@"; }

fail() {
    echo "The demonstration failed: $1" >&2
    exit 1
}

main
