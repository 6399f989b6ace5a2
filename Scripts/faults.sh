#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries all faults, power cuts and interleavings, and writes the results to Docs/Evidence.md. On two idle cores it takes about
# half an hour, and some more minutes for the suites.
# If it is interrupted, the document stays unchanged. It fails if there are violations; the document lists them.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# The tests that inject faults themselves, or run many processes at once.
suites='KillTests|StarvationTests|isWholeOrNothing|withAnyByteFlipped|loseAndDoubleNothing|countsEveryStep|thousandReads'
suites+='|HeadKillTests|TimeoutSwarmTests|FullDiskTests|whoseLockFileIsRemoved|killedOrFailingAtAnyWriteCall'
readonly suites

# The sections that other commands write.
readonly others=(Syncing Archives Carriers Fuzzing Mutants Simulation Consumers Distributions "Thread sanitizer")

log=$(mktemp)
readonly log
trap 'rm -f -- "$log" "$log".*' EXIT

# Keep the sections that other commands have written.
for title in "${others[@]}"; do
    if [[ -f Docs/Evidence.md ]]; then Scripts/evidence.py Docs/Evidence.md "$title" >"$log.$title"; fi
done
put_back() {
    for title in "${others[@]}"; do
        if [[ -s $log.$title ]]; then Scripts/evidence.py Docs/Evidence.md "$title" "$log.$title"; fi
    done
}

revision=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
if [[ -n $(git status --porcelain 2>/dev/null) ]]; then revision+=" with changes"; fi

# The document lists the failures of the tests that it names. Any other one counts too.
passed=1
KEYCHAIN_FAULTS=all Scripts/test.sh --filter "$suites" 2>&1 | tee "$log" || passed=0
FAULTS_REVISION=$revision "$(Scripts/build.sh core --show-bin-path)/fault-harness" \
    all Docs/Evidence.md 1 'make faults' "$log" || { put_back; exit 1; }
put_back

"$(Scripts/build.sh core --show-bin-path)/fault-harness" exchange 1 2>&1 | tee "$log.exchange"
"$(Scripts/build.sh core --show-bin-path)/fault-harness" exchange-cuts 60 2>&1 | tee "$log.cuts"
{
    printf '## Syncing\n\nWritten by `make faults` at %s: faults: %s; power cuts: %s. ' "$revision" \
        "$(grep '^points ' "$log.exchange")" "$(grep '^points ' "$log.cuts")"
    printf 'Two machines exchange items over a folder. One of them is killed, or a call of it fails, at each call that it makes; '
    printf 'or loses its power at a random moment, with any part of what it had not synced of its vault and of the folder; '
    printf 'afterwards both must have the same, with every change in it.\n\n| fault | points |\n|---|---:|\n'
    sed -nE 's/^(kill|EIO|ENOSPC|short|power cut, .*): ([0-9]+)$/| \1 | \2 |/p' "$log.exchange" "$log.cuts"
} >"$log.section"
Scripts/evidence.py Docs/Evidence.md Syncing "$log.section"
((passed)) || { echo "Tests of the suites with faults have failed; see the log above." >&2; exit 1; }
