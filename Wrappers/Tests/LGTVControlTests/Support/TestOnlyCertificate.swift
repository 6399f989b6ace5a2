// SPDX-License-Identifier: Apache-2.0
// Self-signed certificates with their keys. For these tests only: the keys are public, and nothing must ever trust them.

#if LGTVControl
    import Foundation
    import NIOSSL

    /// What a television of these tests shows.
    struct TestOnlyCertificate: Sendable {
        private let certificatePEM: String
        private let keyPEM: String

        static let first = TestOnlyCertificate(
            certificatePEM: """
                -----BEGIN CERTIFICATE-----
                MIIBmTCCAT+gAwIBAgIUT3EGZb4lx94TnZOKRwwciVubxK0wCgYIKoZIzj0EAwIw
                ITEfMB0GA1UEAwwWVGVzdCB0ZWxldmlzaW9uLCBmaXJzdDAgFw0yNjExMjExOTU4
                MjVaGA8yMjAyMDIxMjE5NTgyNVowITEfMB0GA1UEAwwWVGVzdCB0ZWxldmlzaW9u
                LCBmaXJzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABES17ktv8K3KBKbJiu7T
                ucLDlLzXwbJdRw9Px/m3jAGdOe58XXA0/0vQ8p0bs61fcXbFBStKwYV5YkdNi6iC
                OmWjUzBRMB0GA1UdDgQWBBRZp75B4wyZVjwjEAjkXiYBQaIL1jAfBgNVHSMEGDAW
                gBRZp75B4wyZVjwjEAjkXiYBQaIL1jAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49
                BAMCA0gAMEUCIQDj/SdscmW6H9nAtYVCHbJVxDP4btkpV5pmV2jrb1KAHAIgfNIk
                Q/sPT4t4RPSWHnPVKbgVGNw4mxTv5howwH6o7og=
                -----END CERTIFICATE-----
                """,
            keyPEM: """
                -----BEGIN PRIVATE KEY-----
                MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgN5akVE+EEbzhLtfY
                JGHhHALQocsd+Ey+2Btvo1BIn+KhRANCAAREte5Lb/CtygSmyYru07nCw5S818Gy
                XUcPT8f5t4wBnTnufF1wNP9L0PKdG7OtX3F2xQUrSsGFeWJHTYuogjpl
                -----END PRIVATE KEY-----
                """)

        static let second = TestOnlyCertificate(
            certificatePEM: """
                -----BEGIN CERTIFICATE-----
                MIIBmzCCAUGgAwIBAgIUenCNMFwSily/Z+mTl0kMUcvfkfwwCgYIKoZIzj0EAwIw
                IjEgMB4GA1UEAwwXVGVzdCB0ZWxldmlzaW9uLCBzZWNvbmQwIBcNMjYxMTIxMTk1
                ODI1WhgPMjIwMjAyMTIxOTU4MjVaMCIxIDAeBgNVBAMMF1Rlc3QgdGVsZXZpc2lv
                biwgc2Vjb25kMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEhsLGUp3oh8+VVre8
                brJO0ZWq6g923ILLKxCM92xYXdRqOq/1FHzSJWiHWrSdWnH6F0VCgoR2/gs5koLa
                IJ9K16NTMFEwHQYDVR0OBBYEFImbVDWDGq+RwmM8gxrn3a4E7qaeMB8GA1UdIwQY
                MBaAFImbVDWDGq+RwmM8gxrn3a4E7qaeMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZI
                zj0EAwIDSAAwRQIgXun65dciQ3a6eh26+/RM+lDMbnEzC2x0t5Ap5VQ5v5MCIQCX
                ypDLMNyJJGYT/xqSfxSuvW/fe6ZD/kDJCmlwzUrShQ==
                -----END CERTIFICATE-----
                """,
            keyPEM: """
                -----BEGIN PRIVATE KEY-----
                MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgb92ms878hTRXWz/g
                QpjQ3fBZBs8j0d1GI3KE6G7++6ShRANCAASGwsZSneiHz5VWt7xusk7RlarqD3bc
                gssrEIz3bFhd1Go6r/UUfNIlaIdatJ1acfoXRUKChHb+CzmSgtogn0rX
                -----END PRIVATE KEY-----
                """)

        func certificate() throws -> NIOSSLCertificate {
            try NIOSSLCertificate(bytes: Array(certificatePEM.utf8), format: .pem)
        }

        /// As it is kept in the keychain.
        func bytes() throws -> Data { Data(try certificate().toDERBytes()) }

        func serverContext() throws -> NIOSSLContext {
            let key = try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
            let configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: [.certificate(try certificate())], privateKey: .privateKey(key))
            return try NIOSSLContext(configuration: configuration)
        }
    }
#endif
