// SPDX-License-Identifier: Apache-2.0
// Asking whether a vault is as it was left, and taking it as it is.

import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    /// In what the vault is not as it was left: what its head says, and what this machine has seen of it. It can then be read, and
    /// every change is refused as `rolledBack` until ``accept()``.
    ///
    /// ```swift
    /// let findings = try vault.headFindings()
    /// if !findings.isEmpty { warn(findings.sentence) }
    /// ```
    ///
    /// Does not protect against somebody who puts back the vault together with the state folder, after the machine was restarted.
    ///
    /// - Parameter wholeVault: Whether every row is read, however many there are; else many rows are only counted.
    /// - Throws: `locked` while not even the index is open.
    public func headFindings(wholeVault: Bool = false) throws(KeychainError) -> [HeadFinding] {
        guard let session = try openSession() else { return [] }
        let seen = session.anchors.read()
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { db in
                try HeadExamination(session, db, seen, wholeVault ? .wholeVault : .quick).findings
            }
        }
    }

    /// The same of every row, to be shown to a user before ``accept(_:)``.
    ///
    /// - Throws: `locked` while not even the index is open, `unavailable` if there is no vault.
    public func headReport() throws(KeychainError) -> HeadReport {
        let session = try currentSession()
        let seen = session.anchors.read()
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { db in
                HeadReport(
                    findings: try HeadExamination(session, db, seen, .wholeVault).findings,
                    state: try HeadExamination.state(db, session.headKeys()))
            }
        }
    }

    /// Takes the vault as it is if it still is as the user has seen it; else as ``accept()``.
    ///
    /// ```swift
    /// let report = try vault.headReport()
    /// if agrees(to: report.findings.sentence) { try vault.accept(report) }
    /// ```
    ///
    /// - Throws: `busy` if the vault has changed since; then nothing was accepted.
    public func accept(_ report: HeadReport) throws(KeychainError) {
        _ = try currentSession()
        try change { session, keeper in
            guard try keeper.state() == report.state else {
                throw KeychainError(
                    .busy,
                    "The vault '\(session.location.folder)' has changed since it was looked at. Nothing was accepted: "
                        + "look at it again.")
            }
            _ = try keeper.accept()
        }
    }

    /// Takes the vault as it is, in one durable transaction: it gets a new head of the rows and the keybag that are there, and this
    /// machine remembers that state as the newest. To be called after a backup was put back, or when a user has looked at
    /// ``headFindings(wholeVault:)`` and knows why.
    ///
    /// Does not bring anything back that is missing.
    ///
    /// - Returns: What was wrong; nothing is changed if nothing was.
    /// - Throws: `locked` while not even the index is open, `unavailable` if there is no vault.
    @discardableResult
    public func accept() throws(KeychainError) -> [HeadFinding] {
        _ = try currentSession()
        return try change { _, keeper in try keeper.accept() }
    }

    /// How many changes the head has seen, for tests; `nil` without a head.
    package func headSequence() throws(KeychainError) -> UInt64? {
        let session = try currentSession()
        return try DatabaseFailure.translating(location.databaseFile) {
            let keys = try session.headKeys()
            return try session.reader.read { try HeadTable($0).read() }
                .flatMap { Head(sealed: $0, keys)?.sequence }
        }
    }
}
