// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Targets stand in the order in which a write walks through them: a target imports only targets that stand below it.
// (`ItemStore` is declared in KeychainEngine, so the store that implements it imports that one module above it.)

var products: [Product] = [
    .library(name: "KeychainKit", targets: ["KeychainKit"]),
    .library(name: "KeychainConfiguration", targets: ["KeychainConfiguration"]),
    .library(name: "KeychainServices", targets: ["KeychainServices"]),
    .library(name: "KeychainAuthenticators", targets: ["KeychainAuthenticators"]),
    .library(name: "KeychainEngine", targets: ["KeychainEngine"]),
    .library(name: "KeychainSecItem", targets: ["KeychainSecItem"]),
    .library(name: "KeychainVault", targets: ["KeychainVault"]),
    .library(name: "KeychainTesting", targets: ["KeychainTesting"]),
    .library(name: "SecretMemory", targets: ["SecretMemory"]),
    .library(name: "JSKeychain", targets: ["JSKeychain"]),
    .library(name: "Keychain", targets: ["Keychain"]),
    .library(name: "KeychainClient", targets: ["KeychainClient"]),
    .library(name: "LGTVControl", targets: ["LGTVControl"]),
    .library(name: "SecureStorage", targets: ["SecureStorage"]),
    .library(name: "Valet", targets: ["Valet"]),
    .executable(name: "keychainctl", targets: ["keychainctl"]),
]

// Resolves all symbols when the program starts: later, the dynamic linker would save registers on the stack, with bytes of
// keys in them. Packages may not depend on products with flags like these, so no library's target has them.
let bindNow = LinkerSetting.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))

// Nobody who leaves the trait off fetches or builds any of it.
let webSocket: [Target.Dependency] = [
    ("NIOCore", "swift-nio"), ("NIOPosix", "swift-nio"), ("NIOHTTP1", "swift-nio"), ("NIOWebSocket", "swift-nio"),
    ("NIOSSL", "swift-nio-ssl"),
].map { .product(name: $0, package: $1, condition: .when(traits: ["LGTVControl"])) }

