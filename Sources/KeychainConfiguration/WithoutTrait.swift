// SPDX-License-Identifier: Apache-2.0
// Without the trait there is only a name. Using it produces a message that says how to enable the trait.

#if !Configuration
    @available(
        *, unavailable,
        message: """
            Turn on the trait of the package: .package(…, traits: [.defaults, "Configuration"])
            """
    )
    public struct KeychainConfigProvider {}
#endif
