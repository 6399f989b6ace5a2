#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures this project beside its peers, and writes the result into Docs/PERFORMANCE.md and Docs/Images.
#
# Peers come from Debian and PyPI. One that cannot be installed is a line in the document. Everything is measured in a throw-away
# session; see Benchmarks/Peers/session.py.
#
# Environment:
#   PEERS_SIZES          the sizes of the stores (100,10000,100000)
#   PEERS_SECONDS        how long a client is measured at each size (15)
#   PEERS_FILL_SECONDS   how long a store is filled to each size (60)
#   PEERS_DOCUMENT       another document to write into; its Images folder is beside it

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

readonly output=.build/peers
readonly venv=.build/peers-venv
readonly missing=$output/missing.tsv
readonly sources=Benchmarks/Peers
readonly document=${PEERS_DOCUMENT:-Docs/PERFORMANCE.md}

main() {
    mkdir -p "$output/bin"
    rm -f "$output/section.md"
    : >"$missing"
    build_ours
    install_peers
    prepare_python
    build_contenders
    local status=0
    # The plots need the results also if a contender of this project has failed.
    python3 "$sources/main.py" "$release" "$PWD/$output/bin" "$PWD/$venv/bin/python" "$PWD/$missing" "$PWD/$output" || status=$?
    if [[ -f $output/section.md ]]; then write; fi
    exit "$status"
}

have() { command -v "$1" >/dev/null 2>&1; }

# As the README builds the tool.
build_ours() {
    local product build=(swift build --configuration release --static-swift-stdlib)
    for product in keychainctl keychain-benchmarks; do "${build[@]}" --product "$product"; done
    release=$("${build[@]}" --show-bin-path)
}

# A line for each peer: what the table calls it, the test for it, and its Debian packages.
install_peers() {
    need_all dbus-daemon 'have dbus-daemon && have dbus-send' "dbus-daemon dbus-bin" \
        gnome-keyring keepassxc kwallet secret-tool "Python keyring"
    need gnome-keyring 'have gnome-keyring-daemon' gnome-keyring
    need keepassxc 'have keepassxc && have keepassxc-cli' keepassxc
    need kwallet 'have kwalletd5 || have ksecretd' "libkf5wallet-bin libqca-qt5-2-plugins"
    need secret-tool 'have secret-tool' libsecret-tools
    need pass 'have pass && have gpg' "pass gnupg"
    need gopass 'have gopass && have gpg' "gopass gnupg"
    need libsecret 'have pkg-config && pkg-config --exists libsecret-1' "libsecret-1-dev pkg-config"
    need openssl 'compiles "#include <openssl/evp.h>"' libssl-dev
    need strace 'have strace' strace
}

compiler() { command -v cc || command -v clang; }
compiles() { "$(compiler)" -x c -fsyntax-only - >/dev/null 2>&1 <<<"$1"; }

need() {
    if eval "$2"; then return; fi
    local words
    read -ra words <<<"$3"
    if install "${words[@]}" && eval "$2"; then return; fi
    printf '%s\t%s\n' "$1" "not installed; needs: apt-get install $3" >>"$missing"
}

# A requirement of several peers.
need_all() {
    local before after
    before=$(wc -l <"$missing")
    need "$1" "$2" "$3"
    after=$(wc -l <"$missing")
    if ((after == before)); then return; fi
    printf "%s\tnot installed; needs $1\n" "${@:4}" >>"$missing"
}

install() {
    local -a as_root=()
    have apt-get || return 1
    if ((EUID != 0)); then
        have sudo || return 1
        as_root=(sudo)
    fi
    echo "Installing: $*"
    if [[ -z ${updated-} ]]; then
        updated=yes
        "${as_root[@]}" apt-get update -qq || echo "The package lists could not be updated. Trying with the old ones."
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# keyring, and matplotlib for the plots.
prepare_python() {
    local python=
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import ensurepip, venv' 2>/dev/null; then break; fi
    done
    if ! has_python_packages; then
        rm -rf "$venv"
        { "$python" -m venv "$venv" && "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 \
            --only-binary :all: keyring SecretStorage cryptography matplotlib; } || true
    fi
    if ! has_python_packages; then
        printf 'Python keyring\tnot installed; needs from PyPI: keyring SecretStorage\n' >>"$missing"
    fi
}

has_python_packages() { "$venv/bin/python" -c 'import keyring, secretstorage, matplotlib' 2>/dev/null; }

build_contenders() {
    local flags
    compile keyring keyring.c
    compile sqlite sqlite.c -lsqlite3
    compile sqlite-sealed sqlite.c -DSEALED -lsqlite3 -lcrypto
    if read -ra flags < <(pkg-config --cflags --libs libsecret-1 2>/dev/null); then compile libsecret libsecret.c "${flags[@]}"; fi
}

compile() {
    rm -f "$output/bin/$1"
    "$(compiler)" -O2 -Wall -Wextra -o "$output/bin/$1" "$sources/contender.c" "$sources/$2" "${@:3}" ||
        echo "$sources/$2 could not be compiled; it is left out." >&2
}

write() {
    local images
    images=$(dirname -- "$document")/Images
    mkdir -p "$images"
    if "$venv/bin/python" -c 'import matplotlib' 2>/dev/null; then
        "$venv/bin/python" "$sources/plots.py" "$output/results.json" "$images"
    else
        echo "The plots were not drawn: matplotlib could not be installed." >&2
    fi
    Scripts/evidence.py "$document" "Beside the peers" "$output/section.md"
    echo "The section 'Beside the peers' of $document is written."
}

main
