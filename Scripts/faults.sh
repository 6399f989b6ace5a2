#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: faults.sh [syncing]
#
# Tries all faults, power cuts and interleavings, and writes the results to Docs/Evidence.md. On two idle cores it takes about
# half an hour, and some more minutes for the suites. With "syncing", it tries those of the section Syncing, and writes only that.
# FAULTS_STRIDE=n and FAULTS_CUTS=n try every n-th point and n power cuts of each exchange, for a sample of that section.
# If it is interrupted, the document stays unchanged. It fails if there are violations; the document lists them. It also fails if no
# fault, power cut or interleaving was tried; the document stays unchanged then.

set -euo pipefail
if (($# > 1)) || [[ ${1:-} != "" && $1 != syncing ]]; then
    echo "usage: faults.sh [syncing]" >&2
    exit 64
fi
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

revision=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
if [[ -n $(git status --porcelain 2>/dev/null) ]]; then revision+=" with changes"; fi
readonly revision
harness=${FAULTS_HARNESS:-$(Scripts/build.sh core --show-bin-path)/fault-harness}
readonly harness

# Tries each verb of a ring, two at a time.
try_verbs() {
    local verb list number=0 running=0 failed=0
    list=$("$harness" exchange-verbs)
    [[ -n $list ]] || { echo "The harness has no verbs." >&2; return 1; }
    while IFS= read -r verb; do
        if ((running == 2)); then
            wait -n || failed=1
            running=$((running - 1))
        fi
        "$harness" exchange "${FAULTS_STRIDE:-1}" --sample "$verb" >"$log.verb.$number" 2>&1 </dev/null &
        running=$((running + 1))
        number=$((number + 1))
    done <<<"$list"
    for ((; running > 0; running--)); do wait -n || failed=1; done
    for ((verb = 0; verb < number; verb++)); do cat "$log.verb.$verb"; done | tee "$log.exchange"
    return "$failed"
}

# The section on syncing, in which each verb and each exchange with power cuts has a row. It is written also if something was found.
write_syncing() {
    local failed=0 verbs cuts
    try_verbs || failed=1
    "$harness" exchange-cuts "${FAULTS_CUTS:-60}" 2>&1 | tee "$log.cuts" || failed=1
    verbs=$(awk '/^points /{points += $2; violations += $4} END {print "points", points + 0, "violations", violations + 0}' \
        "$log.exchange")
    cuts=$(grep '^points ' "$log.cuts") || cuts="not finished"
    # A run that has tried nothing has no result.
    if [[ $verbs == "points 0 "* || $cuts == "points 0 "* ]]; then
        echo "No fault or no power cut was tried; Docs/Evidence.md keeps the earlier results of syncing." >&2
        return 1
    fi
    {
        printf '## Syncing\n\nWritten by `make faults` at %s: faults: %s; power cuts: %s. ' "$revision" "$verbs" "$cuts"
        if [[ -n ${FAULTS_STRIDE:-} ]]; then printf 'Every %s-th point only. ' "$FAULTS_STRIDE"; fi
        printf 'One machine of a ring founds it, invites, joins, lets a machine in, exchanges, or does what else a row names. It is '
        printf 'killed, or a call of it fails, at each call that writes or syncs (of an exchange, at each call; of the other rows, '
        printf 'errors at every fourth). Then the command is repeated, as a person would. Afterwards all machines must have the '
        printf 'same, with every change in it; each machine is a member once; one that was removed, or an older copy of a vault '
        printf 'with new keys, opens nothing newer; and a command that failed never said that it had not. In the last rows, a '
        printf 'machine loses its power at a random moment, with any part of what it had not synced of its vault and of the folder.'
        printf '\n\n| command | kill | EIO | ENOSPC | short write |\n|---|---:|---:|---:|---:|\n'
        sed -nE 's/^(.+), (kill|EIO|ENOSPC|short): ([0-9]+)$/\1\t\3/p' "$log.exchange" | awk -F '\t' '
            $1 != row { if (row != "") print "| " row cells " |"; row = $1; cells = "" }
            { cells = cells " | " $2 }
            END { if (row != "") print "| " row cells " |" }'
        printf '\n| power cuts | points |\n|---|---:|\n'
        sed -nE 's/^power cut, (.*): ([0-9]+)$/| \1 | \2 |/p' "$log.cuts"
        if grep -q '^VIOLATION ' "$log.exchange" "$log.cuts"; then
            printf '\nViolations:\n\n'
            sed -nE 's/^VIOLATION (.*)$/- \1/p' "$log.exchange" "$log.cuts"
        fi
        printf '\nTo repeat one point: `fault-harness exchange-point '"'COMMAND/FAULT/CALL'"'`, or `fault-harness exchange-cut '"'NAME/SEED'"'`.\n'
    } >"$log.section"
    Scripts/evidence.py Docs/Evidence.md Syncing "$log.section" || return 1
    return "$failed"
}

if [[ ${1:-} == syncing ]]; then
    [[ -n ${FAULTS_HARNESS:-} ]] || Scripts/build.sh core --product fault-harness
    write_syncing || { echo "There are violations, which Docs/Evidence.md lists, or the harness has failed." >&2; exit 1; }
    exit
fi

# Keep the sections that other commands have written.
for title in "${others[@]}"; do
    if [[ -f Docs/Evidence.md ]]; then Scripts/evidence.py Docs/Evidence.md "$title" >"$log.$title"; fi
done
put_back() {
    for title in "${others[@]}"; do
        if [[ -s $log.$title ]]; then Scripts/evidence.py Docs/Evidence.md "$title" "$log.$title"; fi
    done
}

# The document lists the failures of the tests that it names. Any other one counts too.
passed=1
KEYCHAIN_FAULTS=all Scripts/test.sh --filter "$suites" 2>&1 | tee "$log" || passed=0
FAULTS_REVISION=$revision "$harness" \
    all Docs/Evidence.md 1 'make faults' "$log" || { put_back; exit 1; }
put_back

write_syncing
((passed)) || { echo "Tests of the suites with faults have failed; see the log above." >&2; exit 1; }
