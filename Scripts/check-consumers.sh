#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs packages that depend on this project as users' packages do: by URL and version, with their own target named
# `Valet`, with each trait alone and with all traits; on the wrappers in a separate repository, with no trait, each trait of their own,
# and all of their traits; and on a clone by path.
#
# `.ci/run` builds only the sample, in a debug build. `make consumers` builds all of them, in debug and release builds.
#
#   Scripts/check-consumers.sh [--all|--sample]     default: debug builds
#
#   --all       debug and release builds
#   --sample    only the package with its own target `Valet`
#
#   CONSUMERS_RECORD    a document whose section "Consumers" is replaced with the table of results
#
# It checks the last commit. Nothing is fetched from the URLs: git is configured to use local copies instead.

set -euo pipefail
cd -- "$(dirname -- "$0")/.."

configurations=(debug) sample=0
case "${1-}" in
    '') ;;
    --all) configurations=(debug release) ;;
    --sample) sample=1 ;;
    *) echo "usage: $0 [--all|--sample]" >&2; exit 64 ;;
esac
readonly configurations sample
source Scripts/build-options.sh
readonly version=0.1.0 core=https://example.invalid/swift-keychain wrappers=https://example.invalid/swift-keychain-wrappers
readonly not_built='The connection to the TV is not part of this build. Depend on the package with .package(url: …, from: …, traits: ["LGTVControl"]).'

project=$PWD
scratch=$(mktemp -d)
readonly project scratch
# Without the trait Certificates, nothing makes SwiftPM compile our Security after swift-certificates, which imports a module of that name
# if it finds one. The next build with the trait would fail at the one that is left here.
trap 'rm -rf -- "$scratch" "$project"/.build/development/debug/Modules/Security.*' EXIT

main() {
    publish
    # The user's git configuration is not changed. Warnings are not errors here: users cannot fix them in a dependency.
    export GIT_CONFIG_COUNT=2
    export GIT_CONFIG_KEY_0="url.$scratch/core.git.insteadOf" GIT_CONFIG_VALUE_0=$core
    export GIT_CONFIG_KEY_1="url.$scratch/wrappers.git.insteadOf" GIT_CONFIG_VALUE_1=$wrappers
    unset KEYCHAIN_CHECK

    for configuration in "${configurations[@]}"; do check; done
    if [[ -n ${CONSUMERS_RECORD-} ]]; then record; fi
}

check() {
    check_own_names
    if ((sample)); then return; fi
    check_traits
    check_wrappers "no trait" '' "$not_built"
    check_wrappers "the trait IssueReporting" '"IssueReporting"' "$not_built"
    check_wrappers "the trait LGTVControl" '"LGTVControl"' 'carol'
    local all
    all=$(traits_of Wrappers/Package.swift)
    check_wrappers "all traits" "$all" 'carol'
    check_path
}

