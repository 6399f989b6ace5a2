// SPDX-License-Identifier: Apache-2.0
// SecPKCS12Import with files that no program writes.

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("PKCS#12 import: unusual files")
struct UnusualPKCS12Tests {
    /// The number of results and the status, with the passphrase `pw`.
    private func imported(_ file: Data) throws -> (status: OSStatus, count: Int?) {
        var items: NSArray?
        let options = ["passphrase": "pw"] as NSDictionary
        let status = try StoreKind.memory.services().importPKCS12(file, options, &items)
        return (status, items?.count)
    }

    @Test func keyAndItsCertificate_withOneIdentifier_areAnIdentity() throws {
        #expect(try imported(Self.pair) == (errSecSuccess, 1))
    }

    @Test("K95") func keyAndAnotherCertificate_withOneIdentifier_areNotDecoded() throws {
        #expect(try imported(Self.mixed) == (errSecDecode, nil))
    }

    /// Without the limit the file could be read: its passphrase and its content are right.
    @Test("K98") func file_ofTooManyRounds_isNotDecoded() throws {
        #expect(try imported(Self.rounds) == (errSecDecode, nil))
    }

    // MARK: Files

    /// A P-256 key and a certificate in plain bags, both with the identifier 01, and a checksum of one round.
    static let pair = Data(
        base64: """
            MIICdwIBAzCCAjEGCSqGSIb3DQEHAaCCAiIEggIeMIICGjCCAhYGCSqGSIb3DQEHAaCCAgcEggIDMIIB/zCBrgYLKoZIhvcNAQwKAQGggY\
            owgYcCAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEbTBrAgEBBCDTY7XXoPVeOFaOh2hOpQogfc9FSLhYT/rkCOJyLWv8iaFEA0IABHW0nw0+\
            Ye+Fp7Zldu33mD070Nrja7byYaDAVyHB3wJ2bqoQUxy/x3YE8Sx9GW2hAiZY945PTLmuUrFjSuFbzFkxEjAQBgkqhkiG9w0BCRUxAwQBAT\
            CCAUoGCyqGSIb3DQEMCgEDoIIBJTCCASEGCiqGSIb3DQEJFgGgggERBIIBDTCCAQkwga+gAwIBAgIBBzAKBggqhkjOPQQDAjAOMQwwCgYD\
            VQQDDANPd24wHhcNMjQwMTAxMDAwMDAwWhcNNDkwMTAxMDAwMDAwWjAOMQwwCgYDVQQDDANPd24wWTATBgcqhkjOPQIBBggqhkjOPQMBBw\
            NCAAR1tJ8NPmHvhae2ZXbt95g9O9Da42u28mGgwFchwd8Cdm6qEFMcv8d2BPEsfRltoQImWPeOT0y5rlKxY0rhW8xZMAoGCCqGSM49BAMC\
            A0kAMEYCIQCFmY+MR31Kd8pvsVntHKj6XTKvhLXvk4HpTgciiFlRpwIhAMY9qkbV/vrNFqp3LYOwtbvMxyyuANELyKA9aFe04PcRMRIwEA\
            YJKoZIhvcNAQkVMQMEAQEwPTAxMA0GCWCGSAFlAwQCAQUABCD6XaaT2cQlczmmWPhb7gn/v+ewSF63eat2ecFa7i64NwQIAAECAwQFBgc=
            """)
    /// The same certificate beside another key.
    private static let mixed = Data(
        base64: """
            MIICdwIBAzCCAjEGCSqGSIb3DQEHAaCCAiIEggIeMIICGjCCAhYGCSqGSIb3DQEHAaCCAgcEggIDMIIB/zCBrgYLKoZIhvcNAQwKAQGggY\
            owgYcCAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEbTBrAgEBBCCkX0fXszwUdKt2EHME3B5AI/EUIYXpj2H1wxDj2nKBXKFEA0IABAjEdrU0\
            3DHe+wpha6ehZ3DcvusD44crTKZ8mlKwDMUo3U4D0BS/hjT7KnPOCSvXM56FLQr2gSby3xWkgH0L1nMxEjAQBgkqhkiG9w0BCRUxAwQBAT\
            CCAUoGCyqGSIb3DQEMCgEDoIIBJTCCASEGCiqGSIb3DQEJFgGgggERBIIBDTCCAQkwga+gAwIBAgIBBzAKBggqhkjOPQQDAjAOMQwwCgYD\
            VQQDDANPd24wHhcNMjQwMTAxMDAwMDAwWhcNNDkwMTAxMDAwMDAwWjAOMQwwCgYDVQQDDANPd24wWTATBgcqhkjOPQIBBggqhkjOPQMBBw\
            NCAAR1tJ8NPmHvhae2ZXbt95g9O9Da42u28mGgwFchwd8Cdm6qEFMcv8d2BPEsfRltoQImWPeOT0y5rlKxY0rhW8xZMAoGCCqGSM49BAMC\
            A0kAMEYCIQCFmY+MR31Kd8pvsVntHKj6XTKvhLXvk4HpTgciiFlRpwIhAMY9qkbV/vrNFqp3LYOwtbvMxyyuANELyKA9aFe04PcRMRIwEA\
            YJKoZIhvcNAQkVMQMEAQEwPTAxMA0GCWCGSAFlAwQCAQUABCA2yjd5BeGyZVMMwcUZlDFMSLGz4THOpn6ivTN7GcdynwQIAAECAwQFBgc=
            """)
    /// `openssl pkcs12 -export -nokeys -in certificate.pem -passout pass:pw -iter 20000000 -nomaciter`.
    private static let rounds = Data(
        base64: """
            MIICJQIBAzCCAd8GCSqGSIb3DQEHAaCCAdAEggHMMIIByDCCAcQGCSqGSIb3DQEHBqCCAbUwggGxAgEAMIIBqgYJKoZIhvcNAQcBMFkGCS\
            qGSIb3DQEFDTBMMCsGCSqGSIb3DQEFDDAeBAh03A46tTu3hAIEATEtADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQq9guDJ2B2V01\
            nzXB5irdgoCCAUC054U7M0E1odecWJ6hwI3staZbwJ2LeHOCyWBxvhRAzm8Kiaad1aCBBTHQIw8rFmgewUxGcyspIo3g7M6w0XQ4dJ1D9q\
            zHU07y0k+7xxTfEgSiuQrMyGeTi6rfavo0PjNsAkqaXJwa+7OBcQecNjhacwpBzskHXCx48Y8bhupDQ/tkk6cUT3Kb4Vt5tcb7Qpv+PUUY\
            Y8O+vIJqD0HFmVzvdePyG7eAfff+adMrV2aWzUF1V3aLXBl/f7xhECBpYQWKBhTKixrUEocNpWrbIcsOjsLBnn91IoPnF8nSwvm7f/Yfij\
            b51d8Kvmd0lH40eQbX3cmHMkozTuZISbld9qaeYwyAdoF9SxNkhWlpkWVMersekuPB+nRyC68UypeTo8qrRoLS661Cv44ADetxwgfjKrTR\
            uVVBoPZ+AIFXRdq4PzA9MDEwDQYJYIZIAWUDBAIBBQAEIOOsGKjfBxp96BBlockouPvG8ns6Y3RJvvj43qlW8yjgBAijqwaWDlcK4g==
            """)
}
