#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the package in Wrappers, which depends on this one: Scripts/wrappers.sh ARGUMENTS OF SWIFT BUILD

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

scratch=.build/wrappers
builds=1
traits=(--enable-all-traits)
for argument in "$@"; do
    case $argument in
        --sanitize=*)
            scratch=.build/wrappers-sanitize
            # The sanitizer runs no test of LGTVControl; its trait would build swift-nio and another BoringSSL.
            traits=(--traits IssueReporting)
            ;;
        --show-bin-path) builds=0 ;;
    esac
done

# Without this, SwiftPM does not notice new files in a local dependency. It does when it makes its build plan again. With
# --show-bin-path it makes no plan, and check-docc.sh reads the existing one.
if ((builds)); then rm -f "$scratch"/*.yaml; fi
exec swift build --package-path Wrappers --scratch-path "$scratch" "${traits[@]}" "$@"
