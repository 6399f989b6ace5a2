// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Wrappers under the module names that existing programs import. They are a separate package, because SwiftPM rejects a
// package graph with two targets of the same name, and a program that uses only KeychainKit may have its own target
// `Valet`.

/// Enables the traits in swift-keychain that are enabled here, and its default ones: a list of traits would replace them.
let passedOn: Set<Package.Dependency.Trait> = [
    .defaults,
    .trait(name: "Certificates", condition: .when(traits: ["Certificates"])),
    .trait(name: "Configuration", condition: .when(traits: ["Configuration"])),
    .trait(name: "Etcd", condition: .when(traits: ["Etcd"])),
    .trait(name: "NIOSSL", condition: .when(traits: ["NIOSSL"])),
]

/// The package that the wrappers stand on. `Scripts/split-wrappers.sh` puts its address and a minor version in place of this
/// folder.
let corePackage: Package.Dependency = .package(name: "swift-keychain", path: "..", traits: passedOn)

func core(_ products: String...) -> [Target.Dependency] {
    products.map { .product(name: $0, package: "swift-keychain") }
}

// Without the trait, SwiftPM neither fetches nor builds these products.
let webSocket: [Target.Dependency] = [
    ("NIOCore", "swift-nio"), ("NIOPosix", "swift-nio"), ("NIOHTTP1", "swift-nio"), ("NIOWebSocket", "swift-nio"),
    ("NIOSSL", "swift-nio-ssl"),
].map { .product(name: $0, package: $1, condition: .when(traits: ["LGTVControl"])) }

let issueReporting: Target.Dependency = .product(
    name: "IssueReporting", package: "xctest-dynamic-overlay", condition: .when(traits: ["IssueReporting"]))

let wrappers: [Target] = [
    .target(name: "JSKeychain", dependencies: core("KeychainKit", "KeychainServices")),
    .target(name: "Keychain", dependencies: core("KeychainKit", "KeychainSecItem", "KeychainServices")),
    .target(name: "KeychainClient", dependencies: ["Valet", issueReporting] + core("KeychainKit")),
    .target(name: "LGTVControl", dependencies: webSocket + core("KeychainKit", "KeychainServices", "SecretMemory")),
    .target(name: "SecureStorage", dependencies: core("KeychainKit", "KeychainServices")),
    .target(
        name: "Valet", dependencies: core("KeychainKit", "KeychainSecItem", "KeychainServices", "KeychainEngine")),
]

// An example remote control and its widget, the program for `make demo`, and the one for `make bench`.
let programs: [Target] = [
    .executableTarget(
        name: "lgtv-remote",
        dependencies: ["LGTVControl", .product(name: "ArgumentParser", package: "swift-argument-parser")],
        path: "Examples/LGTV/Remote"),
    .executableTarget(name: "lgtv-widget", dependencies: ["LGTVControl"], path: "Examples/LGTV/Widget"),
    .executableTarget(name: "WrapperDemo", dependencies: ["JSKeychain"], path: "Examples/WrapperDemo"),
    .executableTarget(
        name: "wrapper-benchmarks",
        dependencies: ["JSKeychain", "Keychain", "LGTVControl", "Valet"]
            + core("KeychainKit", "KeychainEngine", "KeychainVault"),
        path: "Benchmarks"),
]

// The tests use the language's default settings, as the users of these modules do.
let tests: [Target] = [
    .target(
        name: "WrapperStores",
        dependencies: core(
            "KeychainKit", "KeychainEngine", "KeychainSecItem", "KeychainSync", "KeychainTesting", "KeychainVault",
            "SecretMemory"),
        path: "Tests/WrapperStores"),
    .testTarget(
        name: "JSKeychainTests",
        dependencies: ["JSKeychain", "WrapperStores"]
            + core("KeychainKit", "KeychainEngine", "KeychainTesting", "SecretMemory")),
    .testTarget(
        name: "KeychainTests",
        dependencies: ["Keychain", "WrapperStores"]
            + core("KeychainKit", "KeychainSecItem", "KeychainServices", "KeychainEngine", "SecretMemory")),
    .testTarget(
        name: "KeychainClientTests",
        dependencies: ["KeychainClient", "Valet", "WrapperStores", issueReporting]
            + core("KeychainKit", "KeychainEngine", "KeychainTesting", "SecretMemory")),
    .testTarget(
        name: "LGTVControlTests",
        dependencies: ["LGTVControl", "WrapperStores", "lgtv-remote", "lgtv-widget"] + webSocket
            + core("KeychainKit", "KeychainEngine", "KeychainTesting", "SecretMemory")),
    .testTarget(
        name: "SecureStorageTests",
        dependencies: ["SecureStorage", "WrapperStores"]
            + core("KeychainKit", "KeychainEngine", "KeychainTesting", "SecretMemory")),
    .testTarget(
        name: "ValetTests",
        dependencies: ["Valet", "WrapperStores"]
            + core(
                "KeychainKit", "KeychainServices", "KeychainEngine", "KeychainTesting", "SecretMemory",
                "KeychainSecItem", "KeychainVault")),
    .testTarget(
        name: "SideBySideTests",
        dependencies: [
            "JSKeychain", "Keychain", "KeychainClient", "LGTVControl", "SecureStorage", "Valet", "WrapperStores",
        ]
            + core("KeychainKit", "KeychainServices", "KeychainEngine", "KeychainTesting", "KeychainVault")),
]

let package = Package(
    name: "swift-keychain-wrappers",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: wrappers.map { .library(name: $0.name, targets: [$0.name]) },
    traits: [
        .trait(name: "Certificates", description: "The trait of swift-keychain with this name."),
        .trait(name: "Configuration", description: "The trait of swift-keychain with this name."),
        .trait(name: "Etcd", description: "The trait of swift-keychain with this name."),
        .trait(name: "IssueReporting", description: "KeychainClient: calls that a test left out are reported."),
        .trait(name: "LGTVControl", description: "LGTVControl: the connection to the television, over swift-nio."),
        .trait(name: "NIOSSL", description: "The trait of swift-keychain with this name."),
    ],
    dependencies: [
        corePackage,
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", from: "1.13.1"),
    ],
    targets: wrappers + programs + tests,
    swiftLanguageModes: [.v6]
)

// Warnings are errors only when the project checks itself, so that they never break the builds of other packages.
let isChecked = Context.environment["KEYCHAIN_CHECK"] != nil

for target in package.targets {
    var settings: [SwiftSetting] = []
    if !tests.contains(where: { $0.name == target.name }) {
        settings += ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
            .map { .enableUpcomingFeature($0) }
    }
    // The guides of these two modules write `await` where nothing waits, and are compiled unchanged.
    let isGuide = ["JSKeychainTests", "KeychainTests"].contains(target.name)
    if isChecked, !isGuide { settings.append(.treatAllWarnings(as: .error)) }
    target.swiftSettings = settings
}