# The traits that a manifest declares, as elements of an array.
traits_of() { # manifest
    local -a names
    # Those of a dependency have no description.
    mapfile -t names < <(tr -d '\n' <"$project/$1" | grep -oP '\.trait\(\s*name: \K"\w+"(?=,\s*description:)')
    ((${#names[@]} > 0)) || { echo "$1 declares no traits." >&2; exit 1; }
    local IFS=,
    echo "${names[*]}"
}

# Makes both repositories as they would be published with this version.
publish() {
    git clone --quiet --no-local --bare -- "$project" "$scratch/core.git"
    git -C "$scratch/core.git" tag "$version" HEAD
    git clone --quiet --no-local -- "$project" "$scratch/clone"
    # The user may not have configured a name and an email address for git.
    git -C "$scratch/clone" config user.name check-consumers
    git -C "$scratch/clone" config user.email check-consumers@example.invalid
    refuses "$core\"" "$version"
    refuses "$core" "next"
    "$scratch/clone/Scripts/split-wrappers.sh" "$core" "$version"
    git clone --quiet --bare --branch wrappers -- "$scratch/clone" "$scratch/wrappers.git"
    git -C "$scratch/wrappers.git" tag "$version" wrappers
    # SwiftPM uses the folder's name as the package's name.
    git clone --quiet --no-local -- "$project" "$scratch/swift-keychain"
}

# With these, the manifest would not be valid.
refuses() { # address, version
    local status=0
    "$scratch/clone/Scripts/split-wrappers.sh" "$@" 2>/dev/null || status=$?
    ((status == 64)) || { echo "split-wrappers.sh $* ended with $status instead of 64." >&2; exit 1; }
}

# SwiftPM does not allow two targets with the same name in a graph. A program's own target names must not conflict with KeychainKit.
check_own_names() {
    begin "with its own target Valet"
    mkdir -p "$scratch/app/Sources/Valet"
    echo 'public func ownValet() -> String { "own" }' >"$scratch/app/Sources/Valet/Valet.swift"
    write_package ".package(url: \"$core\", from: \"$version\", traits: [])" \
        '"Valet", .product(name: "KeychainKit", package: "swift-keychain"), .product(name: "Security", package: "swift-keychain")' \
        '.target(name: "Valet"),'
    write_program <<'END'
import Foundation
import KeychainKit
import Security
import Valet

let store = SecretStore(service: "com.example.app")
try store.save("s3cret", for: "alice")
var result: AnyObject?
let query = [
    kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.app", kSecAttrAccount: "alice", kSecReturnData: true,
] as [CFString: Any]
let status = SecItemCopyMatching(query as CFDictionary, &result)
print(ownValet(), status, (result as? Data)?.count ?? -1)
END
    expect "own 0 6"
}

# Each trait alone, with something that exists only with it, and all of them together.
check_traits() {
    local certificates='print("certificates", type(of: SecPolicyCreateBasicX509()))'
    local provider='print(KeychainConfigProvider(SecretStore(service: "com.example.app")).providerName)'
    local etcd='print("etcd", EtcdCluster(["https://etcd.example:2379"]).endpoints.count)'
    local nio='print("nio", type(of: TLSConfiguration.makeServerConfiguration(authenticatedAs:with:)) == Never.self)'
    local tpm='print("tpm", TPMToken.defaultConnection.isEmpty)'
    check_trait '"Certificates"' "KeychainTrust" "$certificates" "certificates SecPolicy"
    check_trait '"Configuration"' "KeychainConfiguration KeychainKit" "$provider" "KeychainConfigProvider"
    check_trait '"Etcd"' "KeychainSyncEtcd" "$etcd" "etcd 1"
    check_trait '"NIOSSL"' "KeychainNIOSSL NIOSSL" "$nio" "nio false"
    check_trait '"TPM"' "KeychainTPM" "$tpm" "tpm false"
    local all
    all=$(traits_of Package.swift)
    check_trait "${all//,/, }" \
        "KeychainTrust KeychainConfiguration KeychainKit KeychainSyncEtcd KeychainNIOSSL NIOSSL KeychainTPM" \
        "$certificates"$'\n'"$provider"$'\n'"$etcd"$'\n'"$nio"$'\n'"$tpm" \
        $'certificates SecPolicy\nKeychainConfigProvider\netcd 1\nnio false\ntpm false'
}

check_trait() { # traits, modules, program, expected output
    begin "only with ${1//\"/}"
    local module products=
    for module in $2; do
        if [[ $module == NIOSSL ]]; then
            products+='.product(name: "NIOSSL", package: "swift-nio-ssl"), '
        else
            products+=".product(name: \"$module\", package: \"swift-keychain\"), "
        fi
    done
    write_package ".package(url: \"$core\", from: \"$version\", traits: [$1]), $(grep -o '\.package(url: "[^"]*/swift-nio-ssl"[^)]*)' Package.swift)" \
        "$products"
    { for module in $2; do echo "import $module"; done; echo; echo "$3"; } | write_program
    expect "$4"
}

check_wrappers() { # name of the check, traits, expected output
    begin "the wrappers by URL, with $1"
    write_package ".package(url: \"$wrappers\", from: \"$version\", traits: [$2])" \
        "$(printf '.product(name: "%s", package: "swift-keychain-wrappers"), ' JSKeychain Keychain KeychainClient LGTVControl SecureStorage Valet)"
    # Without the trait, connecting fails with an error that says so. With the trait it would wait for a TV.
    local then='print(text)'
    if [[ $3 == "$not_built" ]]; then
        then='do { _ = try await LGTVControlManager.shared.connect(ip: "192.0.2.1", mac: "02:00:5E:10:00:01") } catch { print(error.localizedDescription) }'
    fi
    write_program <<END
import Foundation
import JSKeychain
import Keychain
import KeychainClient
import LGTVControl
import SecureStorage
import Valet

func check() async throws {
    let keychain = JSKeychain()
    try await keychain.save("carol", service: "com.example.app", account: "carol")
    let text: String = try await keychain.read(service: "com.example.app", account: "carol")
    guard text == "carol" else { return }
    $then
}
try await check()
END
    expect "$3"
}

# By path, as programs depend on a checkout beside them.
check_path() {
    begin "by path, on KeychainKit and the wrapper JSKeychain"
    write_package ".package(path: \"$scratch/swift-keychain\"), .package(path: \"$scratch/swift-keychain/Wrappers\")" \
        '.product(name: "KeychainKit", package: "swift-keychain"), .product(name: "JSKeychain", package: "Wrappers")'
    write_program <<'END'
import JSKeychain
import KeychainKit

func check() async throws {
    let store = SecretStore(service: "com.example.path")
    try await store.save("s3cret", for: "dave")
    let keychain = JSKeychain()
    try await keychain.save("carol", service: "com.example.path", account: "carol")
    let text: String = try await keychain.read(service: "com.example.path", account: "carol")
    print(try await store.read(String.self, for: "dave") ?? "nothing", text)
}
try await check()
END
    expect "s3cret carol"
}

begin() {
    name=$1
    printf '== %s (%s)\n' "$1" "$configuration"
    rm -rf -- "$scratch/app/Sources" "$scratch/app/Package.resolved"
    mkdir -p "$scratch/app/Sources/App" "$scratch/home"
    # swift-certificates would import our Security of the package before.
    rm -f -- "$scratch"/build/{debug,release}/Modules/Security.*
}

write_package() { # dependency, dependencies of App, further targets
    cat >"$scratch/app/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "App", platforms: [.macOS(.v15)], dependencies: [$1],
    targets: [${3-} .executableTarget(name: "App", dependencies: [$2])])
END
}

write_program() { cat >"$scratch/app/Sources/App/main.swift"; }

# All builds use one folder, so that shared modules are built once. The sample uses that of Scripts/build.sh, with its options, where the
# tests have compiled what this package depends on. The caches are separate: the user's caches may contain another commit under this
# version.
expect() { # expected output of the program
    local output program folder=$scratch/build
    local -a with=()
    if ((sample)); then folder=$project/.build/development with=("${options[@]}"); fi
    local build=(
        swift build --package-path "$scratch/app" --scratch-path "$folder" --cache-path "$scratch/cache"
        --security-path "$scratch/security" --configuration "$configuration" ${with[@]+"${with[@]}"})
    # As in Scripts/build.sh.
    rm -f "$folder"/*.yaml
    "${build[@]}" --product App >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log" >&2; exit 1; }
    program=$("${build[@]}" --show-bin-path)/App
    output=$(
        unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME KEYCHAIN_VAULT KEYCHAIN_DEVICE_KEY
        HOME="$scratch/home" KEYCHAIN_ANCHORS=file "$program"
    )
    echo "$output"
    [[ $output == "$1" ]] || { echo "expected: $1" >&2; exit 1; }
    printf '| %s | %s | built, and ran as expected |\n' "$name" "$configuration" >>"$scratch/results"
}

# Replaces the section of the document. A failure ends the script before.
record() {
    {
        printf '## Consumers\n\n'
        printf 'Packages that depend on this one by URL and version, or by path, and a program in each. Written by `make consumers` on %s. ' \
            "$(date -u +%F)"
        printf 'CI builds only the first of them, in a debug build.\n'
        printf '\n| package | build | result |\n|---|---|---|\n'
        cat "$scratch/results"
    } >"$scratch/section"
    "$project/Scripts/evidence.py" "$CONSUMERS_RECORD" Consumers "$scratch/section"
}

main
