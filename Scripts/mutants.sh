#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows that the tests notice defects: each patch in Tests/Mutants puts one into a copy of the project, and the suites that
# it names have to fail.
#
#   Scripts/mutants.sh [NUMBER …]     all mutants without arguments
#
#   MUTANTS_SECONDS    for each mutant (120); one that takes longer counts as killed
#   MUTANTS_FOLDER     where the copy is built (.build/mutants)
#   MUTANTS_RECORD     a file that gets the table of results as its section "Mutants"
#
# All defects are built at once, each behind `mutant(NUMBER)`, which exists in the copy alone; the variable KEYCHAIN_MUTANT
# chooses one. So there is one build and not sixty.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

folder=${MUTANTS_FOLDER:-.build/mutants}
readonly patches=Tests/Mutants limit=${MUTANTS_SECONDS:-120}

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    mkdir -p -- "$folder"
    folder=$(cd -- "$folder" && pwd)
    copy
    apply
    (cd -- "$folder" && swift build --enable-all-traits --build-tests)
    local tests
    tests=$(cd -- "$folder" && swift build --enable-all-traits --show-bin-path)/swift-keychainPackageTests.xctest
    local -a chosen=("$@")
    if (($# == 0)); then mapfile -t chosen < <(numbers); fi
    check_baseline "$tests" "${chosen[@]}"
    local number
    for number in "${chosen[@]}"; do try "$tests" "$number"; done
    summary
    if [[ -n ${MUTANTS_RECORD-} ]]; then record; fi
    # Nineteen of twenty have to be killed.
    (($(grep -c '^killed' "$scratch/results") * 20 >= ${#chosen[@]} * 19))
}

numbers() { for file in "$patches"/*.patch; do number_of "$file"; done; }

number_of() { basename -- "$1" | sed -E 's/^0*([0-9]+)-.*/\1/'; }

patch_of() { ls "$patches/$(printf '%02d' "$1")"-*.patch; }

header() { sed -nE "s/^$2: (.*)/\1/p" "$(patch_of "$1")" | head -n 1; }

# Files that are the same already keep their dates, or everything would be compiled again.
copy() {
    mkdir -p "$scratch/copy"
    git ls-files -z --cached --others --exclude-standard -- . ':!Fuzz' \
        | xargs -0 -I{} bash -c '[[ ! -f $1 ]] || cp --parents -- "$1" "$2"' _ {} "$scratch/copy"
}

# The function goes into each module that has a mutant.
apply() {
    local file module
    for file in "$PWD/$patches"/*.patch; do (cd -- "$scratch/copy" && git apply -C0 --recount "$file"); done
    while read -r module; do
        {
            printf '// SPDX-License-Identifier: Apache-2.0\n\nimport Foundation\n\nprivate let active = '
            printf 'ProcessInfo.processInfo.environment["KEYCHAIN_MUTANT"].flatMap { Int($0) } ?? 0\n\n'
            printf 'func mutant(_ number: Int) -> Bool { active == number }\n'
        } >"$scratch/copy/Sources/$module/Mutant.swift"
    done < <(sed -nE 's#^\+\+\+ b/Sources/([^/]+)/.*#\1#p' "$patches"/*.patch | sort -u)
    (cd -- "$scratch/copy" && find . -type f -print0) | while IFS= read -r -d '' file; do
        cmp -s -- "$scratch/copy/$file" "$folder/$file" && continue
        mkdir -p -- "$(dirname -- "$folder/$file")"
        cp -- "$scratch/copy/$file" "$folder/$file"
    done
}

run() { # tests, mutant, suites
    (cd -- "$folder" && KEYCHAIN_MUTANT=$2 SWIFT_BACKTRACE=enable=no NO_COLOR=1 KEYCHAIN_VAULT="$scratch/vault" \
        KEYCHAIN_DEVICE_KEY="$scratch/device.key" XDG_CONFIG_HOME="$scratch/settings" XDG_STATE_HOME="$scratch/state" \
        timeout --kill-after 5 "$limit" "$1" --testing-library swift-testing --filter "$3" </dev/null) >"$scratch/log" 2>&1
}

# Without a defect all of these have to pass, or a failure would say nothing.
check_baseline() { # tests, mutants
    local suites
    suites=$(for number in "${@:2}"; do header "$number" suites; done | tr '|' '\n' | sort -u | paste -sd '|')
    run "$1" 0 "$suites" || {
        grep -E '^✘|error:' "$scratch/log" | tail -n 40
        echo "These suites fail without any mutant, or take longer than $limit s." >&2
        exit 1
    }
    grep -qE 'Test run with [1-9]' "$scratch/log" || { echo "The suites that the patches name have no test." >&2; exit 1; }
}

try() { # tests, mutant
    local name status=0 by=
    name=$(basename -- "$(patch_of "$2")" .patch)
    run "$1" "$2" "$(header "$2" suites)" || status=$?
    # 124: out of time. The first test that failed tells by what it was noticed.
    by=$(sed -nE 's/^✘ Test "?([A-Za-z_]+).*(recorded|failed).*/\1/p' "$scratch/log" | head -n 1)
    case $status in
    0) printf 'survived\t%s\t%s\t\n' "$name" "$(header "$2" reason)" ;;
    124 | 137) printf 'killed\t%s\t%s\tout of time\n' "$name" "$(header "$2" reason)" ;;
    *) printf 'killed\t%s\t%s\t%s\n' "$name" "$(header "$2" reason)" "${by:-the process ended}" ;;
    esac | tee -a "$scratch/results"
}

summary() {
    printf '\n%s of %s mutants killed.\n' "$(grep -c '^killed' "$scratch/results")" "$(wc -l <"$scratch/results")"
    grep '^survived' "$scratch/results" || true
}

# Puts the section in the place of the one that the file has.
record() {
    local file=$MUTANTS_RECORD
    [[ -f $file ]] || printf '# Evidence\n' >"$file"
    {
        printf '## Mutants\n\n`make mutants`, %s: %s of %s killed.\n\n| mutant | defect | result | noticed by |\n|---|---|---|---|\n' \
            "$(date -u +%F)" "$(grep -c '^killed' "$scratch/results")" "$(wc -l <"$scratch/results")"
        awk -F '\t' '{ printf "| `%s` | %s | %s | %s |\n", $2, $3, $1, ($4 ~ /_/ ? "`" $4 "`" : $4) }' "$scratch/results"
    } >"$scratch/section"
    Scripts/evidence.py "$file" "Mutants" "$scratch/section"
}

main "$@"
