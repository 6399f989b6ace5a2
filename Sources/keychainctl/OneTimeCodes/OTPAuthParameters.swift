// SPDX-License-Identifier: Apache-2.0
// The parameters of an otpauth:// URL.

import Foundation
import KeychainKit

/// Values are checked when they are read, since a URL may have parameters of other programs.
struct OTPAuthParameters {
    private static let longestPeriod: UInt64 = 86400

    private let bytes: [UInt8]
    /// Where the values are. Names are in small letters.
    private var ranges: [String: Range<Int>] = [:]

    /// - Throws: `typeMismatch`.
    init(_ url: [UInt8]) throws(KeychainError) {
        bytes = url
        let end = url.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
        guard let question = url[..<end].firstIndex(of: UInt8(ascii: "?")) else {
            throw .noOneTimePassword("It has no secret.")
        }
        for part in url[(question + 1)..<end].split(separator: UInt8(ascii: "&")) {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: part[..<equals], as: UTF8.self).lowercased()
            guard ranges[name] == nil else { throw .noOneTimePassword("A parameter occurs twice.") }
            ranges[name] = (equals + 1)..<part.endIndex
        }
    }

    func range(of name: String) -> Range<Int>? { ranges[name] }

    // MARK: - Values

    var secret: [UInt8] {
        get throws(KeychainError) {
            guard let value = try value("secret") else { throw .noOneTimePassword("It has no secret.") }
            guard let secret = Base32.decoded(value), !secret.isEmpty else {
                throw .noOneTimePassword("The secret is not Base32.")
            }
            return secret
        }
    }

    var algorithm: OneTimeCode.Algorithm {
        get throws(KeychainError) {
            guard let value = try value("algorithm") else { return .sha1 }
            let name = String(decoding: value, as: UTF8.self).uppercased()
            guard let algorithm = OneTimeCode.Algorithm(rawValue: name) else {
                throw .noOneTimePassword("The algorithm is none of SHA1, SHA256 and SHA512.")
            }
            return algorithm
        }
    }

    var digits: Int {
        get throws(KeychainError) {
            guard let digits = Int(exactly: try number("digits") ?? 6), OneTimeCode.digitsAllowed.contains(digits)
            else {
                throw .noOneTimePassword("The number of digits is not 6, 7 or 8.")
            }
            return digits
        }
    }

    var period: UInt64 {
        get throws(KeychainError) {
            let period = try number("period") ?? 30
            guard (1...Self.longestPeriod).contains(period) else {
                throw .noOneTimePassword("The period is not from 1 to \(Self.longestPeriod) seconds.")
            }
            return period
        }
    }

    var counter: UInt64 {
        get throws(KeychainError) {
            guard let counter = try number("counter") else { throw .noOneTimePassword("It has no counter.") }
            return counter
        }
    }

    private func value(_ name: String) throws(KeychainError) -> [UInt8]? {
        guard let range = ranges[name] else { return nil }
        guard let value = PercentEncoding.decoded(bytes[range]) else {
            throw .noOneTimePassword("A parameter is not percent-encoded correctly.")
        }
        return value
    }

    private func number(_ name: String) throws(KeychainError) -> UInt64? {
        guard let value = try value(name) else { return nil }
        let isNumber = value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isNumber, let number = UInt64(String(decoding: value, as: UTF8.self)) else {
            throw .noOneTimePassword("The parameter '\(name)' is not a number in the allowed range.")
        }
        return number
    }
}
