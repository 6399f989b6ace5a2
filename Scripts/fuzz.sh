#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with the address sanitizer and runs each of them.
#
#   Scripts/fuzz.sh [TARGET …]     without arguments: all targets
#
#   FUZZ_SECONDS    seconds for each target (default: 60)
#   FUZZ_TOTAL      seconds for all targets together, instead of FUZZ_SECONDS. Nothing is optimized then: that
#                   would take longer than such a run
#   FUZZ_RECORD     a document whose section "Fuzzing" is replaced with the table of results; rows of targets that did not run stay
#
# Each run begins with the whole corpus of its target, whatever the time is, and tries other inputs in what remains. It names the targets of
# which only the corpus was replayed.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# A separate build of everything. A release build runs several times as many inputs as a debug build.
build=(
    env KEYCHAIN_FUZZED=1 swift build --configuration release --package-path Fuzz --scratch-path .build/fuzz --sanitize=address
    -Xswiftc -sanitize=fuzzer,address -Xswiftc -enable-testing -Xcc -fsanitize=fuzzer-no-link
)
if [[ -n ${FUZZ_TOTAL-} ]]; then build+=(-Xswiftc -Onone); fi
readonly build

scratch=$(mktemp -d)
readonly scratch
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf -- "$scratch"' EXIT

main() {
    # Without this, SwiftPM does not notice new files in a local dependency. It does when it makes its build plan again.
    rm -f .build/fuzz/*.yaml
    # Build before setting any variables: a changed environment makes SwiftPM compile every module again.
    "${build[@]}" --product keychain-fuzz
    local fuzzer
    fuzzer=$("${build[@]}" --show-bin-path)/keychain-fuzz
    local -a targets=("$@")
    if (($# == 0)); then mapfile -t targets < <("$fuzzer"); fi
    local seconds=${FUZZ_SECONDS:-60} target failed=0
    ((${#targets[@]} > 0)) || { echo "The fuzzer names no targets." >&2; exit 1; }
    if [[ -n ${FUZZ_TOTAL-} ]]; then seconds=$((FUZZ_TOTAL / ${#targets[@]} + 1)); fi
    # As many at once as there are processors: a fuzzer uses one.
    local running=0 most
    most=$(nproc)
    for target in "${targets[@]}"; do
        if ((running == most)); then
            wait -n || failed=1
            running=$((running - 1))
        fi
        fuzz "$fuzzer" "$target" "$seconds" &
        running=$((running + 1))
    done
    for ((; running > 0; running--)); do wait -n || failed=1; done
    heading
    rows "${targets[@]}"
    only_replayed
    if [[ -n ${FUZZ_RECORD-} ]]; then record "$seconds" "$#" "${targets[@]}"; fi
    return "$failed"
}

# New inputs go into a temporary folder: `Fuzz/Corpus` contains selected inputs only. Inputs that fail are kept.
fuzz() { # program, target, seconds
    mkdir -p "$scratch/$2" "Fuzz/Corpus/$2" .build/fuzz-findings
    # Leak detection is off because Foundation's caches look like leaks; the memory limit finds unbounded growth. Allocation stacks
    # are off, and the quarantine of freed memory is 16 MB, more than one input uses: together they would take half of the time.
    # To see where memory was allocated, run a finding again without these options.
    local options=detect_leaks=0:allocator_may_return_null=1:malloc_context_size=0:quarantine_size_mb=16
    FUZZ_TARGET=$2 SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=$options "$1" \
        -max_total_time="$3" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=16384 \
        -print_final_stats=1 -verbosity=1 -artifact_prefix=".build/fuzz-findings/$2-" \
        "$scratch/$2" "Fuzz/Corpus/$2" >"$scratch/$2.log" 2>&1 ||
        { printf '\n=== %s, %s s\n%s\n' "$2" "$3" "$(tail -n 60 "$scratch/$2.log")"; return 1; }
    local inputs
    inputs=$(stat_of "$2" number_of_executed_units)
    ((${inputs:-0} > 0)) || { echo "$2: no input was run"; return 1; }
    inputs=$((inputs - $(replayed "$2")))
    ((inputs > 0)) || echo "$2" >>"$scratch/only-replayed"
    echo "$2: no findings in $3 s, $inputs inputs beyond the corpus"
}

# The inputs of the corpus that were run, and an empty one.
replayed() { # target
    local count
    count=$(sed -nE 's/^#([0-9]+)[[:space:]]+INITED .*/\1/p' "$scratch/$1.log" | tail -n 1)
    echo "${count:-0}"
}

# Names the targets of which no other input was tried.
only_replayed() {
    [[ -s $scratch/only-replayed ]] || return 0
    printf '\nIn this time only the corpus was replayed, and nothing else tried, of: %s.\n' "$(list <"$scratch/only-replayed")"
}

list() { sort | sed 's/.*/`&`/' | paste -sd, | sed 's/,/, /g'; }

# The targets without a row. Each target has a folder in the corpus.
without_row() { # file with the table
    local folder target
    for folder in Fuzz/Corpus/*/; do
        target=$(basename "$folder")
        grep -qF "| \`$target\` |" "$1" || echo "$target"
    done
}

heading() { printf '\n| target | inputs run | edges covered | corpus | findings |\n|---|---|---|---|---|\n'; }

rows() {
    local target
    for target in "$@"; do
        printf '| `%s` | %s | %s | %s | %s |\n' "$target" \
            "$(stat_of "$target" number_of_executed_units)" \
            "$(grep -oE 'cov: [0-9]+' "$scratch/$target.log" | tail -n 1 | cut -d ' ' -f 2)" \
            "$(find "Fuzz/Corpus/$target" -type f | wc -l)" \
            "$(grep -c 'SUMMARY: ' "$scratch/$target.log" || true)"
    done
}

stat_of() { # target, name
    sed -nE "s/^stat::$2: *([0-9]+)$/\1/p" "$scratch/$1.log" | tail -n 1
}

# Replaces the section of the document.
record() { # seconds, how many targets were named, targets
    local file=$FUZZ_RECORD command='make fuzz' kept missing
    [[ -f $file ]] || printf '# Evidence\n' >"$file"
    if (($2 > 0)); then command="Scripts/fuzz.sh ${*:3}"; fi
    # What another run has found of other targets.
    printf '| `%s` |\n' "${@:3}" >"$scratch/targets"
    kept=$(Scripts/evidence.py "$file" "Fuzzing" | grep '^| `' | grep -vFf "$scratch/targets" || true)
    {
        printf '## Fuzzing\n\nWritten by `FUZZ_SECONDS=%s %s` on %s, with the address sanitizer. ' "$1" "$command" "$(date -u +%F)"
        if [[ -n $kept ]]; then printf 'The other rows are of an earlier run. '; fi
        printf 'Each input is checked against the guarantees of its target (`Fuzz/Sources`), not only for crashes.\n'
        heading
        if [[ -n $kept ]]; then printf '%s\n' "$kept"; fi
        rows "${@:3}"
        only_replayed
    } >"$scratch/section"
    missing=$(without_row "$scratch/section" | list)
    if [[ -n $missing ]]; then printf '\nNo run is recorded of: %s.\n' "$missing" >>"$scratch/section"; fi
    Scripts/evidence.py "$file" "Fuzzing" "$scratch/section"
}

main "$@"
