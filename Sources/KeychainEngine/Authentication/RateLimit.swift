// SPDX-License-Identifier: Apache-2.0
// Delays after wrong answers.

/// Placeholder.
public final class RateLimit: Sendable {
    public init() {}
    public func check() throws(KeychainFailure) {}
    public func failed() {}
    public func succeeded() {}
}
