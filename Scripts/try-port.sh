#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the own tests of a library over keys, certificates and identities with this package, and runs them: the recipes of
# Docs/Porting.md in one command.
#
#   Scripts/try-port.sh swift-security|swift-keychain-kit CHECKOUT
#
#   CHECKOUT       the folder of the library's repository. It is only read: the edits are made on a copy.
#   KEYCHAINCTL    a built keychainctl. With it, the tests of swift-keychain-kit that ask the user run as well.
#   PORT_BUILD     the folder for what is built; default: .build/ports/build, for both libraries
#
# The package with the copy is in .build/ports. The tests have a vault of their own. If the library has changed, so that an edit has
# nothing to do or a file is missing, the script says so and stops.

set -euo pipefail

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

usage() {
    echo "usage: $0 swift-security|swift-keychain-kit CHECKOUT" >&2
    exit 64
}

(($# == 2)) || usage
readonly library=$1
[[ $library == swift-security || $library == swift-keychain-kit ]] || usage
[[ -d $2 ]] || fail "There is no folder $2."
checkout=$(cd -- "$2" && pwd)
tool=${KEYCHAINCTL:+$(realpath -- "$KEYCHAINCTL")}
[[ -z $tool || -x $tool ]] || fail "KEYCHAINCTL names no program: $KEYCHAINCTL"
cd -- "$(dirname -- "$0")/.."
project=$PWD
readonly checkout tool project folder=$project/.build/ports/$library
source Scripts/build-options.sh
options+=(--package-path "$folder" --scratch-path "${PORT_BUILD:-$project/.build/ports/build}")
readonly options

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT

main() {
    echo "== Copy and edit $library"
    mkdir -p "$folder"
    find "$folder" -mindepth 1 -maxdepth 1 ! -name Package.resolved -exec rm -rf -- {} +
    case $library in
        swift-security) copy_security ;;
        swift-keychain-kit) copy_keychain_kit ;;
    esac
    echo "== Build"
    swift build --build-tests "${options[@]}" >"$scratch/log" 2>&1 || {
        grep -E '^/.*error:|^error:' "$scratch/log" | sort -u | head -n 40 >&2 || tail -n 40 "$scratch/log" >&2
        fail "It does not compile."
    }
    echo "== Test"
    make_app
    case $library in
        swift-security) run ;;
        swift-keychain-kit) run_keychain_kit ;;
    esac
}

# MARK: - Copies and edits

