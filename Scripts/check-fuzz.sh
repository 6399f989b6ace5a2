#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that the fuzz targets compile, without building them: `make fuzz` takes minutes until it says so.
#
#   KEYCHAIN_BUILT    1: make test has just built everything

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

readonly plan=.build/development/debug.yaml
[[ ${KEYCHAIN_BUILT-} == 1 ]] || Scripts/build.sh core --quiet
products=$(Scripts/build.sh core --show-bin-path)
# The module maps of the C targets; the build plan contains their paths.
mapfile -t module_maps < <(grep -oE -- '-fmodule-map-file=[^",]+' "$plan" | sort -u | sed 's/^/-Xcc\n/')
((${#module_maps[@]} > 0)) || { echo "The build plan '$plan' names no module maps." >&2; exit 1; }
swiftc -typecheck -swift-version 6 -I "$products/Modules" "${module_maps[@]}" Fuzz/Sources/Fuzz/*.swift
echo "The fuzz targets compile."
