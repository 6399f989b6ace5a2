#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the reference of a module, and takes every warning as an error: a link that leads nowhere, above all.
#
#   Scripts/check-docc.sh [folder]    puts the result there; else nothing is kept

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

readonly module=KeychainKit
# What the module shows of those below it is part of its reference.
readonly reexported=KeychainEngine,SecretMemory

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    if ! command -v docc >/dev/null; then
        echo "There is no 'docc' on the PATH. It is part of Swift's toolchain, beside 'swift'." >&2
        exit 1
    fi
    swift build --quiet --traits Configuration --target "$module"
    extract_symbols "$(swift build --traits Configuration --show-bin-path)"
    # Parameters that need no words may have none.
    docc convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$scratch" \
        --output-path "${1:-$scratch/out}" --disable-parameters-and-returns-validation --warnings-as-errors
    echo "The reference of $module is in order."
}

extract_symbols() {
    swift symbolgraph-extract -module-name "$module" -target "$(target)" -I "$1/Modules" \
        -Xcc "-fmodule-map-file=$1/CKeychainShims.build/module.modulemap" \
        -Xcc -fmodule-map-file=.build/checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap \
        -experimental-allowed-reexported-modules="$reexported" -skip-inherited-docs -output-dir "$scratch"
}

target() {
    swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])'
}

main "$@"
