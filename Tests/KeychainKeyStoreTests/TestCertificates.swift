// SPDX-License-Identifier: Apache-2.0
// Certificates of `TestKey.p256`, made with the openssl program.

import Foundation
import KeychainKeyStore

enum TestCertificate {
    /// Issued by itself: Test Root.
    static var root: KeychainCertificate { get throws { try KeychainCertificate(der: Data(base64: rootText)) } }

    /// Client One, issued by the root: for clients of TLS and client.example, in 2024.
    static var expired: KeychainCertificate { get throws { try KeychainCertificate(der: Data(base64: expiredText)) } }

    /// The same with another serial number, from 2025 to 2049.
    static var renewed: KeychainCertificate { get throws { try KeychainCertificate(der: Data(base64: renewedText)) } }

    /// Another certificate with the serial number of the expired one.
    static var reissued: KeychainCertificate { get throws { try KeychainCertificate(der: Data(base64: reissuedText)) } }

    /// A PKCS#12 file of the key with the renewed certificate and the root, of the name "My Client", with the passphrase `pw`.
    static let file = Data(
        base64: """
            MIIF/wIBAzCCBbUGCSqGSIb3DQEHAaCCBaYEggWiMIIFnjCCBDIGCSqGSIb3DQEHBqCCBCMwggQfAgEAMIIEGAYJKoZIhvcNAQcBMFcGCSqGSIb3\
            DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgjJWop/Zs8YwICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEBSv1vdnrhPyU012Z6sdCTqAggOw\
            O0StmOZE7IyOPgJE9IgISqo58DuIHkGgd00LsXeZfDndSKJmpjSb8ErTsi1FPoK7nJNDZSJFv1B16WcEQPIsEgIWTJVkAxo8sgPWRIz9XvZ3QKLb\
            +MZ+5r9O9/aiP/V9J0imkVNL6l7oR1HrTh0gRtCxQZNDWWOuHNxOv3J5XDB1NvBqdMrJsbCyfiP/5t1bkqszhldT3lbgu6sbOvJa9a6xlKB4C1f4\
            ybcrzM1UGwlsg68wE14hJJ1duVgGdb8qPAzxuNvnkgg4LFYwO0zsCRozTlU3t51y7U/OLW33F7dSTuq0HIDPBSeRq2eYNABv1efpvs/wTvxkZw1h\
            UO5dAEQw9gpetY4//TlxkSwKNX+yoPFeijuRy9sfx5DGoekTPGrMuCDnErHOz2gHqu3mhpjAvQ1ZhdDi18eGZe3iFWsUVsNjQ1jvLdXXQx06extR\
            Q5Eppw8HPCwryHKQRPLikaDajYyeWms78wZeK7+n+wspDsPXmYPGSK3F6tfRvhGwASLBC4aWsIf/R7KnLM+zWAdBs6KpRU1kbsSpX8H3uNwTQlqa\
            Z7Sp9Ugf7p4TbFnpxmakn+PKAsys62yfexZCYJV54qytFvp+69g32yfUycQRSecxrq7hvYH/bZD3jouGKEjS5YQ+lZPFzQ8mVVVezB/QP0KzNyRV\
            2OKSNYTWLjlBezuHRiptYmsrWe+mPqb+/YLqAv/uTWb4r3ofOlgfytQYpjL86ArKfzJoqXBVlRTO/H9NBdJCCCO8pgnxTpnvGjxIKvhaUyxBJlQS\
            lXtK4NSop8YyIq+f6J5mVZjx7P9ebiuxVGbC6hbe8dJom+rkQh4+QwRf/9jem6ONSv1eRpAohZliSXlH6Z2Mq4fVQwG1HIoCs6j8UrfWKUYL5jH8\
            etfZ4CSIhL9aBdm2kZnMieX2V8Yq2xvSx7I1ehZSPJDEXcsiiiT7JmVT0zaH+zPmjb+2BldCW2zKSG43dSxfhUJbqqFHWNoH5MRgn0p9SQpqjVGq\
            Itr5VvsKdx/ff0aVZl2pY41Cm0hlXb8bk8Kx7wfG+o2dMGfodOWDM1HIv8+oD7eDti8U3bgijwOSsrvlFy211Zo3YuODxa12swN9Ln8Zm2FlxZ4r\
            RIfDKnI5L3TuqUDkFcgghtVtN7AqHrKxhzKqT/Gt2pwEXUGnVlEKTDkvWGRgLezp+0NDv52zkJ19PUm0ShhG4c39mndKIKt5A3YCb407z9CBuome\
            Fcc7aITmExP2PRtDZI1DQJFe/EowggFkBgkqhkiG9w0BBwGgggFVBIIBUTCCAU0wggFJBgsqhkiG9w0BDAoBAqCB7zCB7DBXBgkqhkiG9w0BBQ0w\
            SjApBgkqhkiG9w0BBQwwHAQI2nqIzDIRUtgCAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBBhBLZ8+HrV8az1JFfzSFxABIGQKdOSqgjG\
            lzjop88RRKpY3zrWPewqEAbKC7zeVX2KNU8g08mU5icocloS/5+0AR1pRpT1WFrnY9KzOgtnfk6KjCF9tuTlz+jYE38I7tjsqqrdrzLWVAciUzVK\
            5JwKiVSqpWcy44KjFHHBAeQ42D8MhhUgxSSJB4PTXKoOQQhTCC/e0Xrjmo+SPaRTSR/k7FJzMUgwIQYJKoZIhvcNAQkUMRQeEgBNAHkAIABDAGwA\
            aQBlAG4AdDAjBgkqhkiG9w0BCRUxFgQUkjXmHn8OYaqfo7UtSVrIprn82DowQTAxMA0GCWCGSAFlAwQCAQUABCDUH16dqI3W72eOLZ7b5yPSfTfz\
            C7ohrPNhvq/0xozYPgQIhKPZWAy2Nm8CAggA
            """)

