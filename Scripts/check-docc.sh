#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the API reference of each module that has articles. Every warning is an error, above all a broken link.
#
#   Scripts/check-docc.sh [folder]    keeps the results in the folder; without it nothing is kept

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# The reference of KeychainKit includes the declarations that it re-exports from these modules.
readonly reexported=KeychainEngine,SecretMemory

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    if ! command -v docc >/dev/null; then
        echo "'docc' is not on the PATH. It is part of the Swift toolchain, in the same folder as 'swift'." >&2
        exit 1
    fi
    swift build --quiet --enable-all-traits
    check_all Sources .build/debug.yaml "$(swift build --enable-all-traits --show-bin-path)" "$@"
    Scripts/wrappers.sh --quiet
    check_all Wrappers/Sources .build/wrappers/debug.yaml "$(Scripts/wrappers.sh --show-bin-path)" "$@"
}

check_all() { # source folder, build plan, folder of the build products, folder of the results
    products=$3
    [[ -f $2 ]] || { echo "The build plan '$2' is missing after the build." >&2; exit 1; }
    # The module maps of the C targets; the build plan contains their paths.
    mapfile -t module_maps < <(grep -oE -- '-fmodule-map-file=[^",]+' "$2" | sort -u | sed 's/^/-Xcc\n/')
    local catalog
    while IFS= read -r catalog; do
        check "$catalog" "$(basename -- "$catalog" .docc)" "${4:-$scratch/out}"
    done < <(find "$1" -name '*.docc' | sort)
}

check() { # catalog, module, folder of the results
    local symbols=$scratch/symbols/$2
    mkdir -p "$symbols" "$3"
    extract_symbols "$2" "$symbols"
    # Parameters that are self-explanatory need no documentation.
    docc convert "$1" --additional-symbol-graph-dir "$symbols" --output-path "$3/$2" \
        --disable-parameters-and-returns-validation --warnings-as-errors
    echo "The reference of $2 has no warnings."
}

extract_symbols() { # module, folder
    swift symbolgraph-extract -module-name "$1" -target "$(target)" -I "$products/Modules" \
        "${module_maps[@]}" -experimental-allowed-reexported-modules="$reexported" -skip-inherited-docs -output-dir "$2"
}

target() {
    swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])'
}

main "$@"
