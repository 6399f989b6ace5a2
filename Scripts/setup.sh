#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sees to it that what a command needs is there, and changes nothing if it is.
#
#   Scripts/setup.sh build    what building takes
#   Scripts/setup.sh test     what the tests take besides

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# The oldest Swift whose package description Package.swift is written in.
readonly oldest_swift=6.2
readonly venv=.build/test-venv

main() {
    check_swift
    local packages
    mapfile -t packages < <(missing "$1")
    ((${#packages[@]} == 0)) || install "${packages[@]}"
    mapfile -t packages < <(missing "$1")
    ((${#packages[@]} == 0)) || stop "These were installed and are still not found:" "${packages[@]}"
    if [[ $1 == test ]]; then prepare_python; fi
}

have() { command -v "$1" >/dev/null 2>&1; }

check_swift() {
    if ! have swift; then
        echo "There is no 'swift' on the PATH. Get Swift $oldest_swift or newer from https://www.swift.org/install/linux/" >&2
        exit 1
    fi
    local words version
    # Its own words tell best what the toolchain lacks.
    words=$(swift --version 2>&1) || { printf "'swift --version' fails:\n%s\n" "$words" >&2; exit 1; }
    version=$(sed -nE 's/.*Swift version ([0-9]+(\.[0-9]+)+).*/\1/p' <<<"$words" | head -n 1)
    if [[ $(printf '%s\n' "$oldest_swift" "${version:-0}" | sort -V | head -n 1) != "$oldest_swift" ]]; then
        echo "This is Swift ${version:-of an unknown version}, and $oldest_swift or newer is needed:" \
            "https://www.swift.org/install/linux/" >&2
        exit 1
    fi
}

# Debian packages that are missing, one on each line. What counts is the thing, not the package: it may have come
# from elsewhere.
missing() {
    have git || echo git
    compiles c '#include <stdio.h>' || echo libc6-dev
    compiles c++ '#include <string>' || echo g++
    compiles c '#include <sqlite3.h>' || echo libsqlite3-dev
    [[ $1 == test ]] || return 0
    have python3 || echo python3
    [[ -n $(python_for_venv) ]] || echo python3-venv
    have strace || echo strace
    have pinentry-curses || echo pinentry-curses
    have pinentry-tty || echo pinentry-tty
    have unshare && have setsid && have flock || echo util-linux
    # A system bus with a logind that does as it is told. Debian's own Python, since the module is for that.
    have dbus-daemon || echo dbus-daemon
    /usr/bin/python3 -c 'import dbus, dbusmock' 2>/dev/null || echo python3-dbusmock
    /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libsystemd.so.0")' 2>/dev/null || echo libsystemd0
}

# With the toolchain's own compiler, since that is the one that has to find the header.
compiles() {
    local compiler
    compiler=$(dirname -- "$(readlink -f -- "$(command -v swift)")")/clang
    [[ -x $compiler ]] || compiler=$(command -v clang || command -v cc) || return 1
    "$compiler" -x "$1" -fsyntax-only - >/dev/null 2>&1 <<<"$2"
}

install() {
    local -a as_root=()
    have apt-get || stop "Install what these Debian packages hold, under your system's names for them:" "$@"
    if ((EUID != 0)); then
        have sudo || stop "You are not root and there is no sudo. Have these packages installed:" "$@"
        as_root=(sudo)
    fi
    echo "Installing: $*"
    # Old lists may name versions that are gone; one unreachable source among several need not matter.
    "${as_root[@]}" apt-get update -qq || echo "The list of packages could not be renewed; trying with the old one."
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@" >/dev/null \
        || stop "apt-get could not install them. Have these packages installed:" "$@"
}

# Says what to install by hand, and ends.
stop() {
    printf '%s\n  apt-get install %s\n' "$1" "${*:2}" >&2
    exit 1
}

# The tests check the vault's files with a second implementation of AES, which comes from PyPI. They skip what needs it
# if it is not there, so that no network does not mean no tests.
prepare_python() {
    if "$venv/bin/python" -c 'import cryptography' 2>/dev/null; then return; fi
    local words
    mkdir -p .build
    if words=$(make_venv 2>&1); then
        echo "Made $venv, in which tests run Python with 'cryptography'."
    else
        rm -rf "$venv"
        printf '%s\n%s\n' "$words" "The Python package 'cryptography' is not to be had (why: above)." >&2
        echo "Going on without; the tests that need it are skipped." >&2
    fi
}

make_venv() {
    "$(python_for_venv)" -m venv --clear "$venv" \
        && "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --only-binary :all: \
            cryptography \
        && "$venv/bin/python" -c 'import cryptography'
}

# The first on the PATH may be one that was built without what a venv takes.
python_for_venv() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
}

case ${1-} in
build | test) main "$1" ;;
*)
    echo "usage: Scripts/setup.sh build|test" >&2
    exit 64
    ;;
esac
