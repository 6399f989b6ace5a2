#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that the tests detect defects. Each patch in Tests/Mutants injects one defect into a copy of the project, and names
# suites, at least one of which must fail.
#
#   Scripts/mutants.sh [NUMBER …]     without arguments: all mutants
#
#   MUTANTS_SECONDS    timeout for each mutant (default: 120), and ten times that for all suites without a defect
#   MUTANTS_FOLDER     folder in which the copy is built (default: .build/mutants)
#   MUTANTS_RECORD     a document whose section "Mutants" is replaced with the table of results
#
# All defects are compiled in one build. Each is guarded by `mutant(NUMBER)`, which exists only in the copy; the variable
# KEYCHAIN_MUTANT selects one. This avoids a hundred builds.
#
# A mutant is killed if a test fails with it, and fails again when it runs alone, so that a flaky test does not count.
# A mutant that only ends the process or times out is unclear, which counts as survived.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

folder=${MUTANTS_FOLDER:-.build/mutants}
# `width`: as many concurrent tests as in Scripts/test.sh.
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
    (cd -- "$folder" && swift build --enable-all-traits -Xcc -O2 --build-tests)
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
    # At least 19 of 20 mutants must be killed.
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

# Each patch alone must apply with its full context. Together, some patches change context lines of others.
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

# The function is added to each module that has a mutant.
write_choice() {
    cat <<'END'
// SPDX-License-Identifier: Apache-2.0

import Foundation

private let active = ProcessInfo.processInfo.environment["KEYCHAIN_MUTANT"].flatMap { Int($0) } ?? 0

func mutant(_ number: Int) -> Bool { active == number }
END
}

# Unchanged files keep their dates. Otherwise everything would be compiled again.
update() {
    (cd -- "$scratch/copy" && find . -type f -print0) | while IFS= read -r -d '' file; do
        cmp -s -- "$scratch/copy/$file" "$folder/$file" && continue
        mkdir -p -- "$(dirname -- "$folder/$file")"
        cp -- "$scratch/copy/$file" "$folder/$file"
    done
    # Remove files that the project no longer has.
    (cd -- "$folder" && find Sources Tests -type f -print0) | while IFS= read -r -d '' file; do
        if [[ ! -f $scratch/copy/$file ]]; then rm -- "$folder/$file"; fi
    done
}

# Stops at the first test that fails; one is enough. An issue recorded on another thread does not name a test.
run() { # tests, mutant, filter, seconds
    (
        cd -- "$folder"
        # Shorter than elsewhere, because a defect may prevent the awaited event.
        if (($2 > 0)); then export KEYCHAIN_TEST_LIMIT=60; fi
        export KEYCHAIN_MUTANT=$2 SWIFT_BACKTRACE=enable=no NO_COLOR=1 TMPDIR="$scratch/files" \
            KEYCHAIN_VAULT="$scratch/vault" KEYCHAIN_DEVICE_KEY="$scratch/device.key" XDG_CONFIG_HOME="$scratch/settings" \
            XDG_STATE_HOME="$scratch/state" KEYCHAIN_ANCHORS=file
        exec timeout --kill-after 5 "$4" "$1" --testing-library swift-testing \
            --experimental-maximum-parallelization-width "$width" --filter "$3" </dev/null >"$scratch/output" 2>&1
    ) &
    sed -E '/✘ Test [A-Za-z0-9_]+\(.* recorded an issue/ q' <"$scratch/output" >"$scratch/log"
    if [[ -n $(failed_test) ]]; then kill "$!" 2>/dev/null || true; fi
    wait "$!"
}

# Tests that are killed leave files behind. Some tests need files that other users can read.
make_folder_for_files() {
    mkdir "$scratch/files"
    mkfifo "$scratch/output"
    chmod 755 "$scratch"
    chmod 1777 "$scratch/files"
}

# All suites must pass without a defect. Otherwise a failure would prove nothing.
check_baseline() { # tests, mutants
    local suites suite
    suites=$(for number in "${@:2}"; do header "$number" suites; done | tr '|' '\n' | sort -u | paste -sd '|')
    for suite in ${suites//|/ }; do
        suite=${suite%%/*}
        grep -rqE "struct ${suite##*.}\b" --include=*.swift Tests || { echo "The suite $suite does not exist." >&2; exit 1; }
    done
    run "$1" 0 "$suites" $((limit * 10)) || {
        tail -n 2 "$scratch/log"
        echo "The suites fail without any mutant, or take longer than $((limit * 10)) s." >&2
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
        result unclear "timed out"
    else
        result unclear "the process ended"
    fi
}

# The test that detected the mutant.
# The line before has no end if an argument of a test contains a zero byte.
failed_test() { sed -nE 's/.*✘ Test ([A-Za-z0-9_]+)\(.* recorded an issue.*/\1/p' "$scratch/log"; }

# Records the result of the current mutant.
result() { # result, test or cause
    printf '%s\t%s\t%s\t%s\n' "$1" "$name" "$(header "${name%%-*}" reason)" "$2" | tee -a "$scratch/results"
}

summary() {
    printf '\n%s of %s mutants killed.\n' "$(killed)" "$(wc -l <"$scratch/results")"
    grep -v '^killed' "$scratch/results" || true
}

# Replaces the section of the document.
record() {
    local file=$MUTANTS_RECORD
    [[ -f $file ]] || printf '# Evidence\n' >"$file"
    {
        printf '## Mutants\n\n'
        echo "Each mutant is a defect in a copy of the project. The table shows the test that detected it. Written by" \
            "\`make mutants\` on $(date -u +%F): $(killed) of $(wc -l <"$scratch/results") killed."
        printf '\n| mutant | defect | result | detected by |\n|---|---|---|---|\n'
        awk -F '\t' '{ printf "| `%s` | %s | %s | %s |\n", $2, $3, $1, ($4 ~ /_/ ? "`" $4 "`" : $4) }' "$scratch/results"
    } >"$scratch/section"
    Scripts/evidence.py "$file" "Mutants" "$scratch/section"
}

main "$@"
