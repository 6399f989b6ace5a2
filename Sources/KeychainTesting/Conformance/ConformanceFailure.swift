// SPDX-License-Identifier: Apache-2.0
// What a store did that it should not.

import KeychainEngine

/// A check found a store that does not do what ``ItemStore`` promises: which check, what was expected, what came.
///
/// It never holds the value of an item.
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

    /// A call that should have worked did not.
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
    /// Reason and status, and not the message, which a store may have put anything in.
    var word: String { "'\(reason.rawValue)' (\(status))" }
}
