// SPDX-License-Identifier: Apache-2.0
// Without the trait there is only a name. Using it produces a message that says how to enable the trait.

#if !NIOSSL
    public import KeychainKeyStore

    extension KeychainIdentity {
        @available(
            *, unavailable,
            message: """
                Turn on the trait of the package: .package(…, traits: [.defaults, "NIOSSL"])
                """
        )
        public var certificateSources: [Never] { [] }
    }
#endif
