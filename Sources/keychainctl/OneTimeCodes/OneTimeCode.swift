// SPDX-License-Identifier: Apache-2.0
// One-time codes: HOTP (RFC 4226), and TOTP (RFC 6238), which is HOTP with the time as its counter.

import Crypto

/// What a server and the user share.
struct OneTimeCode {
    enum Algorithm: String, CaseIterable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"
    }

    static let digitsAllowed = 6...8

    var secret: [UInt8]
    var algorithm = Algorithm.sha1
    /// One of ``digitsAllowed``.
    var digits = 6

    func code(_ counter: UInt64) -> String {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * UInt64($0))) }
        let number = Self.truncated(digest(message))
        let text = String(number % Self.powerOfTen(digits))
        return String(repeating: "0", count: digits - text.count) + text
    }

    private func digest(_ message: [UInt8]) -> [UInt8] {
        let key = SymmetricKey(data: secret)
        return switch algorithm {
        case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key))
        case .sha256: Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
        case .sha512: Array(HMAC<SHA512>.authenticationCode(for: message, using: key))
        }
    }

    /// Section 5.3 of RFC 4226: the last four bits choose four bytes, and the first bit of these is dropped.
    private static func truncated(_ digest: [UInt8]) -> UInt32 {
        let offset = Int((digest.last ?? 0) & 0x0F)
        return digest[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    }

    private static func powerOfTen(_ exponent: Int) -> UInt32 { (0..<exponent).reduce(1) { power, _ in power * 10 } }
}