# Files of a folder of the checkout, and of the folders below it, into one folder: names are unique in a module.
copy() { # folder of the checkout, target, names of files; without any, all Swift files
    local from=$checkout/$1 to=$folder/$2 name found
    shift 2
    [[ -d $from ]] || fail "The checkout has no folder ${from#"$checkout"/}."
    mkdir -p "$to"
    if (($# == 0)); then
        find "$from" -name '*.swift' -exec cp -- {} "$to" \;
        [[ -n $(ls -A "$to") ]] || fail "The checkout has no Swift files in ${from#"$checkout"/}."
    fi
    for name; do
        found=$(find "$from" -name "$name.swift")
        [[ -n $found ]] || fail "The checkout has no $name.swift in ${from#"$checkout"/}."
        [[ $found != *$'\n'* ]] || fail "The checkout has several files $name.swift in ${from#"$checkout"/}."
        cp -- "$found" "$to"
    done
}

edit() { # file, commands of sed
    local file=$folder/$1
    [[ -f $file ]] || fail "There is no file $1 to edit."
    sed -E "$2" "$file" >"$scratch/edited"
    if cmp -s -- "$file" "$scratch/edited"; then fail "Nothing to edit in $1 by: $2"; fi
    cp -- "$scratch/edited" "$file"
}

# Changes every file below a folder that has the line.
replace_import() { # folder, module, other module
    local file found=
    while IFS= read -r file; do
        edit "${file#"$folder"/}" "s/^(.*import) $2\$/\\1 $3/"
        found=1
    done < <(grep -rlE "^([a-z]+ )?import $2\$" "$folder/$1" || true)
    [[ -n $found ]] || fail "No file in $1 imports $2."
}

copy_security() {
    copy Sources/SwiftSecurity SwiftSecurity
    copy Tests/SwiftSecurityTests SwiftSecurityTests
    replace_import SwiftSecurity CryptoKit Crypto
    replace_import SwiftSecurityTests CryptoKit Crypto
    # Two extensions of keys in the Secure Enclave.
    edit SwiftSecurity/SecDataConvertible.swift '/^extension SecureEnclave\./,/^}/d'
    write_package <<'END'
        .target(
            name: "SwiftSecurity", dependencies: [security, authentication, crypto], path: "SwiftSecurity",
            swiftSettings: [.swiftLanguageMode(.v5), flag]),
        .testTarget(
            name: "SwiftSecurityTests", dependencies: ["SwiftSecurity", security, crypto], path: "SwiftSecurityTests",
            swiftSettings: [.swiftLanguageMode(.v5), flag]),
END
    identifier=dev.zharov.TestHost group=J59EP59PB8.dev.zharov.TestHost shared=group.dev.zharov.TestHost
}

copy_keychain_kit() {
    local sources=Sources/SwiftKeychainKit tests=Tests/SwiftKeychainKitTests host=TestHost/TestHostTests
    # The part of the library for keys, certificates and identities.
    copy $sources SwiftKeychainKit
    leave_out SwiftKeychainKit 'GenericPassword*' 'InternetPassword*' 'Keychain+GenericPassword*' 'Keychain+InternetPassword*' \
        'AuthenticationType*' 'NetworkProtocol*' 'SecureEnclaveKeys*' CryptoKit+GenericPasswordConvertible \
        AccessConstraint+CustomDebugStringConvertible AccessControl+LAContext Keychain+Update ProviderAccessGroup+GetValue \
        SecretData+{Random,StringInterpolation,SymmetricKey,UnsafeTargets} SecretDataError+SecurityError \
        SecretDataProtocol+{CFData,Equality}
    local topic
    for topic in Certificates Identities ItemReference Keys; do copy $tests/$topic SwiftKeychainKitTests; done
    copy $tests/CryptoKit SwiftKeychainKitTests CryptoKitSecKeyConvertibleTests
    for topic in Certificates Identities Keys Helpers; do copy $host/$topic TestHostTests; done
    copy $host/CryptoKit TestHostTests CryptoKitSecKeyConvertibleIntegrationTests
    copy $host/UserInteractiveTests TestHostTests UserInteractiveTests KeysSkipUITests KeysApplicationPasswordTests

    replace_import SwiftKeychainKit CryptoKit Crypto
    replace_import SwiftKeychainKitTests CryptoKit Crypto
    replace_import TestHostTests CryptoKit Crypto
    replace_import SwiftKeychainKit Darwin Foundation
    replace_import SwiftKeychainKit System SystemPackage
    edit SwiftKeychainKit/Identities+Delete.swift '1i private import Foundation'
    edit SwiftKeychainKit/Keys+QueryOne.swift '1i public import Foundation'
    edit SwiftKeychainKit/CFCastable.swift '/^extension CFBoolean: CFCastable \{/,/^}/d'
    edit SwiftKeychainKit/SecretData.swift 's/(_ = )?memset_s\(buffer, count, 0, count\)/explicit_bzero(buffer, count)/'
    edit SwiftKeychainKitTests/KeysApplicationLabelTests.swift 's/#require\((Keychain\..*\(for: key\))/#require(try \1/'

    identifier=com.example.TestHost group=TEAM.com.example.TestHost shared=group.com.example.TestHost
    mkdir "$folder/AppEntitlements"
    cat >"$folder/AppEntitlements/AppEntitlements.swift" <<END
// A stand-in for the package of this name, which reads the signature of an Apple program.
public struct EntitlementsUnreadable: Error {}

public enum AppEntitlements {
    public static var applicationIdentifier: String? { get throws(EntitlementsUnreadable) { "$group" } }
    public static var keychainAccessGroups: [String]? { get throws(EntitlementsUnreadable) { ["$group"] } }
    public static var applicationGroups: [String]? { get throws(EntitlementsUnreadable) { ["$shared"] } }
}
END
    write_package <<'END'
        .target(name: "AppEntitlements", path: "AppEntitlements"),
        .target(
            name: "SwiftKeychainKit",
            dependencies: [security, authentication, crypto, system, containers, "AppEntitlements"],
            path: "SwiftKeychainKit", swiftSettings: [internalImports, flag]),
        .testTarget(
            name: "SwiftKeychainKitTests", dependencies: ["SwiftKeychainKit", security, authentication, crypto],
            path: "SwiftKeychainKitTests", swiftSettings: [internalImports, flag]),
        .testTarget(
            name: "TestHostTests",
            dependencies: ["SwiftKeychainKit", security, authentication, crypto, containers, certificates, asn1],
            path: "TestHostTests", swiftSettings: [flag]),
END
}

# What serves passwords, the Secure Enclave and output, and nothing else. Names that a version does not have are ignored.
leave_out() { # folder, patterns of names
    local from=$folder/$1 name
    shift
    for name; do find "$from" -name "$name.swift" -delete; done
}

write_package() { # targets on standard input
    local name=${project##*/}
    {
        cat <<END
// swift-tools-version: 6.2
import PackageDescription

let security = Target.Dependency.product(name: "Security", package: "$name")
let authentication = Target.Dependency.product(name: "LocalAuthentication", package: "$name")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let certificates = Target.Dependency.product(name: "X509", package: "swift-certificates")
let containers = Target.Dependency.product(name: "BasicContainers", package: "swift-collections")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let flag = SwiftSetting.unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "Security"])
let internalImports = SwiftSetting.enableUpcomingFeature("InternalImportsByDefault")

let package = Package(
    name: "App",
    dependencies: [
        .package(path: "$project", traits: [.defaults, "Certificates"]),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.4.0"),
    ],
    targets: [
END
        cat
        echo "    ])"
    } >"$folder/Package.swift"
}

# MARK: - Tests

# The test program as an app with a bundle identifier and entitlements.
make_app() {
    local contents=$scratch/TestHost.app/Contents
    mkdir -p "$contents/Linux" "$contents/Resources"
    cp -- "$(swift build --show-bin-path "${options[@]}")/AppPackageTests.xctest" "$contents/Linux/TestHost"
    find "$checkout/Tests" \( -name '*.der' -o -name '*.p12' \) -exec cp -- {} "$contents/Resources" \;
    property_list "<key>CFBundleIdentifier</key><string>$identifier</string>" >"$contents/Info.plist"
    property_list "<key>keychain-access-groups</key><array><string>$group</string></array>" \
        "<key>com.apple.security.application-groups</key><array><string>$shared</string></array>" >"$scratch/entitlements"
    export KEYCHAIN_ENTITLEMENTS=$scratch/entitlements KEYCHAIN_ANCHORS=file XDG_STATE_HOME=$scratch/state
    export KEYCHAIN_VAULT=$scratch/vault KEYCHAIN_DEVICE_KEY=$scratch/config/device.key
}

property_list() {
    printf '<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict>'
    printf '%s' "$@"
    printf '</dict></plist>\n'
}

run_keychain_kit() {
    if [[ -z $tool ]]; then
        echo "skipped: KeysSkipUITests and KeysApplicationPasswordTests, because KEYCHAINCTL is not set"
        run --testing-library swift-testing --skip 'KeysSkipUITests|KeysApplicationPasswordTests'
        return
    fi
    printf '#!/bin/sh\necho passphrase\n' >"$scratch/askpass"
    chmod 700 "$scratch/askpass"
    "$tool" protect add passphrase --new-passphrase-fd 3 3< <(printf passphrase)
    export KEYCHAIN_AUTHENTICATOR=askpass KEYCHAIN_ASKPASS=$scratch/askpass
    run --testing-library swift-testing
}

# A run without any test is a failure too.
run() {
    local status=0 summary
    timeout 600 "$scratch/TestHost.app/Contents/Linux/TestHost" "$@" >"$scratch/output" 2>&1 || status=$?
    grep -E 'error: |recorded an issue' "$scratch/output" || true
    summary=$(grep -E 'Executed [1-9][0-9]* tests|Test run with [1-9][0-9]* tests' "$scratch/output" | tail -n 1) ||
        { tail -n 20 "$scratch/output" >&2; fail "No tests ran (exit status $status)."; }
    echo "$summary"
    ((status == 0)) || fail "Tests failed (exit status $status)."
}

main
