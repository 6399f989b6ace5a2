#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries what was built here in other distributions: the tool with Swift's libraries inside, and the core's tests.
#
#   Scripts/check-distributions.sh [SUITE …]     default: trixie (Debian 13), jammy and noble (Ubuntu 22.04, 24.04)
#
#   DISTRIBUTIONS_RECORD    a document whose section "Distributions" is replaced with the table of results
#
# As root. Each distribution is made by debootstrap in a temporary folder. One whose mirror cannot be reached is skipped, with the
# reason. Nothing is installed on this machine but debootstrap.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

readonly debian=http://deb.debian.org/debian ubuntu=http://archive.ubuntu.com/ubuntu
# The packages for the tests and for Swift's shared libraries.
readonly packages=ca-certificates,libsqlite3-0,libstdc++6,libsystemd0,python3,strace,util-linux,bsdutils
# Tests of faults, which do not depend on the distribution, and those that need this machine's users.
readonly skipped=${DISTRIBUTIONS_SKIP:-KillTests|StarvationTests|FaultSampleTests|SwarmTests|NeedleTests}

((EUID == 0)) || { echo "Run this as root: it makes the folders of other distributions." >&2; exit 1; }
command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap >/dev/null

scratch=$(mktemp -d)
project=$PWD
toolchain=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "$(command -v swift)")")")")
readonly scratch project toolchain
trap 'rm -rf -- "$scratch"' EXIT

main() {
    if (($# == 0)); then set -- trixie jammy noble; fi
    swift build --configuration release --static-swift-stdlib --product keychainctl
    tool=$(swift build --configuration release --static-swift-stdlib --show-bin-path)/keychainctl
    Scripts/build.sh core --build-tests
    local suite tried=0
    for suite in "$@"; do
        make_root "$suite" || continue
        tried=$((tried + 1))
        within "$scratch/$suite" bash -euo pipefail <<<"$(try_tool)" | tee "$scratch/tool"
        within "$scratch/$suite" bash -uo pipefail <<<"$(try_tests)" | tee "$scratch/tests"
        printf '| %s | %s |\n' "$(head -n 1 "$scratch/tool")" "$(tail -n 1 "$scratch/tests" | sed -E 's/^[^A-Za-z]*//')" \
            >>"$scratch/results"
        rm -rf -- "${scratch:?}/$suite"
    done
    ((tried > 0)) || { echo "No distribution could be tried." >&2; exit 1; }
    if [[ -n ${DISTRIBUTIONS_RECORD-} ]]; then record; fi
}

# Replaces the section of the document. A failure ends the script before.
record() {
    {
        printf '## Distributions\n\n'
        printf 'A static `keychainctl` and the core'"'"'s tests, built on this machine, in other distributions. Written by `make distributions` on %s.\n' \
            "$(date -u +%F)"
        printf '\n| distribution | tests without those that inject faults |\n|---|---|\n'
        cat "$scratch/results"
    } >"$scratch/section"
    Scripts/evidence.py "$DISTRIBUTIONS_RECORD" Distributions "$scratch/section"
}

make_root() { # suite
    local mirror=$debian options=()
    case $1 in
        jammy | noble)
            mirror=$ubuntu
            # Their keys are in a package of Ubuntu's. The tested systems are deleted afterwards.
            options=(--no-check-gpg --components=main,universe)
            ;;
    esac
    echo "== $1"
    if ! debootstrap --variant=minbase --include="$packages" ${options[@]+"${options[@]}"} "$1" "$scratch/$1" "$mirror" gutsy \
        >"$scratch/log" 2>&1; then
        local reason
        reason=$(tail -n 1 "$scratch/log")
        echo "skipped: debootstrap says: $reason"
        printf '| %s | skipped: %s |\n' "$1" "$reason" >>"$scratch/results"
        rm -rf -- "${scratch:?}/$1"
        return 1
    fi
    install -D -t "$scratch/$1/usr/local/bin" "$tool"
    mkdir -p "$scratch/$1$project" "$scratch/$1$toolchain"
}

# Runs a command with this folder and Swift's libraries at their places. The mounts end with the command.
within() { # root, command
    unshare --mount --fork bash -euc '
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        mount --bind "$1" "$0$1"
        mount --bind "$2" "$0$2"
        exec chroot "$0" "${@:3}"' "$1" "$project" "$toolchain" "${@:2}"
}

environment() {
    cat <<'END'
home=$(mktemp -d)
chmod 755 "$home"
export HOME="$home" KEYCHAIN_VAULT="$home/vault" KEYCHAIN_DEVICE_KEY="$home/config/device.key" NO_COLOR=1 LANG=C.UTF-8
export XDG_CONFIG_HOME="$home/settings" XDG_STATE_HOME="$home/state" KEYCHAIN_ANCHORS=file
END
}

try_tool() {
    environment
    cat <<'END'
. /etc/os-release
echo "$PRETTY_NAME, $(ldd --version | head -n 1)"
printf %s 'correct horse' | keychainctl set --service example.com --account alice
[[ $(keychainctl get --service example.com --account alice) == 'correct horse' ]]
keychainctl doctor | tail -n 1
END
}

try_tests() {
    environment
    cat <<END
cd -- '$project'
.build/development/debug/swift-keychainPackageTests.xctest --testing-library swift-testing \
    --experimental-maximum-parallelization-width 24 --skip '$skipped' \
    --filter 'KeychainVaultTests|KeychainKitTests|KeychainServicesTests|KeychainctlTests|SecretMemoryTests' \
    </dev/null >"\$home/log" 2>&1
status=\$?
grep -aE '^✘|Test run with' "\$home/log" | tail -n 20
exit "\$status"
END
}

main "$@"
