// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A separate package, so that programs that use this project do not get it. `make fuzz` builds and runs it.
let package = Package(
    name: "swift-keychain-fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-keychain", path: "..", traits: [.defaults, "Certificates"])],
    targets: [
        .executableTarget(
            name: "keychain-fuzz",
            dependencies: [
                .product(name: "KeychainServices", package: "swift-keychain"),
                .product(name: "KeychainAdoption", package: "swift-keychain"),
                .product(name: "KeychainKit", package: "swift-keychain"),
                .product(name: "KeychainKeys", package: "swift-keychain"),
                .product(name: "KeychainSyncCore", package: "swift-keychain"),
                .product(name: "KeychainSyncEtcd", package: "swift-keychain"),
                .product(name: "KeychainTPM", package: "swift-keychain"),
                .product(name: "KeychainTrust", package: "swift-keychain"),
                .product(name: "keychainctl", package: "swift-keychain"),
            ],
            path: "Sources/Fuzz",
            // The usual linker trips over what the sanitizer adds.
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])])
    ],
    swiftLanguageModes: [.v6]
)
