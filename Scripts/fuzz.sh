#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with the address sanitizer and runs each of them.
#
#   Scripts/fuzz.sh [TARGET …]     all targets without arguments
#
#   FUZZ_SECONDS    for each target (60)
#   FUZZ_TOTAL      for all targets together, in place of that
#   FUZZ_RECORD     a file that gets the table of results as its section "Fuzzing"

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# Another build of everything, beside the usual one. A release build runs several times as many inputs as a debug build.
readonly build=(
    swift build --configuration release --package-path Fuzz --scratch-path .build/fuzz --sanitize=address
    -Xswiftc -sanitize=fuzzer,address -Xswiftc -enable-testing -Xcc -fsanitize=fuzzer-no-link
)

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    # SwiftPM does not notice new files of a package that this one depends on unless it makes its plan again.
    rm -f .build/fuzz/*.yaml
    # Before anything is set: another environment compiles every module anew.
    "${build[@]}" --product keychain-fuzz
    local fuzzer
    fuzzer=$("${build[@]}" --show-bin-path)/keychain-fuzz
    local -a targets=("$@")
    if (($# == 0)); then mapfile -t targets < <("$fuzzer"); fi
    local seconds=${FUZZ_SECONDS:-60} target failed=0
    if [[ -n ${FUZZ_TOTAL-} ]]; then seconds=$((FUZZ_TOTAL / ${#targets[@]} + 1)); fi
    for target in "${targets[@]}"; do fuzz "$fuzzer" "$target" "$seconds" || failed=1; done
    table "${targets[@]}"
    if [[ -n ${FUZZ_RECORD-} ]]; then record "$seconds" "${targets[@]}"; fi
    return "$failed"
}

# New inputs go into a folder that is thrown away: `Fuzz/Corpus` holds what was chosen. What breaks a promise is kept.
fuzz() { # program, target, seconds
    mkdir -p "$scratch/$2" "Fuzz/Corpus/$2" .build/fuzz-findings
    printf '\n=== %s, %s s\n' "$2" "$3"
    # Foundation's caches look like leaks; what grows without end meets the limit of memory. Where memory was allocated is not
    # recorded, and what was freed is watched for 16 MB, more than one input uses: both together take half of the time. Run a
    # finding again without these options to see where the memory came from.
    local options=detect_leaks=0:allocator_may_return_null=1:malloc_context_size=0:quarantine_size_mb=16
    FUZZ_TARGET=$2 SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=$options "$1" \
        -max_total_time="$3" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=16384 \
        -print_final_stats=1 -verbosity=1 -artifact_prefix=".build/fuzz-findings/$2-" \
        "$scratch/$2" "Fuzz/Corpus/$2" >"$scratch/$2.log" 2>&1 && echo "nothing found" \
        || { tail -n 60 "$scratch/$2.log"; return 1; }
}

table() {
    printf '\n| target | inputs run | edges covered | corpus | findings |\n|---|---|---|---|---|\n'
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

# Puts the section in the place of the one that the file has.
record() { # seconds, targets
    local file=$FUZZ_RECORD
    [[ -f $file ]] || printf '# Evidence\n' >"$file"
    {
        printf '## Fuzzing\n\n`FUZZ_SECONDS=%s make fuzz`, %s, with the address sanitizer; each input is checked for what the ' \
            "$1" "$(date -u +%F)"
        printf 'target promises (`Fuzz/Sources`), not only for crashes.\n'
        table "${@:2}"
    } >"$scratch/section"
    Scripts/evidence.py "$file" "Fuzzing" "$scratch/section"
}

main "$@"
