// SPDX-License-Identifier: Apache-2.0
// What is here while the trait is off: a name, whose use says how to turn it on.

#if !Configuration
    @available(
        *, unavailable,
        message: """
            Turn on the trait of the package: .package(…, traits: ["Configuration"])
            """
    )
    public struct KeychainConfigProvider {}
#endif
