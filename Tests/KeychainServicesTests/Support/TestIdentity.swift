// SPDX-License-Identifier: Apache-2.0
// Identities of one key: its certificate, and a newer one that others have issued.

import Foundation
import KeychainServices
import Testing

/// A certificate of the key `TestKey.p256`, as an identity.
enum TestIdentity: CaseIterable {
    /// `TestCertificate`, from 2024 on.
    case first
    /// From 2025 on, issued by `Middle`, which `Root` issued.
    case renewed

    func certificate() throws -> SecCertificate {
        let der = self == .first ? TestCertificate.der : Self.renewedDER
        return try #require(SecCertificateCreateWithData(nil, der as CFData))
    }

    func object() throws -> SecIdentity {
        try #require(SecIdentityCreate(nil, certificate(), TestKey.p256.privateKey()))
    }

    /// The certificate of `Middle`.
    static func middle() throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, middleDER as CFData))
    }

    /// Names as they are in certificates.
    static let middleName = Data(hex: "3011310f300d06035504030c064d6964646c65")
    static let rootName = Data(hex: "300f310d300b06035504030c04526f6f74")

    private static let renewedDER = Data(
        base64: """
            MIIBMDCB1qADAgECAgECMAoGCCqGSM49BAMCMBExDzANBgNVBAMMBk1pZGRsZTAeFw0yNTAxMDEwMDAwMDBaFw00OTEyMzEwMDAwMDBaMBMx\
            ETAPBgNVBAMMCExlYWYgVHdvMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7Jy+dGNKvKhYnhYh4YXBQq778kyKty4p8HgMMKrg5GRevF8i\
            233FjCeIpLZWxTQn4eBSZHQS1QJ5RXoOmHBJK6MdMBswGQYDVR0RBBIwEIEOYkBsZWFmLmV4YW1wbGUwCgYIKoZIzj0EAwIDSQAwRgIhAIdm\
            fpFgrSg/ZnIIIyvUc5UUe39+oPuJAgm7eWy5nUBwAiEA3+iq4CTYlL1+5elrwiB4iXhko4Xy880aJmrU6xKffYs=
            """)
    private static let middleDER = Data(
        base64: """
            MIIBCzCBs6ADAgECAgEDMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBFJvb3QwHhcNMjQwMTAxMDAwMDAwWhcNNDkxMjMxMDAwMDAwWjARMQ8w\
            DQYDVQQDDAZNaWRkbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ7GwgOAkBOftOZtwSVF/bj0bzfGk68XMivocYkZ9DvhIxxMZabFoZu\
            vvoiVn6cvQXRqOJLBrdpAXkT9ZhCO1amMAoGCCqGSM49BAMCA0cAMEQCIBHmSJ0Kl/MyAIhcA44W/xBd6bwfXXfttZ9JqouCZwpyAiBCSdJe\
            D3307DP4KWuPQyrfPI1AZTUD3739nCOQ7ftSPQ==
            """)
}

/// A request for identities.
func idnt(_ entries: Entries = [:]) -> Entries { ["class": "idnt"].adding(entries) }
