#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds this package, or the one in Wrappers, for the other scripts: Scripts/build.sh core|wrappers ARGUMENTS OF SWIFT BUILD

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# Not `.build` itself: a plain `swift build` there would find the plan of the other package. Both packages share it, with the
# same traits, so that the modules of this package are compiled once.
scratch=.build/development
traits=(--enable-all-traits)
source Scripts/build-options.sh
builds=1
package=${1-}
shift || true
case $package in
    core) folder=. ;;
    wrappers) folder=Wrappers ;;
    *)
        echo "usage: Scripts/build.sh core|wrappers ARGUMENTS OF SWIFT BUILD" >&2
        exit 64
        ;;
esac
for argument in "$@"; do
    case $argument in
        --sanitize=*)
            scratch=.build/sanitize
            export KEYCHAIN_SANITIZED=1
            # The sanitizer runs no test of LGTVControl; its trait would build swift-nio and another BoringSSL.
            if [[ $package == wrappers ]]; then traits=(--traits Configuration,Etcd,IssueReporting); fi
            ;;
        release) options=() ;;
        --show-bin-path) builds=0 ;;
    esac
done

# Without this, SwiftPM would build the package of the last plan, and would not notice new files in a local dependency. It does
# when it makes its plan again. With --show-bin-path it makes no plan, and check-docc.sh reads the existing one.
if ((builds)); then rm -f "$scratch"/*.yaml; fi
exec swift build --package-path "$folder" --scratch-path "$scratch" "${traits[@]}" ${options[@]+"${options[@]}"} "$@"
