#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the API reference of each module that has articles. Every warning is an error, above all a broken link.
#
#   Scripts/check-docc.sh [folder]    keeps the results in the folder; without it nothing is kept
#
#   KEYCHAIN_BUILT    1: make test has just built both packages. They would take turns, which takes minutes.

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
    check_package core Sources "$@"
    check_package wrappers Wrappers/Sources "$@"
}

check_package() { # package, source folder, folder of the results
    local plan=.build/development/debug.yaml
    [[ ${KEYCHAIN_BUILT-} == 1 ]] || Scripts/build.sh "$1" --quiet
    products=$(Scripts/build.sh "$1" --show-bin-path)
    [[ -f $plan ]] || { echo "The build plan '$plan' is missing. First: make test" >&2; exit 1; }
    # The module maps of the C targets; the build plan contains their paths.
    mapfile -t module_maps < <(grep -oE -- '-fmodule-map-file=[^",]+' "$plan" | sort -u | sed 's/^/-Xcc\n/')
    local catalog
    while IFS= read -r catalog; do
        check "$catalog" "$(basename -- "$catalog" .docc)" "${3:-$scratch/out}"
    done < <(find "$2" -name '*.docc' | sort)
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
