#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the most important calls with their floors in a release build. Exits with 1 if one has become too slow; the limits
# are in Benchmarks/GateLimits.swift.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# As the README builds the tool, so that most modules are compiled once for both.
readonly options=(--configuration release --static-swift-stdlib)
swift build "${options[@]}" --product keychain-benchmarks
# Its start is measured too.
swift build "${options[@]}" --product keychainctl
program=$(swift build "${options[@]}" --show-bin-path)/keychain-benchmarks
# In memory: how much processor time a sync takes depends on the disk, and in some machines it is most of an addition's.
shared=/dev/shm
[[ -w $shared ]] || shared=$PWD/.build
folder=$(mktemp -d "$shared/gate.XXXXXX")
readonly program folder
trap 'rm -rf -- "$folder"' EXIT

echo "Processor time beside that of the floors"
if ! "$program" "$folder" gate; then
    echo "A call has become slower. To find out why: make bench" >&2
    exit 1
fi
