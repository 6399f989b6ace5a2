#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures reads and writes in a release build, of this package and of the wrappers, and `keychainctl get` beside a peer. The first
# line says when, of which revision and on what machine: the result stands under "Last result" of Docs/PERFORMANCE.md.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

main() {
    local benchmarks wrappers tool
    build core keychain-benchmarks benchmarks
    build wrappers wrapper-benchmarks wrappers
    # As the README builds it.
    swift build --configuration release --static-swift-stdlib --product keychainctl
    tool=$(swift build --configuration release --static-swift-stdlib --show-bin-path)/keychainctl
    # Not before: a changed environment makes SwiftPM compile every module again.
    export LC_ALL=C.UTF-8
    folder=$(mktemp -d .build/bench.XXXXXX)
    trap 'rm -rf -- "$folder"' EXIT

    echo
    headline
    "$benchmarks" "$PWD/$folder"
    "$wrappers"
    python3 Benchmarks/Peers/lookup.py "$tool" "$benchmarks" "$PWD/$folder"
}

# The package, the product, and the variable for its path.
build() {
    Scripts/build.sh "$1" --configuration release --product "$2"
    printf -v "$3" '%s' "$(Scripts/build.sh "$1" --configuration release --show-bin-path)/$2"
}

headline() {
    local system=Linux
    if [[ -r /etc/os-release ]]; then system=$(. /etc/os-release && echo "$PRETTY_NAME"); fi
    echo "$(date -u +'%-d %B %Y'), revision $(revision), $(nproc) cores, $system, Linux $(uname -r)," \
        "load average at the start $(cut -d' ' -f1 /proc/loadavg)"
}

revision() {
    local name
    name=$(git rev-parse --short=12 HEAD 2>/dev/null) || { echo unknown; return; }
    if [[ -n $(git status --porcelain --untracked-files=no) ]]; then name+=" with changes that are not committed"; fi
    echo "$name"
}

main
