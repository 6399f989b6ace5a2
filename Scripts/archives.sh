#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of exports and imports in full, of which `make test` runs a sample, and writes the result into Docs/Evidence.md.
# This takes about half an hour.
# If a test fails or is skipped, the document stays unchanged.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

readonly tests='items_ofAllClasses_areEqualAfterExportAndImport|import_killedAtAnyWriteCall|file_withAnyByteFlipped_isAnErrorAndAddsNothing'
# What these tests tell at their end: the items, the kills of two imports, the bytes.
readonly rows=4

log=$(mktemp)
readonly log
trap 'rm -f -- "$log" "$log".*' EXIT

revision=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
if [[ -n $(git status --porcelain 2>/dev/null) ]]; then revision+=" with changes"; fi

KEYCHAIN_ARCHIVES=all Scripts/test.sh --filter "$tests" 2>&1 | tee "$log"
sed -nE 's/^archives: (.*): ([0-9]+)$/| \1 | \2 |/p' "$log" | sort >"$log.rows"
if (($(wc -l <"$log.rows") != rows)); then
    echo "Not all tests were run; see the log above. Docs/Evidence.md was not changed." >&2
    exit 1
fi
{
    printf '## Archives\n\nWritten by `make archives` on %s, of revision %s: no failure. ' "$(date -u +%F)" "$revision"
    printf 'An import of 300 items is killed at each call that writes or syncs, one of 10,000 items at each 997th.\n\n'
    printf '| tried | number |\n|---|---:|\n'
    cat "$log.rows"
} >"$log.section"
Scripts/evidence.py Docs/Evidence.md Archives "$log.section"
