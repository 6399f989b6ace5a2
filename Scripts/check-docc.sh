#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the reference of each module that has articles, and takes every warning as an error: a link that leads nowhere,
# above all.
#
#   Scripts/check-docc.sh [folder]    puts the results there; else nothing is kept

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# What KeychainKit shows of the modules below it is part of its reference.
readonly reexported=KeychainEngine,SecretMemory

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    if ! command -v docc >/dev/null; then
        echo "There is no 'docc' on the PATH. It is part of Swift's toolchain, beside 'swift'." >&2
        exit 1
    fi
    swift build --quiet --enable-all-traits
    products=$(swift build --enable-all-traits --show-bin-path)
    # Of the C targets; the plan of the build knows where each of them has its own.
    mapfile -t module_maps < <(grep -oE -- '-fmodule-map-file=[^",]+' .build/debug.yaml | sort -u | sed 's/^/-Xcc\n/')
    local catalog
    while IFS= read -r catalog; do
        check "$catalog" "$(basename -- "$catalog" .docc)" "${1:-$scratch/out}"
    done < <(find Sources -name '*.docc' | sort)
}

check() { # catalog, module, folder of the results
    local symbols=$scratch/symbols/$2
    mkdir -p "$symbols" "$3"
    extract_symbols "$2" "$symbols"
    # Parameters that need no words may have none.
    docc convert "$1" --additional-symbol-graph-dir "$symbols" --output-path "$3/$2" \
        --disable-parameters-and-returns-validation --warnings-as-errors
    echo "The reference of $2 is in order."
}

extract_symbols() { # module, folder
    swift symbolgraph-extract -module-name "$1" -target "$(target)" -I "$products/Modules" \
        "${module_maps[@]}" -experimental-allowed-reexported-modules="$reexported" -skip-inherited-docs -output-dir "$2"
}

target() {
    swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])'
}

main "$@"