var targets: [Target] = [
    // Surfaces
    .executableTarget(
        name: "keychainctl",
        dependencies: [
            "KeychainKit", "KeychainAuthenticators", "KeychainVault", "SecretMemory", "CKeychainShims",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ],
        linkerSettings: [bindNow]),

    // Wrappers that programs are written for already, each under the name that they import
    .target(
        name: "JSKeychain", dependencies: ["KeychainKit", "KeychainServices"],
        path: "Sources/Wrappers/JSKeychain"),
    .target(
        name: "Keychain", dependencies: ["KeychainKit", "KeychainSecItem", "KeychainServices"],
        path: "Sources/Wrappers/Keychain"),
    .target(
        name: "KeychainClient",
        dependencies: [
            "Valet", "KeychainKit",
            .product(
                name: "IssueReporting", package: "xctest-dynamic-overlay",
                condition: .when(traits: ["IssueReporting"])),
        ],
        path: "Sources/Wrappers/KeychainClient"),
    .target(
        name: "LGTVControl", dependencies: ["KeychainKit", "KeychainServices", "SecretMemory"] + webSocket,
        path: "Sources/Wrappers/LGTVControl"),
    .target(
        name: "SecureStorage", dependencies: ["KeychainKit", "KeychainServices"],
        path: "Sources/Wrappers/SecureStorage"),
    .target(
        name: "Valet", dependencies: ["KeychainKit", "KeychainSecItem", "KeychainServices", "KeychainEngine"],
        path: "Sources/Wrappers/Valet"),

    // Empty without the trait, and then nothing of swift-configuration is fetched or built.
    .target(
        name: "KeychainConfiguration",
        dependencies: [
            "KeychainKit",
            .product(
                name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
        ]),

    // For tests of stores, and of code that uses one
    .target(name: "KeychainTesting", dependencies: ["KeychainKit", "KeychainEngine", "SecretMemory"]),

    // On Linux over the vault, elsewhere over the system's own keychain
    .target(
        name: "KeychainKit",
        dependencies: [
            "KeychainEngine", "SecretMemory", .target(name: "KeychainVault", condition: .when(platforms: [.linux])),
            .target(name: "KeychainAuthenticators", condition: .when(platforms: [.linux])),
            .target(
                name: "KeychainSecItem",
                condition: .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS])),
        ]),

    // The system's own keychain as a store
    .target(name: "KeychainSecItem", dependencies: ["KeychainEngine", "KeychainServices"]),

    // Ways to ask a person
    .target(name: "KeychainAuthenticators", dependencies: ["KeychainEngine", "SecretMemory", "CKeychainShims"]),

    // Meaning
    .target(name: "KeychainEngine", dependencies: ["SecretMemory"]),

    // Stores
    .target(
        name: "KeychainVault",
        dependencies: [
            "KeychainEngine", "KeychainCrypto", "SecretMemory",
            .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
        ]),

    // Leaves
    .target(
        name: "KeychainCrypto",
        dependencies: [
            "SecretMemory", .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
        ]),
    .target(name: "SecretMemory", dependencies: ["CKeychainShims"]),
    .target(name: "CKeychainShims", cSettings: [.treatAllWarnings(as: .error), .enableWarning("all")]),

    // Beside: a remote control and its widget, over LGTVControl
    .executableTarget(
        name: "lgtv-remote",
        dependencies: [
            "LGTVControl", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ],
        path: "Examples/LGTV/Remote"),
    .executableTarget(name: "lgtv-widget", dependencies: ["LGTVControl"], path: "Examples/LGTV/Widget"),

    // Beside: what `make demo` runs, and what the README shows
    .executableTarget(name: "KeychainKitDemo", dependencies: ["KeychainKit"], path: "Examples/KeychainKitDemo"),
    .executableTarget(name: "WrapperDemo", dependencies: ["JSKeychain"], path: "Examples/WrapperDemo"),

    // Tests
    .executableTarget(
        name: "kit-exerciser", dependencies: ["KeychainKit", "KeychainTesting", "KeychainVault"],
        path: "Tests/KitExerciser"),
    .testTarget(
        name: "KeychainKitTests",
        dependencies: [
            "KeychainKit", "KeychainEngine", "KeychainVault", "KeychainCrypto", "SecretMemory", "VaultUnderTest",
            "vault-exerciser", "kit-exerciser",
        ]),
    .testTarget(
        name: "KeychainConfigurationTests",
        dependencies: [
            "KeychainConfiguration", "KeychainKit", "KeychainEngine",
            .product(
                name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
            .product(
                name: "ConfigurationTesting", package: "swift-configuration",
                condition: .when(traits: ["Configuration"])),
        ]),
    .target(name: "CTestShims", path: "Tests/CTestShims"),
    .executableTarget(
        name: "memory-exerciser", dependencies: ["SecretMemory", "CTestShims"], path: "Tests/MemoryExerciser"),
    .testTarget(
        name: "SecretMemoryTests", dependencies: ["SecretMemory", "CKeychainShims", "CTestShims", "memory-exerciser"]),
    .testTarget(name: "KeychainctlTests", dependencies: ["keychainctl", "authenticator-exerciser", "asking-app"]),
    .executableTarget(
        name: "authenticator-exerciser",
        dependencies: [
            "KeychainAuthenticators", "KeychainEngine", "SecretMemory",
            .product(name: "Crypto", package: "swift-crypto"),
        ],
        path: "Tests/AuthenticatorExerciser"),
    .testTarget(
        name: "KeychainAuthenticatorsTests",
        dependencies: [
            "KeychainAuthenticators", "KeychainEngine", "SecretMemory", "authenticator-exerciser",
            .product(name: "Crypto", package: "swift-crypto"),
        ]),
    .executableTarget(
        name: "vault-exerciser",
        dependencies: [
            "KeychainKit", "KeychainEngine", "KeychainVault", "KeychainCrypto", "SecretMemory", "CTestShims",
            .product(name: "GRDB", package: "GRDB.swift"),
        ],
        path: "Tests/Exerciser"),
    // No test depends on this one, since it would have the shim's system calls in its own program; `--build-tests` builds it.
    .target(name: "FaultShim", path: "Tests/FaultShim"),
    .executableTarget(
        name: "fault-harness",
        dependencies: [
            "FaultShim", "KeychainKit", "KeychainVault", "KeychainEngine", "KeychainCrypto", "SecretMemory",
            .product(name: "GRDB", package: "GRDB.swift"),
        ],
        path: "Tests/FaultHarness"),
    .testTarget(
        name: "KeychainVaultTests",
        dependencies: [
            "KeychainVault", "KeychainEngine", "KeychainCrypto", "SecretMemory", "CTestShims", "vault-exerciser",
            .product(name: "GRDB", package: "GRDB.swift"),
        ]),
    .target(
        name: "VaultUnderTest",
        dependencies: [
            "KeychainTesting", "KeychainVault", "KeychainSecItem", "KeychainEngine", "KeychainCrypto", "SecretMemory",
        ],
        path: "Tests/VaultUnderTest"),
    .testTarget(
        name: "KeychainTestingTests",
        dependencies: ["KeychainTesting", "VaultUnderTest", "KeychainKit", "KeychainEngine"]),
]

