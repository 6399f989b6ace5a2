#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Simulates rings of machines over a carrier that loses, delays, repeats and takes back, one run for each seed, and confirmed changes over one
# that refuses, does not answer and lies, one run for each fourth seed. In one more run for each of these, a machine is restored without
# knowing it, and joins again. See Tests/SyncSimulation. A run is a function of its seed: `sync-simulator 1 SEED` repeats it.
#
#   Scripts/simulate.sh [SEEDS [FIRST]]     default: 1,000,000 seeds from 0, some hours; .ci/run has 2,000
#
#   SIMULATION_RECORD    a document whose section "Simulation" is replaced with the table of results

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# As gate.sh builds the benchmarks, so that most modules are compiled once for both.
readonly options=(--configuration release --static-swift-stdlib)
readonly seeds=${1:-1000000} first=${2:-0}
jobs=$(nproc)
scratch=$(mktemp -d)
readonly jobs scratch
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf -- "$scratch"' EXIT

main() {
    [[ $seeds =~ ^[1-9][0-9]*$ && $first =~ ^[0-9]+$ ]] || { echo "usage: $0 [SEEDS [FIRST]]" >&2; exit 64; }
    swift build "${options[@]}" --product sync-simulator
    local simulator failed=0 job start=$first count
    simulator=$(swift build "${options[@]}" --show-bin-path)/sync-simulator
    for ((job = 0; job < jobs; job++)); do
        count=$((seeds / jobs + (job < seeds % jobs)))
        if ((count == 0)); then continue; fi
        "$simulator" "$count" "$start" >"$scratch/$job" &
        start=$((start + count))
    done
    for job in $(jobs -p); do wait "$job" || failed=1; done
    # A seed with a violation is printed in full.
    grep -hvE '^  |^[0-9]+ seeds from' "$scratch"/* || true
    total | tee "$scratch/total"
    # One that ended in the middle has told nothing.
    grep -q "^$seeds seeds, " "$scratch/total" || { echo "Not all seeds were run." >&2; exit 1; }
    if [[ -n ${SIMULATION_RECORD-} ]]; then record; fi
    return "$failed"
}

total() {
    awk '
        / seeds from / { seeds += $1; violations += $5 }
        /^  / { name = $0; sub(/^ +/, "", name); sub(/: [0-9]+$/, "", name); counts[name] += $NF }
        END {
            printf "%d seeds, %d violations\n", seeds, violations
            for (name in counts) printf "  %s: %d\n", name, counts[name] | "sort"
        }' "$scratch"/[0-9]*
}

# Replaces the section of the document.
record() {
    {
        printf '## Simulation\n\nWritten by `make simulate SEEDS=%s` on %s: %s, seeds %s to %s. ' \
            "$seeds" "$(date -u +%F)" "$(head -n 1 "$scratch/total")" "$first" "$((first + seeds - 1))"
        printf 'In each run some machines share items over a carrier that loses, delays, repeats and takes back; they crash, '
        printf 'have wrong clocks, are restored, join and are removed. Afterwards all of them have the same items, and nothing is lost '
        printf 'that nobody deleted. In a second run for each fourth seed they make confirmed changes over a carrier that refuses, does not answer, and in some '
        printf 'runs shows what it has refused. What each machine was told of a change is true on all of them afterwards.\n\n| what happened, or was noticed | times |\n|---|---:|\n'
        sed -nE 's/^  (.*): ([0-9]+)$/| \1 | \2 |/p' "$scratch/total"
    } >"$scratch/section"
    Scripts/evidence.py "$SIMULATION_RECORD" Simulation "$scratch/section"
}

main
