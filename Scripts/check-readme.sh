#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does what the README says, word for word, in a home folder of its own: runs its commands, and builds its package.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

project=$PWD
scratch=$(mktemp -d)
readonly project scratch
trap 'rm -rf -- "$scratch"' EXIT

export HOME="$scratch/home"
mkdir "$HOME" "$scratch/another-home"
unset XDG_DATA_HOME XDG_CONFIG_HOME KEYCHAIN_VAULT KEYCHAIN_DEVICE_KEY

main() {
    echo "== The commands in README.md"
    # `make test` and `make demo` are run in full elsewhere; here it is enough that they exist.
    make() { command make --dry-run "$@" >/dev/null; }
    export -f make
    bash -euxo pipefail <(code sh) 2>&1 | without_build_steps

    echo "== The package in README.md, with each of its programs"
    # The folder's name is the package's name to SwiftPM, and a clone may have any.
    ln -s -- "$project" "$scratch/swift-keychain"
    check_program KeychainKit "alice's secret has 6 characters, and this is visit 1" 'try await visit()'
    check_program JSKeychain "carol's token has 9 characters"
    check_program Security "bob's secret has 14 bytes"

    echo "== What takes a trait, without it"
    check_without_traits KeychainClient "KeychainClient.unimplemented.getJwtToken()" \
        "KeychainClient.getJwtToken was called and is not implemented. Set it, or use a live client."
    check_without_traits LGTVControl 'LGTVControlManager.shared.connect(ip: "192.0.2.1", mac: "02:00:5E:10:00:01")' \
        'The connection to the TV is not part of this build. Depend on the package with .package(url: …, from: …, traits: ["LGTVControl"]).'
}

# Builds the program that imports a module, with that product in the package description, and runs it.
check_program() { # module, expected output, how the program begins if the README shows a function
    { block "^import $1\$"; echo "${3-}"; } | check_package "$1" "$2"
}

# What takes a trait is there without it as well, and says so.
check_without_traits() { # module, call, expected message
    check_package "$1" "$3" <<EOF
import Foundation
import $1
func check() async {
    do { _ = try await $2 } catch { print(error.localizedDescription) }
}
await check()
EOF
}

check_package() { # module, expected output; the program comes in by stdin
    local output
    make_package "$1"
    cd -- "$scratch/app"
    swift build --product App 2>&1 | without_build_steps
    # The commands have left their vault locked, which is another thing than what the programs show.
    output=$(HOME="$scratch/another-home" "$(swift build --show-bin-path)/App")
    echo "$1: $output"
    [[ $output == "$2" ]]
    cd -- "$project"
}

without_build_steps() { awk '!/^(\[[0-9]|Fetched|Comput|Creating|Working copy)/ { print; fflush() }'; }

# All code blocks of a language.
code() {
    awk -v start='```'"$1" '$0 == start { inside = 1; next } $0 == "```" { inside = 0 } inside' "$project/README.md"
}

# The Swift code comes in blocks: one for each program, and one that goes into a package description.
make_package() {
    local program=$scratch/app/Sources/App/main.swift package=$scratch/app/Package.swift
    mkdir -p "$(dirname -- "$program")"
    cat >"$program"
    {
        printf '%s\n' '// swift-tools-version: 6.2' 'import PackageDescription' 'let package = Package(name: "App",'
        block '^dependencies:' | sed "s/name: \"KeychainKit\"/name: \"$1\"/"
        echo ')'
    } >"$package"
}

# The block of Swift code that has such a line.
block() {
    awk -v wanted="$1" '
        $0 == "```swift" { inside = 1; text = ""; found = 0; next }
        $0 == "```" { if (inside && found) printf "%s", text; inside = 0 }
        inside { text = text $0 "\n" }
        inside && $0 ~ wanted { found = 1 }' "$project/README.md"
}

main
# What belongs to a trait that is off is not even fetched.
if grep -E 'swift-(configuration|nio)|xctest' "$scratch/app/Package.resolved"; then exit 1; fi
