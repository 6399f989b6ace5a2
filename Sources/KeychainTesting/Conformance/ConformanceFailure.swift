// SPDX-License-Identifier: Apache-2.0
// A violation of the contract of a store.

import KeychainEngine

/// A check found a store that violates the contract of ``ItemStore``: the check, what was expected, and what happened.
///
/// It never contains the value of an item.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the check.
    public let check: String
    public let expected: String
    public let came: String

    init(check: String, expected: String, came: String) {
        self.check = check
        self.expected = expected
        self.came = came
    }

    /// A call failed that should have succeeded.
    init(check: String, _ error: any Error) {
        switch error {
        case let failure as ConformanceFailure: self = failure
        case let failure as KeychainError: self.init(check: check, expected: "success", came: failure.word)
        default: self.init(check: check, expected: "success", came: "an error of type \(type(of: error))")
        }
    }

    public var description: String { "\(check): expected \(expected), came \(came)" }
}

extension KeychainError {
    /// Reason and status. The message is left out, since a store may have put anything into it.
    var word: String { "'\(reason.rawValue)' (\(status))" }
}
