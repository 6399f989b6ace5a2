// SPDX-License-Identifier: Apache-2.0
// Checking whether a vault was changed by others, and accepting it as it is.

import Foundation
public import KeychainEngine

extension Vault {
    /// The differences between the vault and its last known state, according to its head and to what this machine
    /// remembers. If there are any, the vault can be read, and every change is refused as `rolledBack` until
    /// ``accept()``.
    ///
    /// ```swift
    /// let findings = try vault.headFindings()
    /// if !findings.isEmpty { warn(findings.sentence) }
    /// ```
    ///
    /// Does not protect against an attacker who puts back the vault together with the state folder, after the machine
    /// was restarted.
    ///
    /// - Parameter wholeVault: Whether every row is read. If false, the rows of a large vault are only counted.
    /// - Throws: `locked` while not even the index is open.
    public func headFindings(wholeVault: Bool = false) throws(KeychainError) -> [HeadFinding] {
        try undisturbed { (session) throws(KeychainError) -> [HeadFinding] in
            guard let session else { return [] }
            return try headFindings(session, wholeVault ? .wholeVault : .quick)
        }
    }

    func headFindings(
        _ session: Session, _ extent: HeadExamination.Extent
    ) throws(KeychainError) -> [HeadFinding] {
        let seen = session.anchors.read()
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { connection in
                try HeadExamination(session, connection, seen, extent).findings
            }
        }
    }

    /// The same with every row read, to show to the user before ``accept(_:)``.
    ///
    /// - Throws: `locked` while not even the index is open, `unavailable` if there is no vault.
    public func headReport() throws(KeychainError) -> HeadReport {
        try undisturbed { (_) throws(KeychainError) -> HeadReport in
            let session = try currentSession()
            let seen = session.anchors.read()
            return try DatabaseFailure.translating(location.databaseFile) {
                try session.reader.read { connection in
                    HeadReport(
                        findings: try HeadExamination(session, connection, seen, .wholeVault).findings,
                        state: try HeadExamination.state(connection, session.headKeys()))
                }
            }
        }
    }

    /// Accepts the vault as it is, like ``accept()``, but only if it is unchanged since the user saw the report.
    ///
    /// ```swift
    /// let report = try vault.headReport()
    /// if agrees(to: report.findings.sentence) { try vault.accept(report) }
    /// ```
    ///
    /// - Throws: `busy` if the vault has changed since; then nothing was accepted.
    public func accept(_ report: HeadReport) throws(KeychainError) {
        _ = try currentSession()
        try write(.ofHead) { transaction in
            guard try transaction.keeper.state() == report.state else {
                throw KeychainError(
                    .busy,
                    "The vault '\(location.folder)' has changed since it was checked. Nothing was accepted. "
                        + "Check it again.")
            }
            _ = try transaction.keeper.accept()
        }
    }

    /// Accepts the vault as it is, in one durable transaction: it gets a new head for the present rows and keybag, and
    /// this machine remembers that state as the newest. Call it after a backup was put back, or when the user has seen
    /// ``headFindings(wholeVault:)`` and knows the cause.
    ///
    /// Does not restore missing rows.
    ///
    /// - Returns: The differences; if there are none, nothing is changed.
    /// - Throws: `locked` while not even the index is open, `unavailable` if there is no vault.
    @discardableResult
    public func accept() throws(KeychainError) -> [HeadFinding] {
        _ = try currentSession()
        return try write(.ofHead) { try $0.keeper.accept() }
    }

    /// How many changes the head has counted, for tests; `nil` without a head.
    package func headSequence() throws(KeychainError) -> UInt64? {
        let session = try currentSession()
        return try DatabaseFailure.translating(location.databaseFile) {
            let keys = try session.headKeys()
            return try session.reader.read { try HeadTable($0).read() }
                .flatMap { Head(sealed: $0, keys)?.sequence }
        }
    }
}
