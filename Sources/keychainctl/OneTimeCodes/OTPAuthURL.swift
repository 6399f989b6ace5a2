// SPDX-License-Identifier: Apache-2.0
// The URLs that QR codes of one-time passwords contain: otpauth://totp/LABEL?secret=BASE32&digits=6&period=30

import Foundation
import KeychainKit

/// A URL is a secret, so messages do not quote it.
struct OTPAuthURL {
    enum Kind {
        /// The seconds that a code is valid.
        case time(period: UInt64)
        case counter(UInt64)
    }

    let code: OneTimeCode
    let kind: Kind

    /// The URL alone. The bytes around the counter stay as they are when the counter advances.
    private let bytes: [UInt8]
    private let counterRange: Range<Int>?

    private static let lengthLimit = 1 << 16

    /// - Throws: `typeMismatch` for anything but a complete URL.
    init(_ value: Data) throws(KeychainError) {
        guard value.count <= Self.lengthLimit else { throw .noOneTimePassword("It is too long.") }
        bytes = Self.trimmed(value)
        let isCounter = Self.begins(bytes, "otpauth://hotp/")
        guard isCounter || Self.begins(bytes, "otpauth://totp/") else {
            throw .noOneTimePassword("It does not begin with otpauth://totp/ or otpauth://hotp/.")
        }
        // The lines of two QR codes are two URLs, and the second would count as a part of the first.
        guard !bytes.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
            throw .noOneTimePassword("It has several lines. Store one URL in each item.")
        }
        let parameters = try OTPAuthParameters(bytes)
        code = OneTimeCode(
            secret: try parameters.secret, algorithm: try parameters.algorithm, digits: try parameters.digits)
        counterRange = isCounter ? parameters.range(of: "counter") : nil
        kind = isCounter ? .counter(try parameters.counter) : .time(period: try parameters.period)
    }

    /// The same URL with the next counter; `nil` if there is none.
    func advanced() -> Data? {
        guard case .counter(let counter) = kind, counter < .max, let counterRange else { return nil }
        return Data(
            bytes[..<counterRange.lowerBound] + Array(String(counter + 1).utf8) + bytes[counterRange.upperBound...])
    }

    /// Without white space at both ends: programs that read QR codes print a newline, and people copy spaces.
    private static func trimmed(_ value: Data) -> [UInt8] {
        let isVisible = { (byte: UInt8) in byte != UInt8(ascii: " ") && !(0x09...0x0D).contains(byte) }
        guard let first = value.firstIndex(where: isVisible), let last = value.lastIndex(where: isVisible) else {
            return []
        }
        return Array(value[first...last])
    }

    private static func begins(_ bytes: [UInt8], _ scheme: String) -> Bool {
        bytes.prefix(scheme.utf8.count).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } == Array(scheme.utf8)
    }
}

extension KeychainError {
    static func noOneTimePassword(_ why: String) -> KeychainError {
        KeychainError(.typeMismatch, "The value is not the otpauth:// URL of a one-time password. \(why)")
    }
}
