#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries what was built here in other distributions: the tool with Swift's libraries inside, and the core's tests: as root, and as an
# ordinary user of a minimal system, without network and beside a load of 8.
#
#   Scripts/check-distributions.sh [SUITE …]     default: bookworm and trixie (Debian 12 and 13), jammy and noble (Ubuntu 22.04
#                                                and 24.04)
#
#   DISTRIBUTIONS_RECORD    a document whose section "Distributions" is replaced with the table of results
#
# As root. Each distribution is made by debootstrap in a temporary folder. One whose mirror cannot be reached is skipped, with the
# reason. Nothing is installed on this machine but debootstrap.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

readonly debian=http://deb.debian.org/debian ubuntu=http://archive.ubuntu.com/ubuntu
# The packages for the tests and for Swift's shared libraries.
readonly packages=ca-certificates,iproute2,libsqlite3-0,libstdc++6,libsystemd0,python3,strace,util-linux,bsdutils,zlib1g
# Tests of faults, which do not depend on the distribution, and those that need this machine's users. An ordinary user runs all.
readonly skipped=${DISTRIBUTIONS_SKIP:-KillTests|StarvationTests|FaultSampleTests|SwarmTests|NeedleTests}

((EUID == 0)) || { echo "Run this as root: it makes the folders of other distributions." >&2; exit 1; }
command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap >/dev/null

scratch=$(mktemp -d)
project=$PWD
toolchain=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "$(command -v swift)")")")")
readonly scratch project toolchain
trap 'rm -rf -- "$scratch"' EXIT

main() {
    if (($# == 0)); then set -- bookworm trixie jammy noble; fi
    swift build --configuration release --static-swift-stdlib --product keychainctl
    tool=$(realpath "$(swift build --configuration release --static-swift-stdlib --show-bin-path)/keychainctl")
    Scripts/build.sh core --build-tests
    local suite tried=0
    for suite in "$@"; do
        make_root "$suite" || continue
        tried=$((tried + 1))
        within "$scratch/$suite" bash -euo pipefail <<<"$(try_tool)" | tee "$scratch/tool"
        within "$scratch/$suite" bash -uo pipefail <<<"$(try_tests '')" | tee "$scratch/tests"
        beside_load within "$scratch/$suite" bash -uo pipefail <<<"$(try_tests "$as_user")" | tee "$scratch/tests-user"
        printf '| %s | %s | %s |\n' "$(head -n 1 "$scratch/tool")" "$(result "$scratch/tests")" \
            "$(result "$scratch/tests-user")" >>"$scratch/results"
        rm -rf -- "${scratch:?}/$suite"
    done
    ((tried > 0)) || { echo "No distribution could be tried." >&2; exit 1; }
    if [[ -n ${DISTRIBUTIONS_RECORD-} ]]; then record; fi
}

# The last line of a run's output, without the mark at its beginning.
result() { tail -n 1 "$1" | sed -E 's/^[^A-Za-z]*//'; }

# Runs a command beside eight processes that use all the processor time that they get.
beside_load() {
    local pids=() status=0 pid
    for _ in {1..8}; do
        (while :; do :; done) &
        pids+=("$!")
    done
    "$@" || status=$?
    for pid in "${pids[@]}"; do kill "$pid"; done
    wait "${pids[@]}" 2>/dev/null || true
    return "$status"
}

# Replaces the section of the document. A failure ends the script before.
record() {
    {
        printf '## Distributions\n\n'
        printf 'A static `keychainctl` and the core'"'"'s tests, built on this machine, in other distributions. Written by `make distributions` on %s.\n' \
            "$(date -u +%F)"
        printf 'The user has no privileges, no network, and the load of the machine is at least 8.\n'
        printf '\n| distribution | as root, without the tests that inject faults | as a user, all tests |\n|---|---|---|\n'
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
        printf '| %s | skipped: %s | |\n' "$1" "$reason" >>"$scratch/results"
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

# In no list of users, and without keys of the kernel, of which it lets a user have few.
user=64300
while grep -qE "^ *$user:" /proc/key-users; do user=$((user + 1)); done
readonly user
# Becomes this user, with nothing but loopback as network.
readonly as_user='unshare --net sh -c '"'"'ip link set lo up 2>/dev/null; exec "$@"'"'"' sh setpriv --reuid='$user' --regid='$user' --clear-groups'

try_tests() { # the command that changes the user, or nothing
    local chosen="--skip '$skipped' --filter 'KeychainVaultTests|KeychainKitTests|KeychainServicesTests|KeychainctlTests|SecretMemoryTests'"
    local owner=''
    if [[ -n $1 ]]; then chosen='' owner="chown -R $user \"\$home\""; fi
    environment
    cat <<END
cd -- '$project'
# As the tests here do: a debug build of the tool takes five times as long.
export KEYCHAIN_TEST_TOOL='$tool'
$owner
$1 .build/development/debug/swift-keychainPackageTests.xctest --testing-library swift-testing \
    --experimental-maximum-parallelization-width 24 $chosen </dev/null >"\$home/log" 2>&1
status=\$?
grep -aE '^✘|Test run with' "\$home/log" | tail -n 200
exit "\$status"
END
}

main "$@"
