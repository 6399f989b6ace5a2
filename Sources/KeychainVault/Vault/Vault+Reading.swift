// SPDX-License-Identifier: Apache-2.0
// Reads that other processes may disturb, because SQLite does not coordinate them.

import KeychainEngine

extension Vault {
    static let readingAttempts = 3

    /// Reads with the open session, and again if the read was disturbed.
    ///
    /// - Parameters:
    ///   - age: How old the last check of the vault's files may be.
    ///   - read: Gets `nil` if there is no vault yet.
    /// - Throws: `busy` if every attempt was disturbed.
    func undisturbed<Result>(
        age: Duration = .zero, _ read: (Session?) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        for _ in 1...Self.readingAttempts {
            var session = age > .zero ? freshSession() : nil
            if session == nil { session = try openSession(age: age) }
            let result = try Self.ifUndisturbed(session?.isDisturbed ?? false) { () throws(KeychainError) in
                try read(session)
            }
            if let result { return result }
        }
        throw .readingDisturbed(location)
    }

    /// Runs a read, and then checks whether it was disturbed: without coordination another process may overwrite pages
    /// during it. Then its result may mix two states of the vault, and an intact vault may seem damaged.
    ///
    /// - Parameter isDisturbed: Evaluated after the read, also if that failed.
    /// - Returns: `nil` if it was disturbed.
    static func ifUndisturbed<Result>(
        _ isDisturbed: @autoclosure () -> Bool, _ read: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result? {
        do throws(KeychainError) {
            let result = try read()
            return isDisturbed() ? nil : result
        } catch {
            guard isDisturbed() else { throw error }
            return nil
        }
    }
}

extension KeychainError {
    static func readingDisturbed(_ location: VaultLocation) -> KeychainError {
        KeychainError(
            .busy,
            "Other processes kept writing the vault '\(location.folder)' while it was read. Nothing was changed. Try again."
        )
    }
}
