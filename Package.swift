// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A target imports only targets below it.

let products: [Product] = [
    .library(name: "KeychainKit", targets: ["KeychainKit"]),
    .library(name: "KeychainAdoption", targets: ["KeychainAdoption"]),
    .library(name: "KeychainConfiguration", targets: ["KeychainConfiguration"]),
    .library(name: "KeychainKeyStore", targets: ["KeychainKeyStore"]),
    .library(name: "KeychainNIOSSL", targets: ["KeychainNIOSSL"]),
    .library(name: "KeychainTrust", targets: ["KeychainTrust"]),
    .library(name: "KeychainServices", targets: ["KeychainServices"]),
    .library(name: "KeychainAuthenticators", targets: ["KeychainAuthenticators"]),
    .library(name: "KeychainEngine", targets: ["KeychainEngine"]),
    .library(name: "KeychainSecItem", targets: ["KeychainSecItem"]),
    .library(name: "KeychainSync", targets: ["KeychainSync"]),
    .library(name: "KeychainSyncEtcd", targets: ["KeychainSyncEtcd"]),
    .library(name: "KeychainTPM", targets: ["KeychainTPM"]),
    .library(name: "KeychainVault", targets: ["KeychainVault"]),
    .library(name: "KeychainTesting", targets: ["KeychainTesting"]),
    .library(name: "SecretMemory", targets: ["SecretMemory"]),
    // Apple's module names, so that `import Security` compiles unchanged. They are only built for Linux: on other
    // platforms Apple ships them, and nothing here depends on these.
    .library(name: "Security", targets: ["Security"]),
    .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    .executable(name: "keychainctl", targets: ["keychainctl"]),
]

// Resolves all symbols at program start. With lazy binding, the dynamic linker would save registers on the stack, which
// may contain bytes of keys. SwiftPM does not allow dependencies on products with unsafe flags, so no library target
// has these flags.
let bindNow = LinkerSetting.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))

// What the carrier over etcd needs.
let overHTTP = [
    ("AsyncHTTPClient", "async-http-client"), ("NIOCore", "swift-nio"), ("NIOHTTP1", "swift-nio"),
    ("NIOPosix", "swift-nio"), ("NIOSSL", "swift-nio-ssl"),
]

/// A module with one of Apple's names. On Apple's platforms `import` finds Apple's.
func ofApple(_ name: String) -> Target.Dependency { .target(name: name, condition: .when(platforms: [.linux])) }