    private static let rootText = """
        MIIBRzCB76ADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCVRlc3QgUm9vdDAeFw0yNDAxMDEwMDAwMDBaFw00OTEyMzEwMDAwMDBaMBQx\
        EjAQBgNVBAMMCVRlc3QgUm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABN8DlcAO/SRyfiuiX6ltt5OJYX9afjDm6F36S46htsZfPudDNoU9\
        ciYmz5Sa5XenQrIek3Iqy4I4g0JQ7XL9veijMjAwMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFMSvjXUPr8aKQfiqaPHV+ECdAP/cMAoGCCqG\
        SM49BAMCA0cAMEQCIFAG6qHHVAoH1uU0RRQQheVY2H46cZbT29czFpvoTSo2AiBjz2F4CEMjBEuMnYel4HqgCzns7bVrWVc2IZ16D/AJgA==
        """

    private static let expiredText = """
        MIIBrDCCAVKgAwIBAgIBBzAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlUZXN0IFJvb3QwHhcNMjQwMTAxMDAwMDAwWhcNMjUwMTAxMDAwMDAwWjAV\
        MRMwEQYDVQQDDApDbGllbnQgT25lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7Jy+dGNKvKhYnhYh4YXBQq778kyKty4p8HgMMKrg5GRevF8i\
        233FjCeIpLZWxTQn4eBSZHQS1QJ5RXoOmHBJK6OBkzCBkDAMBgNVHRMBAf8EAjAAMBMGA1UdJQQMMAoGCCsGAQUFBwMCMCsGA1UdEQQkMCKCDmNs\
        aWVudC5leGFtcGxlgRBjQGNsaWVudC5leGFtcGxlMB0GA1UdDgQWBBSjC06gJ8HaVEixRELnTYXZxbOLbjAfBgNVHSMEGDAWgBTEr411D6/GikH4\
        qmjx1fhAnQD/3DAKBggqhkjOPQQDAgNIADBFAiBS0Luo7iqJ3NHzixAJfiq1hExugZbAO7yZRPi/T3BDiwIhAMJ76cRf50ZB1AEGi2ASEwdle/cE\
        K+2NP9QbT9LlqNQq
        """

    private static let renewedText = """
        MIIBrDCCAVKgAwIBAgIBCDAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlUZXN0IFJvb3QwHhcNMjUwMTAxMDAwMDAwWhcNNDkxMjMxMDAwMDAwWjAV\
        MRMwEQYDVQQDDApDbGllbnQgT25lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7Jy+dGNKvKhYnhYh4YXBQq778kyKty4p8HgMMKrg5GRevF8i\
        233FjCeIpLZWxTQn4eBSZHQS1QJ5RXoOmHBJK6OBkzCBkDAMBgNVHRMBAf8EAjAAMBMGA1UdJQQMMAoGCCsGAQUFBwMCMCsGA1UdEQQkMCKCDmNs\
        aWVudC5leGFtcGxlgRBjQGNsaWVudC5leGFtcGxlMB0GA1UdDgQWBBSjC06gJ8HaVEixRELnTYXZxbOLbjAfBgNVHSMEGDAWgBTEr411D6/GikH4\
        qmjx1fhAnQD/3DAKBggqhkjOPQQDAgNIADBFAiEAjq+WiBt+oY7i+3pQGbrd8m1yeeyopFeMb9Fu1wRN8LICIB9PcXHKfd/ZOqKZj7XeWSt6Z6WU\
        UYVLd0jv33YtQ8g1
        """

    private static let reissuedText = """
        MIIBrDCCAVKgAwIBAgIBBzAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlUZXN0IFJvb3QwHhcNMjQwMTAxMDAwMDAwWhcNMzAwMTAxMDAwMDAwWjAV\
        MRMwEQYDVQQDDApDbGllbnQgT25lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7Jy+dGNKvKhYnhYh4YXBQq778kyKty4p8HgMMKrg5GRevF8i\
        233FjCeIpLZWxTQn4eBSZHQS1QJ5RXoOmHBJK6OBkzCBkDAMBgNVHRMBAf8EAjAAMBMGA1UdJQQMMAoGCCsGAQUFBwMCMCsGA1UdEQQkMCKCDmNs\
        aWVudC5leGFtcGxlgRBjQGNsaWVudC5leGFtcGxlMB0GA1UdDgQWBBSjC06gJ8HaVEixRELnTYXZxbOLbjAfBgNVHSMEGDAWgBTEr411D6/GikH4\
        qmjx1fhAnQD/3DAKBggqhkjOPQQDAgNIADBFAiAFPMMvj3Cw0k883kWpfM9cqHGFFcGkjRc1n5KgjIup8QIhAIUJJmLMIZVVrw20rIjtvRKabWob\
        GbKKso5E85d2FUHb
        """
}
