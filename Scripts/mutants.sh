#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows that the tests notice defects: each patch in Tests/Mutants puts one into a copy of the project, and the suites that
# it names have to fail.
#
#   Scripts/mutants.sh [NUMBER …]     all mutants without arguments
#
#   MUTANTS_SECONDS    for each mutant (120), and ten times as long for all of the suites without a defect
#   MUTANTS_FOLDER     where the copy is built (.build/mutants)
#   MUTANTS_RECORD     a file that gets the table of results as its section "Mutants"
#
# All defects are built at once, each behind `mutant(NUMBER)`, which exists in the copy alone; the variable KEYCHAIN_MUTANT
# chooses one. So there is one build and not eighty.
#
# A mutant is killed if a test fails with it, and fails again when it runs alone: a test that fails now and then proves nothing.
# One that only ends the process or runs out of time is unclear, which counts as survived.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

folder=${MUTANTS_FOLDER:-.build/mutants}
# At once as many tests as Scripts/test.sh runs.
readonly patches=Tests/Mutants limit=${MUTANTS_SECONDS:-120} width=24

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    mkdir -p -- "$folder"
    folder=$(cd -- "$folder" && pwd)
    copy
    apply
    update
    (cd -- "$folder" && swift build --enable-all-traits --build-tests)
    local tests
    tests=$(cd -- "$folder" && swift build --enable-all-traits --show-bin-path)/swift-keychainPackageTests.xctest
    local -a chosen=("$@")
    if (($# == 0)); then mapfile -t chosen < <(numbers); fi
    make_folder_for_files
    check_baseline "$tests" "${chosen[@]}"
    local number
    for number in "${chosen[@]}"; do try "$tests" "$number"; done
    summary
    if [[ -n ${MUTANTS_RECORD-} ]]; then record; fi
    # Nineteen of twenty have to be killed.
    (($(killed) * 20 >= ${#chosen[@]} * 19))
}

numbers() { for file in "$patches"/*.patch; do number_of "$file"; done; }

number_of() { basename -- "$1" | sed -E 's/^0*([0-9]+)-.*/\1/'; }

patch_of() { ls "$patches/$(printf '%02d' "$((10#$1))")"-*.patch; }

killed() { grep -c '^killed' "$scratch/results" || true; }

header() { sed -nE "s/^$2: (.*)/\1/p" "$(patch_of "$1")" | head -n 1; }

copy() {
    mkdir -p "$scratch/copy"
    git ls-files -z --cached --others --exclude-standard -- . ':!Fuzz' | while IFS= read -r -d '' file; do
        if [[ -f $file ]]; then cp --parents -- "$file" "$scratch/copy"; fi
    done
}

# Each patch alone has to fit with all of its context. Together some change lines that are context of others.
apply() {
    local file
    for file in "$PWD/$patches"/*.patch; do (cd -- "$scratch/copy" && git apply --check "$file"); done
    for file in "$PWD/$patches"/*.patch; do
        (cd -- "$scratch/copy" && git apply -C0 "$file" 2> >(grep -v '^Context reduced' >&2))
    done
    sed -nE 's#^\+\+\+ b/Sources/([^/]+)/.*#\1#p' "$patches"/*.patch | sort -u | while read -r module; do
        write_choice >"$scratch/copy/Sources/$module/Mutant.swift"
    done
}

# The function goes into each module that has a mutant.
write_choice() {
    cat <<'END'
// SPDX-License-Identifier: Apache-2.0

import Foundation

private let active = ProcessInfo.processInfo.environment["KEYCHAIN_MUTANT"].flatMap { Int($0) } ?? 0

func mutant(_ number: Int) -> Bool { active == number }
END
}

# Files that are the same already keep their dates, or everything would be compiled again.
update() {
    (cd -- "$scratch/copy" && find . -type f -print0) | while IFS= read -r -d '' file; do
        cmp -s -- "$scratch/copy/$file" "$folder/$file" && continue
        mkdir -p -- "$(dirname -- "$folder/$file")"
        cp -- "$scratch/copy/$file" "$folder/$file"
    done
    # What the project does not have any more.
    (cd -- "$folder" && find Sources Tests -type f -print0) | while IFS= read -r -d '' file; do
        if [[ ! -f $scratch/copy/$file ]]; then rm -- "$folder/$file"; fi
    done
}

# Ends with the first test that fails: more of them say nothing more.
run() { # tests, mutant, filter, seconds
    (
        cd -- "$folder"
        export KEYCHAIN_MUTANT=$2 SWIFT_BACKTRACE=enable=no NO_COLOR=1 TMPDIR="$scratch/files" \
            KEYCHAIN_VAULT="$scratch/vault" KEYCHAIN_DEVICE_KEY="$scratch/device.key" XDG_CONFIG_HOME="$scratch/settings" \
            XDG_STATE_HOME="$scratch/state" KEYCHAIN_ANCHORS=file
        exec timeout --kill-after 5 "$4" "$1" --testing-library swift-testing \
            --experimental-maximum-parallelization-width "$width" --filter "$3" </dev/null >"$scratch/output" 2>&1
    ) &
    sed '/^✘ Test .* recorded an issue/ q' <"$scratch/output" >"$scratch/log"
    if [[ -n $(failed_test) ]]; then kill "$!" 2>/dev/null || true; fi
    wait "$!"
}

# Tests that were ended leave files. Other users have to reach those of some.
make_folder_for_files() {
    mkdir "$scratch/files"
    mkfifo "$scratch/output"
    chmod 755 "$scratch"
    chmod 1777 "$scratch/files"
}

# Without a defect all of these have to pass, or a failure would say nothing.
check_baseline() { # tests, mutants
    local suites suite
    suites=$(for number in "${@:2}"; do header "$number" suites; done | tr '|' '\n' | sort -u | paste -sd '|')
    for suite in ${suites//|/ }; do
        suite=${suite%%/*}
        grep -rqE "struct ${suite##*.}\b" --include=*.swift Tests || { echo "There is no suite $suite." >&2; exit 1; }
    done
    run "$1" 0 "$suites" $((limit * 10)) || {
        tail -n 2 "$scratch/log"
        echo "These suites fail without any mutant, or take longer than $((limit * 10)) s." >&2
        exit 1
    }
}

try() { # tests, mutant
    local name suites status=0 by=
    name=$(basename -- "$(patch_of "$2")" .patch)
    suites=$(header "$2" suites)
    run "$1" "$2" "$suites" "$limit" || status=$?
    by=$(failed_test)
    if [[ -n $by ]]; then
        run "$1" "$2" "/$by\\(" "$limit" || true
        if [[ $(failed_test) == "$by" ]]; then result killed "$by"; else result unclear "failed once: $by"; fi
    elif ((status == 0)); then
        result survived ""
    elif ((status == 124 || status == 137)); then
        result unclear "out of time"
    else
        result unclear "the process ended"
    fi
}

# The test by which the mutant was noticed.
failed_test() { sed -nE 's/^✘ Test ([A-Za-z0-9_]+)\(.* recorded an issue.*/\1/p' "$scratch/log"; }

# Of the mutant that is being tried.
result() { # what became of it, by what
    printf '%s\t%s\t%s\t%s\n' "$1" "$name" "$(header "${name%%-*}" reason)" "$2" | tee -a "$scratch/results"
}

summary() {
    printf '\n%s of %s mutants killed.\n' "$(killed)" "$(wc -l <"$scratch/results")"
    grep -v '^killed' "$scratch/results" || true
}

# Puts the section in the place of the one that the file has.
record() {
    local file=$MUTANTS_RECORD
    [[ -f $file ]] || printf '# Evidence\n' >"$file"
    {
        printf '## Mutants\n\n'
        echo "Defects put into a copy, each with the test that noticed it. By \`make mutants\` on $(date -u +%F):" \
            "$(killed) of $(wc -l <"$scratch/results") killed."
        printf '\n| mutant | defect | result | noticed by |\n|---|---|---|---|\n'
        awk -F '\t' '{ printf "| `%s` | %s | %s | %s |\n", $2, $3, $1, ($4 ~ /_/ ? "`" $4 "`" : $4) }' "$scratch/results"
    } >"$scratch/section"
    Scripts/evidence.py "$file" "Mutants" "$scratch/section"
}

main "$@"