let targets: [Target] = [
    // Surfaces
    .executableTarget(
        name: "keychainctl",
        dependencies: [
            "KeychainKeyStore", "KeychainKit", "KeychainAuthenticators", "KeychainTPM", "KeychainSyncEtcd",
            "KeychainSync", "KeychainSyncCore", "KeychainVault", "KeychainEngine", "KeychainKeys", "KeychainCrypto",
            "SecretMemory", "CKeychainShims", "CKeychainZlib",
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ],
        linkerSettings: [bindNow]),

    // A module of its own, so that only programs that migrate plain text link all of Foundation
    .target(name: "KeychainAdoption", dependencies: ["KeychainKit", "KeychainEngine"]),

    // Empty without the trait; swift-configuration is then neither fetched nor built.
    .target(
        name: "KeychainConfiguration",
        dependencies: [
            "KeychainKit",
            .product(
                name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
        ]),

    // Empty without the trait; swift-nio and swift-nio-ssl are then neither fetched nor built.
    .target(
        name: "KeychainNIOSSL",
        dependencies: [
            "KeychainKeyStore", "KeychainKit", "KeychainEngine", "KeychainKeys", "SecretMemory",
            .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIOSSL"])),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["NIOSSL"])),
        ]),

    // Apple's module names. On Apple platforms the two modules are not built, and KeychainServices re-exports Apple's
    // frameworks.
    .target(
        name: "Security",
        dependencies: [
            "KeychainServices",
            .target(name: "KeychainTrust", condition: .when(platforms: [.linux], traits: ["Certificates"])),
        ]),
    .target(name: "LocalAuthentication", dependencies: ["KeychainServices"]),

    // Empty without the trait; swift-certificates is then neither fetched nor built.
    .target(
        name: "KeychainTrust",
        dependencies: [
            "KeychainKeyStore", "KeychainServices", "KeychainKit", "KeychainEngine", "KeychainKeys", "SecretMemory",
            .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["Certificates"])),
            .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Certificates"])),
            .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: ["Certificates"])),
        ]),

    // A module of its own, so that only programs that store keys build the formats of keys, and on Apple platforms
    // swift-crypto with BoringSSL
    .target(
        name: "KeychainKeyStore",
        dependencies: [
            "KeychainKit", "KeychainEngine", "KeychainKeys", "SecretMemory",
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
        ]),

    // For tests of stores, and of code that uses KeychainKit
    .target(name: "KeychainTesting", dependencies: ["KeychainKit", "KeychainEngine", "SecretMemory"]),

    // Over the vault on Linux, and over the system's keychain elsewhere
    .target(
        name: "KeychainKit",
        dependencies: [
            "KeychainEngine", "SecretMemory", .target(name: "KeychainVault", condition: .when(platforms: [.linux])),
            .target(name: "KeychainAuthenticators", condition: .when(platforms: [.linux])),
            .target(
                name: "KeychainSecItem",
                condition: .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS])),
        ]),

    // The system's keychain as a store
    .target(name: "KeychainSecItem", dependencies: ["KeychainEngine", "KeychainServices"]),

    // Keychain Services, over the vault on Linux, and Apple's frameworks elsewhere
    .target(
        name: "KeychainServices",
        dependencies: ["KeychainAuthenticators", "KeychainEngine", "KeychainVault", "KeychainKeys", "SecretMemory"]
            .map { .target(name: $0, condition: .when(platforms: [.linux])) }),

    // Ways to ask the user
    .target(name: "KeychainAuthenticators", dependencies: ["KeychainEngine", "SecretMemory", "CKeychainShims"]),

    // Keys and secrets of a TPM. Empty without the trait; swift-crypto is then not linked. The library that connects to the TPM is
    // loaded at run time.
    .target(
        name: "KeychainTPM",
        dependencies: [
            "KeychainEngine", "SecretMemory",
            .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["TPM"])),
            .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["TPM"])),
        ]),

    // Sync: a driver and a carrier over the vault, and a core without I/O. The carrier over etcd is empty without the trait but
    // for what it reads; async-http-client is then neither fetched nor built.
    .target(
        name: "KeychainSyncEtcd",
        dependencies: ["KeychainSync", "KeychainSyncCore", "KeychainCrypto", "SecretMemory"]
            + overHTTP.map { .product(name: $0, package: $1, condition: .when(traits: ["Etcd"])) }),
    .target(
        name: "KeychainSync",
        dependencies: ["KeychainSyncCore", "KeychainVault", "KeychainEngine", "KeychainCrypto", "SecretMemory"]),
    .target(name: "KeychainSyncCore", dependencies: ["KeychainCrypto", "SecretMemory"]),

    // Stores
    .target(
        name: "KeychainVault",
        dependencies: [
            "KeychainEngine", "KeychainCrypto", "SecretMemory", "CKeychainShims",
            "CKeychainSQLite",
        ]),

    // Meaning
    .target(name: "KeychainEngine", dependencies: ["SecretMemory"]),

    // Leaves
    .target(
        name: "KeychainKeys",
        dependencies: [
            "SecretMemory", .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
        ]),
    .target(
        name: "KeychainCrypto",
        dependencies: [
            "SecretMemory", .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
        ]),
    .target(name: "SecretMemory", dependencies: ["CKeychainShims"]),
    .target(name: "CKeychainShims", cSettings: [.enableWarning("all")]),
    .systemLibrary(
        name: "CKeychainSQLite", providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
    // For archives that the tool imports
    .systemLibrary(name: "CKeychainZlib", providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"])]),

    // Examples: `make demo` runs them, and the README shows them
    .executableTarget(name: "KeychainKitDemo", dependencies: ["KeychainKit"], path: "Examples/KeychainKitDemo"),
    .executableTarget(name: "SecItemDemo", dependencies: [ofApple("Security")], path: "Examples/SecItemDemo"),
    .executableTarget(
        name: "JWTDemo",
        dependencies: [
            "KeychainKeyStore", .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
        ],
        path: "Examples/JWTDemo"),
    // Says without its traits how to turn them on.
    .executableTarget(
        name: "ClientCertificateDemo",
        dependencies: [
            "KeychainNIOSSL", "KeychainKeyStore",
            .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIOSSL"])),
            .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["NIOSSL"])),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["NIOSSL"])),
            .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["Certificates"])),
            .product(name: "Crypto", package: "swift-crypto"), .product(name: "SwiftASN1", package: "swift-asn1"),
        ],
        path: "Examples/ClientCertificateDemo"),

    // Benchmarks, for `make bench`
    .executableTarget(
        name: "keychain-benchmarks",
        dependencies: [
            "KeychainKeyStore", "KeychainKit", "KeychainTPM", "KeychainSyncEtcd", "KeychainSync", "KeychainSyncCore",
            "KeychainServices", "KeychainEngine", "KeychainVault", "SecretMemory", "CKeychainSQLite", "SyncShim",
            .product(name: "Crypto", package: "swift-crypto"),
        ],
        path: "Benchmarks", exclude: ["Peers"]),

    // Tests
    .target(
        name: "KeychainTestSupport",
        dependencies: [
            "KeychainTesting", "KeychainVault", "KeychainSecItem", "KeychainEngine", "KeychainKeys", "KeychainCrypto",
            "SecretMemory",
        ],
        path: "Tests/Support"),
    .target(name: "CTestShims", path: "Tests/CTestShims"),
    // One program for all tests that need another process, because linking takes most of the build time.
    .executableTarget(
        name: "exerciser",
        dependencies: [
            "KeychainKit", "KeychainTesting", "KeychainAuthenticators", "KeychainSync", "KeychainSyncCore",
            "KeychainVault", "KeychainSecItem", "KeychainEngine", "KeychainCrypto", "SecretMemory", "CTestShims",
            .product(name: "Crypto", package: "swift-crypto"),
        ],
        path: "Tests/Exerciser"),
    .testTarget(
        name: "KeychainKitTests",
        dependencies: [
            "KeychainAdoption", "KeychainKit", "KeychainEngine", "KeychainVault", "KeychainCrypto", "SecretMemory",
            "KeychainTesting", "KeychainTestSupport", "exerciser",
        ]),
    .testTarget(
        name: "KeychainKeyStoreTests",
        dependencies: [
            "KeychainKeyStore", "KeychainKit", "KeychainSecItem", "KeychainServices", "KeychainEngine", "KeychainKeys",
            "SecretMemory", "KeychainTesting", "KeychainTestSupport",
            .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
        ]),
    .testTarget(
        name: "KeychainTrustTests",
        dependencies: [
            "KeychainTrust", "KeychainKeyStore", "KeychainKit", "KeychainServices", "KeychainEngine", "KeychainKeys",
            "SecretMemory", ofApple("Security"), "KeychainTesting", "KeychainTestSupport", "asking-app",
            .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
            .product(name: "X509", package: "swift-certificates", condition: .when(traits: ["Certificates"])),
            .product(name: "SwiftASN1", package: "swift-asn1"),
        ]),
    .testTarget(
        name: "KeychainNIOSSLTests",
        dependencies: [
            "KeychainNIOSSL", "KeychainKeyStore", "KeychainKit", "KeychainEngine", "KeychainTesting",
            "KeychainTestSupport", .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIOSSL"])),
            .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["Etcd"])),
            .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["NIOSSL"])),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Etcd"])),
            .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["NIOSSL"])),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["NIOSSL"])),
        ]),
    .testTarget(
        name: "KeychainTPMTests",
        dependencies: [
            "KeychainTPM", "KeychainEngine", "SecretMemory", "KeychainTestSupport",
            .product(name: "Crypto", package: "swift-crypto"),
        ]),
    .testTarget(
        name: "KeychainConfigurationTests",
        dependencies: [
            "KeychainConfiguration", "KeychainKit", "KeychainEngine", "KeychainTesting", "KeychainTestSupport",
            .product(
                name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
            .product(
                name: "ConfigurationTesting", package: "swift-configuration",
                condition: .when(traits: ["Configuration"])),
        ]),
    .testTarget(
        name: "KeychainKeysTests",
        dependencies: [
            "KeychainKeys", "SecretMemory", "KeychainTestSupport", .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
        ]),
    .testTarget(
        name: "SecretMemoryTests",
        dependencies: ["SecretMemory", "CKeychainShims", "CTestShims", "KeychainTestSupport", "exerciser"]),
    .testTarget(
        name: "KeychainctlTests",
        dependencies: [
            "keychainctl", "exerciser", "asking-app", "KeychainKeyStore", "KeychainKit", "KeychainEngine",
            "KeychainSync", "KeychainVault", "KeychainKeys", "SecretMemory", "KeychainTestSupport",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
    .testTarget(
        name: "KeychainAuthenticatorsTests",
        dependencies: [
            "KeychainAuthenticators", "KeychainEngine", "SecretMemory", "KeychainTestSupport", "exerciser",
            .product(name: "Crypto", package: "swift-crypto"),
        ]),
    // No test depends on this target, because its system calls would then replace those of the test program.
    // `--build-tests` builds it.
    .target(name: "FaultShim", path: "Tests/FaultShim"),
    // The same for two calls, for keychain-benchmarks.
    .target(name: "SyncShim", path: "Tests/SyncShim"),
    .executableTarget(
        name: "fault-harness",
        dependencies: [
            "FaultShim", "KeychainKit", "KeychainSync", "KeychainSyncCore", "KeychainVault", "KeychainEngine",
            "KeychainCrypto", "SecretMemory",
        ],
        path: "Tests/FaultHarness"),
    .testTarget(
        name: "KeychainVaultTests",
        dependencies: [
            "KeychainSync", "KeychainSyncCore", "KeychainVault", "KeychainEngine", "KeychainCrypto", "SecretMemory",
            "CTestShims", "KeychainTestSupport", "exerciser",
            .product(name: "Crypto", package: "swift-crypto"), "CKeychainSQLite",
        ]),
    .testTarget(
        name: "KeychainTestingTests",
        dependencies: ["KeychainTesting", "KeychainKit", "KeychainEngine", "KeychainTestSupport"]),
    .testTarget(
        name: "KeychainServicesTests",
        dependencies: [
            "KeychainServices", "KeychainEngine", "KeychainVault", "KeychainKeys", "KeychainCrypto", "SecretMemory",
            ofApple("Security"), ofApple("LocalAuthentication"), "asking-app", "entitled-app", "entitled-widget",
            "exerciser", "KeychainTesting", "KeychainTestSupport", .product(name: "Crypto", package: "swift-crypto"),
        ]),
    .testTarget(
        name: "KeychainSecItemTests",
        dependencies: [
            "KeychainSecItem", "KeychainTesting", "KeychainKit", "KeychainServices", "KeychainEngine", "SecretMemory",
            "KeychainTestSupport",
        ]),
    .target(
        name: "SyncSimulation", dependencies: ["KeychainSyncCore", "KeychainCrypto", "SecretMemory"],
        path: "Tests/SyncSimulation"),
    .executableTarget(name: "sync-simulator", dependencies: ["SyncSimulation"], path: "Tests/SyncSimulator"),
    // Not in KeychainTesting, on which all tests depend: they would be compiled again with each change of sync.
    .target(
        name: "SyncHostility", dependencies: ["KeychainSync", "KeychainSyncCore"], path: "Tests/SyncHostility"),
    .testTarget(
        name: "KeychainSyncTests",
        dependencies: [
            "KeychainSyncEtcd", "KeychainSync", "KeychainSyncCore", "SyncSimulation", "SyncHostility", "KeychainKit",
            "KeychainTesting",
            "KeychainVault", "KeychainEngine", "KeychainCrypto", "KeychainTestSupport", "SecretMemory",
        ]),
    // These play the role of apps: they import only Apple's modules, and have entitlements beside their executables.
    .executableTarget(
        name: "asking-app", dependencies: [ofApple("Security"), ofApple("LocalAuthentication")],
        path: "Tests/AskingApp"),
    .executableTarget(name: "entitled-app", dependencies: [ofApple("Security")], path: "Tests/Entitled/App"),
    .executableTarget(name: "entitled-widget", dependencies: [ofApple("Security")], path: "Tests/Entitled/Widget"),
]

let package = Package(
    name: "swift-keychain",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: products,
    traits: [
        // It depends on nothing that is not built anyway, and the installed tool knows TPMs.
        .default(enabledTraits: ["TPM"]),
        .trait(
            name: "Certificates",
            description: "KeychainTrust: SecTrust and SecPolicy, and certificates as values of swift-certificates."),
        .trait(name: "Configuration", description: "KeychainConfiguration: secrets as values of swift-configuration."),
        .trait(
            name: "Etcd",
            description: "KeychainSyncEtcd and keychainctl sync --etcd: machines that share items over etcd."),
        .trait(name: "NIOSSL", description: "KeychainNIOSSL: TLS with identities of the keychain in swift-nio."),
        .trait(name: "TPM", description: "KeychainTPM: keys and secrets that only a TPM 2.0 can use."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)

// `make sanitize` only tests code that several threads use. Compiling everything for it would double the time.
if Context.environment["KEYCHAIN_SANITIZED"] != nil {
    let others = [
        "keychainctl", "KeychainKitDemo", "SecItemDemo", "JWTDemo", "ClientCertificateDemo", "keychain-benchmarks",
        "FaultShim", "SyncShim", "fault-harness", "asking-app", "entitled-app", "entitled-widget", "SecretMemoryTests",
        "KeychainctlTests", "KeychainAuthenticatorsTests", "KeychainServicesTests", "KeychainKeysTests",
        "KeychainKeyStore", "KeychainKeyStoreTests", "KeychainNIOSSL", "KeychainNIOSSLTests", "KeychainTPM",
        "KeychainTPMTests", "KeychainTrust", "KeychainTrustTests", "Security", "LocalAuthentication",
        "KeychainSyncEtcd", "SyncSimulation", "sync-simulator", "SyncHostility", "KeychainSyncTests",
    ]
    package.targets.removeAll { others.contains($0.name) }
    package.products.removeAll { others.contains($0.name) }
    // Where the tests are that THREAD_SUITES of the Makefile names, and what they use.
    for target in package.targets where target.name == "KeychainVaultTests" {
        target.sources = ["Changes", "Support", "SwarmTests.swift"]
    }
}

// The fuzz targets, a package of their own, read also what these modules decode. No other package needs such products.
if Context.environment["KEYCHAIN_FUZZED"] != nil {
    // A program cannot be linked into another one, so the tool is a library there, and its entry point has another name. To optimize
    // all of its commands takes minutes, and its readers have few inputs.
    let entryPoint = ["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "keychainctl_main", "-Onone"]
    for tool in package.targets where tool.name == "keychainctl" {
        package.targets.append(
            .target(
                name: tool.name, dependencies: tool.dependencies, swiftSettings: [.unsafeFlags(entryPoint)]))
    }
    package.targets.removeAll { $0.type == .executable || $0.type == .test }
    package.products.removeAll { $0.name == "keychainctl" }
    package.products += ["KeychainKeys", "KeychainSyncCore", "keychainctl"].map {
        .library(name: $0, targets: [$0])
    }
}

// Warnings are errors only when the project checks itself, so that they never break the builds of other packages.
let isChecked = Context.environment["KEYCHAIN_CHECK"] != nil

for target in package.targets where target.type != .system {
    var settings = target.swiftSettings ?? []
    settings += ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
        .map { .enableUpcomingFeature($0) }
    if isChecked { settings.append(.treatAllWarnings(as: .error)) }
    target.swiftSettings = settings
}