// Written as the users of these modules write, with the language's defaults.
let wrapperTests: [Target] = [
    .testTarget(
        name: "JSKeychainTests",
        dependencies: [
            "JSKeychain", "KeychainKit", "KeychainEngine", "KeychainTesting", "SecretMemory", "VaultUnderTest",
        ],
        path: "Tests/Wrappers/JSKeychainTests"),
    .testTarget(
        name: "KeychainTests",
        dependencies: [
            "Keychain", "KeychainKit", "KeychainServices", "KeychainEngine", "SecretMemory", "VaultUnderTest",
        ],
        path: "Tests/Wrappers/KeychainTests"),
    .testTarget(
        name: "KeychainClientTests",
        dependencies: [
            "KeychainClient", "Valet", "KeychainKit", "KeychainEngine", "SecretMemory", "VaultUnderTest",
            .product(
                name: "IssueReporting", package: "xctest-dynamic-overlay",
                condition: .when(traits: ["IssueReporting"])),
        ],
        path: "Tests/Wrappers/KeychainClientTests"),
    .testTarget(
        name: "LGTVControlTests",
        dependencies: [
            "LGTVControl", "KeychainKit", "KeychainEngine", "KeychainTesting", "SecretMemory", "VaultUnderTest",
            "lgtv-remote", "lgtv-widget",
        ] + webSocket,
        path: "Tests/Wrappers/LGTVControlTests"),
    .testTarget(
        name: "SecureStorageTests",
        dependencies: [
            "SecureStorage", "KeychainKit", "KeychainEngine", "SecretMemory", "KeychainTesting", "VaultUnderTest",
        ],
        path: "Tests/Wrappers/SecureStorageTests"),
    .testTarget(
        name: "ValetTests",
        dependencies: [
            "Valet", "KeychainKit", "KeychainServices", "KeychainEngine", "KeychainTesting", "SecretMemory",
            "KeychainSecItem", "KeychainVault", "VaultUnderTest",
        ],
        path: "Tests/Wrappers/ValetTests"),
    .testTarget(
        name: "SideBySideTests",
        dependencies: [
            "JSKeychain", "Keychain", "KeychainClient", "LGTVControl", "SecureStorage", "Valet", "KeychainKit",
            "KeychainServices",
        ],
        path: "Tests/Wrappers/SideBySideTests"),
]
targets += wrapperTests

#if os(Linux)
    // Apple's own module names, so that `import Security` compiles unchanged. Never built where Apple ships them.
    products += [
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    ]
    targets += [
        .target(name: "Security", dependencies: ["KeychainServices"]),
        .target(name: "LocalAuthentication", dependencies: ["KeychainServices"]),
        .target(
            name: "KeychainServices",
            dependencies: ["KeychainAuthenticators", "KeychainEngine", "KeychainVault", "SecretMemory"]),
        .testTarget(
            name: "KeychainServicesTests",
            dependencies: [
                "KeychainServices", "KeychainEngine", "KeychainVault", "KeychainCrypto", "SecretMemory", "Security",
                "LocalAuthentication", "asking-app", "entitled-app", "entitled-widget", "authenticator-exerciser",
            ]),
        .testTarget(
            name: "KeychainSecItemTests",
            dependencies: [
                "KeychainSecItem", "KeychainTesting", "KeychainKit", "VaultUnderTest", "KeychainServices",
                "KeychainEngine", "SecretMemory",
            ]),
        .executableTarget(
            name: "asking-app", dependencies: ["Security", "LocalAuthentication"], path: "Tests/AskingApp"),
        .executableTarget(name: "entitled-app", dependencies: ["Security"], path: "Tests/Entitled/App"),
        .executableTarget(name: "entitled-widget", dependencies: ["Security"], path: "Tests/Entitled/Widget"),

        // Beside: `make bench`
        .executableTarget(
            name: "keychain-benchmarks",
            dependencies: [
                "KeychainKit", "KeychainServices", "KeychainEngine", "KeychainVault", "SecretMemory", "JSKeychain",
                "Keychain", "LGTVControl", "Valet",
                .product(name: "GRDBSQLite", package: "GRDB.swift"), .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Benchmarks"),

        // Beside: what `make demo` runs, and what the README shows
        .executableTarget(name: "SecItemDemo", dependencies: ["Security"], path: "Examples/SecItemDemo"),
    ]
#else
    // The same module name over Apple's own framework, so that one import serves both.
    targets += [.target(name: "KeychainServices", path: "Sources/AppleServices")]
#endif

let package = Package(
    name: "swift-keychain",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: products,
    traits: [
        .trait(name: "Configuration", description: "KeychainConfiguration: secrets as values of swift-configuration."),
        .trait(name: "IssueReporting", description: "KeychainClient: calls that a test left out are reported."),
        .trait(name: "LGTVControl", description: "LGTVControl: the connection to the television, over swift-nio."),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", from: "1.13.1"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    var settings = target.swiftSettings ?? []
    if !wrapperTests.contains(where: { $0.name == target.name }) {
        settings += ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
            .map { .enableUpcomingFeature($0) }
    }
    // The guide of that module writes `await` where nothing waits, and is compiled as it stands.
    if target.name != "KeychainTests" { settings.append(.treatAllWarnings(as: .error)) }
    target.swiftSettings = settings
}
