#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Follows the READMEs in a temporary home folder: runs the commands of the `sh` blocks, and builds the packages.
# Not run: blocks of `console`, since they need a server (GitOverHTTPTests does the same), and of `ini`, which is configuration of systemd.
# One thing differs: the packages depend on this folder instead of a version from a repository.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

project=$PWD
scratch=$(mktemp -d)
readonly project scratch
# Without the trait Certificates, nothing makes SwiftPM compile our Security after swift-certificates, which imports a module of that name
# if it finds one. The next build with the trait would fail at the one that is left here.
trap 'rm -rf -- "$scratch" "$project"/.build/development/debug/Modules/Security.*' EXIT

# Reuses what the tests have compiled, with the folder, options and environment of Scripts/build.sh.
source Scripts/build-options.sh
readonly shared=(--scratch-path "$project/.build/development" "${options[@]}") own_home=${HOME-/}

export HOME="$scratch/home"
mkdir "$HOME"
unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME KEYCHAIN_VAULT KEYCHAIN_DEVICE_KEY

main() {
    echo "== The commands in README.md"
    # Other steps run `make test` and `make demo`. Here it is enough that the targets exist.
    make() { command make --dry-run "$@" >/dev/null; }
    # With another home folder in its environment, SwiftPM would compile everything again.
    swift() { HOME=$own_home command swift "$@"; }
    export -f make swift
    export own_home
    bash -euxo pipefail <(code sh) 2>&1 | without_build_steps
    # The installed tool runs on machines without a toolchain.
    if ldd "$HOME/.local/bin/keychainctl" | grep libswift; then exit 1; fi
    # Any use of Foundation beyond FoundationEssentials would bring the tables of ICU. See Docs/Decisions/0031.
    strip -o "$scratch/stripped" "$HOME/.local/bin/keychainctl"
    (($(stat -c %s "$scratch/stripped") <= 40000000)) || { echo "keychainctl has become too large: does it link ICU?" >&2; exit 1; }

    echo "== The package in README.md, with each of its programs and its test"
    # SwiftPM uses the folder's name as the package's name, and a clone may have any name.
    ln -s -- "$project" "$scratch/swift-keychain"
    check_program README.md KeychainKit "alice's secret has 6 characters, and this is visit 1" 'try await visit()'
    check_program README.md Security "bob's secret has 14 bytes"
    check_test

    echo "== The package in Wrappers/README.md"
    check_program Wrappers/README.md JSKeychain "carol's token has 9 characters"

    echo "== Features that need a trait, without the trait"
    check_without_traits KeychainClient "KeychainClient.unimplemented.getJwtToken()" \
        "KeychainClient.getJwtToken was called and is not implemented. Set it, or use a live client."
    check_without_traits LGTVControl 'LGTVControlManager.shared.connect(ip: "192.0.2.1", mac: "02:00:5E:10:00:01")' \
        'The connection to the TV is not part of this build. Depend on the package with .package(url: …, from: …, traits: ["LGTVControl"]).'
}

# Builds and runs the program that imports a module, with that product in the manifest.
check_program() { # document, module, expected output, the main code if the document only shows a function
    { block "$1" "^import $2\$"; echo "${4-}"; } | check_package "$1" "$2" "$3"
}

# Features that need a trait also compile without it, and fail with an error that says so.
check_without_traits() { # module, call, expected message
    check_package Wrappers/README.md "$1" "$3" <<EOF
import Foundation
import $1
func check() async {
    do { _ = try await $2 } catch { print(error.localizedDescription) }
}
await check()
EOF
}

check_package() { # document, module, expected output; reads the program from standard input
    local output
    make_package "$1" "$2"
    cd -- "$scratch/app"
    in_shared_folder build --product App
    output=$("$(swift build "${shared[@]}" --show-bin-path)/App")
    echo "$2: $output"
    [[ $output == "$3" ]]
    cd -- "$project"
}

# The test in README.md, in the package of the previous program.
check_test() {
    cd -- "$scratch/app"
    in_shared_folder test | tee "$scratch/test.log"
    # A package without tests would pass too.
    grep -qE 'Test run with 1 test .*passed' "$scratch/test.log"
    cd -- "$project"
}

in_shared_folder() { # subcommand of swift, arguments
    # Without this, SwiftPM would follow its plan for the package before.
    rm -f "$project/.build/development"/*.yaml
    HOME=$own_home swift "$1" "${shared[@]}" "${@:2}" 2>&1 | without_build_steps
}

without_build_steps() { awk '!/^(\[[0-9]|Fetched|Comput|Creating|Working copy)/ { print; fflush() }'; }

# All code blocks of a language in README.md.
code() {
    awk -v start='```'"$1" '$0 == start { inside = 1; next } $0 == "```" { inside = 0 } inside' "$project/README.md"
}

# The READMEs have one block of Swift code for each program, one for the test, and one for the manifest.
make_package() { # document, module; reads the program from standard input
    local app=$scratch/app
    mkdir -p "$app/Sources/App" "$app/Tests/AppTests"
    cat >"$app/Sources/App/main.swift"
    block README.md '^import KeychainTesting$' >"$app/Tests/AppTests/AppTests.swift"
    {
        printf '%s\n' '// swift-tools-version: 6.2' 'import PackageDescription' 'let package = Package(name: "App",'
        block "$1" '^dependencies:' | in_this_folder |
            sed -E "s/(executableTarget.*)name: \"(KeychainKit|JSKeychain)\"/\1name: \"$2\"/"
        echo ')'
    } >"$app/Package.swift"
}

# The wrappers depend on the core package in their parent folder.
in_this_folder() {
    sed -E -e "s|url: \"[^\"]*/swift-keychain\", from: \"[^\"]*\"|path: \"$scratch/swift-keychain\"|" \
        -e "s|url: \"[^\"]*/swift-keychain-wrappers\", from: \"[^\"]*\"|path: \"$scratch/swift-keychain/Wrappers\"|" \
        -e 's|package: "swift-keychain-wrappers"|package: "Wrappers"|'
}

# The block of Swift code in a document that contains a line that matches.
block() { # document, pattern
    awk -v wanted="$2" '
        $0 == "```swift" { inside = 1; text = ""; found = 0; next }
        $0 == "```" { if (inside && found) { printf "%s", text; exit }; inside = 0 }
        inside { text = text $0 "\n" }
        inside && $0 ~ wanted { found = 1 }' "$project/$1"
}

main
# The dependencies of a disabled trait are not even fetched.
if grep -E 'swift-(configuration|nio)|async-http-client|xctest' "$scratch/app/Package.resolved"; then exit 1; fi
