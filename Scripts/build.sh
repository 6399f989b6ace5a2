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
configuration=debug
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
        release)
            options=()
            configuration=release
            ;;
        --show-bin-path) builds=0 ;;
    esac
done

# Modules with names of Apple's are found by all others once they are there. If everything is compiled again, those that come first would
# import the old ones, and miss what these were built with.
forget_shadowing_modules() {
    local built="$scratch/built-$configuration" now
    now=$(printf '%s\n' "${options[@]-}" "${KEYCHAIN_CHECK-}" "$(swift --version 2>/dev/null)")
    if [[ -e $built && $(<"$built") == "$now" ]]; then return; fi
    rm -f "$scratch"/*/"$configuration"/Modules/{Security,LocalAuthentication}.*
    mkdir -p "$scratch"
    printf '%s\n' "$now" >"$built"
}

# Without this, SwiftPM would build the package of the last plan, and would not notice new files in a local dependency. It does
# when it makes its plan again. With --show-bin-path it makes no plan, and check-docc.sh reads the existing one.
if ((builds)); then
    rm -f "$scratch"/*.yaml
    forget_shadowing_modules
fi
exec swift build --package-path "$folder" --scratch-path "$scratch" "${traits[@]}" ${options[@]+"${options[@]}"} "$@"
