// SPDX-License-Identifier: Apache-2.0
// What an examination of a vault tells.

/// One thing that was looked at, and how it is.
public struct Finding: Hashable, Sendable {
    public enum Severity: String, Sendable, CaseIterable {
        case ok
        /// It works, and is not as it should be.
        case warning
        /// Something does not work, or does not protect.
        case problem
    }

    /// What was looked at; the word never changes.
    public let check: String
    public let severity: Severity
    /// What was found, where, and how to mend it: no names of items, no values.
    public let message: String

    public init(_ check: String, _ severity: Severity, _ message: String) {
        self.check = check
        self.severity = severity
        self.message = message
    }
}
