// SPDX-License-Identifier: Apache-2.0
// The results of an examination of a vault.

/// The result of one check.
public struct Finding: Hashable, Sendable {
    public enum Severity: String, Sendable, CaseIterable {
        case ok
        /// It works, but is not as it should be.
        case warning
        /// Something does not work, or does not protect.
        case problem
    }

    /// The name of the check; it never changes.
    public let check: String
    public let severity: Severity
    /// What was found, where, and how to repair it, without names of items and values.
    public let message: String

    public init(_ check: String, _ severity: Severity, _ message: String) {
        self.check = check
        self.severity = severity
        self.message = message
    }
}
