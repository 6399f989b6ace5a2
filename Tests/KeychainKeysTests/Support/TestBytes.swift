// SPDX-License-Identifier: Apache-2.0
// Short ways to write bytes in tests.

import Foundation
import SecretMemory

@testable import KeychainKeys

extension Data {
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    init(base64 text: String) { self = Data(base64Encoded: text) ?? Data() }

    var hex: String { map { String(format: "%02x", $0) }.joined() }
}

extension SecretBytes {
    convenience init(_ data: Data) {
        self.init(count: data.count) { target in data.withUnsafeBytes { target.copyMemory(from: $0) } }
    }
    convenience init(_ text: String) { self.init(Data(text.utf8)) }

    var data: Data { withUnsafeBytes { Data($0) } }
}

/// The keys of the facts, whose private numbers begin with zero bytes.
enum KnownKey {
    static let p256 = Data(
        base64: """
            BOycvnRjSryoWJ4WIeGFwUKu+/JMircuKfB4DDCq4ORkXrxfItt9xYwniKS2VsU0J+HgUmR0EtUCeUV6DphwSSsAAJKpc+ld+jXFfZcOdEq6\
            lpUvNT2LhnTBk2M3SXmWmg==
            """)
    static let p384 = Data(
        base64: """
            BARjsjwZW896dmj2DRnjcBSSMYXSvK3ZbLDt0AUNnmwRAso6dKjIINUyU65t825mlvVdldTxMcWk0peS0hVkid0RIXY2coNpEcSJyK+oZUUT\
            XRHXTgPRh6Lj9YvpBbpRzAAA+XMAGoIkontD3zvzLOkdMQx+HVC9Lbm7spTj+qPXZmzLJR5ue0nY7WQtQD2gGQ==
            """)
    static let p521 = Data(
        base64: """
            BAFIUZfVKAEgJTcGS7VotgRdeIKhigs1VVpAjVs9hK2gtZL7MJ8RIvyEN7Skw7usAkO8+jZyCFhVzcJeB3vHkzoMgwHMnvucPZhZBFusjh7I\
            JRIdRSEfQlgI2KzM98E9PRAI2NP1vdk6HxyevfJ8A+h9+Vnj+i3nMbPauDKOMiJgDQ/8kQAAhgWD8eBDsavdlbMuOdwtZu/P4UvkTj7OD/j8\
            zfokDa7DcwPmCbSqdJwNFpOAjiVVVdaqvhUvgYd4SiZp2TW4lQ==
            """)

    static func privateKey(_ bytes: Data) throws -> PrivateKey {
        try PrivateKey(typeNumber: 73, externalRepresentation: SecretBytes(bytes))
    }

    /// RSA keys take long to make, so the tests share some.
    static let rsa1024 = make(1024)
    static let rsa2048 = make(2048)
    static let rsa4096 = make(4096)

    private static func make(_ size: Int) -> PrivateKey? { try? .generate(.rsa, sizeInBits: size) }
}
