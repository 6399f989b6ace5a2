// SPDX-License-Identifier: Apache-2.0
// Without the trait there is only a name. Using it produces a message that says how to enable the trait.

#if !TPM
    @available(
        *, unavailable,
        message: """
            Turn on the trait of the package, or leave the list of traits out: .package(…, traits: ["TPM"])
            """
    )
    public enum TPMToken {}
#endif
