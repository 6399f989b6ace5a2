// SPDX-License-Identifier: Apache-2.0
// keychainctl doctor: problems of the vault, how to repair them, and repairing the index.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault
import SecretMemory

extension Keychainctl {
    struct Doctor: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "doctor",
            abstract: "Check the vault and its environment for problems.",
            usage: "keychainctl doctor [--repair] [<options>]",
            discussion: """
                This opens every item that can be opened now, including its value, and compares every \
                index entry with its item. Values that require authentication are checked as far as \
                possible without a prompt. Items that are locked or bound to another device are counted; \
                they are not problems.

                Without --repair nothing is changed, and the vault may be locked, damaged, unreadable or \
                missing. The exit code is 0 if there is no problem, and 1 if there is one, also after a \
                repair; warnings do not count.

                With --repair, the index is rebuilt from the items that open before the vault is checked. \
                Items are neither changed nor removed, and items that do not open keep their entries. \
                Other differences from the last known state are not repaired: see \
                keychainctl accept --help.

                With --json: an object with the keys problems and warnings (counts) and findings, an \
                array of objects with the keys check, severity (ok, warning, problem) and message; with \
                --repair also repair, null if it failed, with the counts added, removed, reindexed, \
                blocked and closed.

                EXAMPLES
                  keychainctl doctor
                  keychainctl doctor --repair
                  keychainctl doctor --json | jq '.findings[] | select(.severity != "ok")'
                """)

        @Flag(help: "Rebuild the index from the items that open.")
        var repair = false

        @Flag(help: "Print JSON, for programs.")
        var json = false

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let environment = ProcessEnvironment.current
            let unlocking = try unlockIfAsked()
            let repair = repair ? Self.repairing() : nil
            let findings =
                EnvironmentFindings.all(environment) + unlocking + (repair?.findings ?? [])
                + Self.vaultFindings(environment)
            try Output.write(
                json ? JSONOutput.line(DoctorJSON(repair: repair, findings: findings)) : Self.text(findings))
            guard findings.count(of: .problem) == 0 else { throw ExitCode(ExitStatus.failure.rawValue) }
        }

        /// - Returns: The finding that the secret was not tried, if the vault cannot be opened at all; the examination
        ///   then continues.
        /// - Throws: The failure of the secret.
        private func unlockIfAsked() throws(KeychainError) -> [Finding] {
            guard unlock.given != nil else { return [] }
            let vault: Vault
            do throws(KeychainError) {
                vault = try UserKeychain.existingVault()
            } catch {
                return [Finding("unlocking", .problem, "The secret was not tried. " + error.message)]
            }
            try unlock.unlocking(vault) { () throws(KeychainError) in }
            return []
        }

        private static func repairing() -> RepairReport {
            do throws(KeychainError) {
                return RepairReport(repair: try UserKeychain.existingVault().repairIndex())
            } catch {
                return RepairReport(failure: error)
            }
        }

        private static func vaultFindings(_ environment: [String: String]) -> [Finding] {
            do throws(KeychainError) {
                let location = try VaultLocation.fromEnvironment(environment)
                var settings = VaultSettings()
                // The findings about the environment report a wrong value.
                do throws(KeychainError) { settings = try .fromEnvironment(environment) } catch {}
                return ProgressLine.counting { Vault.examine(location, settings, progress: $0) }
            } catch {
                return [Finding("location", .problem, error.message)]
            }
        }

        private static func text(_ findings: [Finding]) -> String {
            let lines = findings.map { finding in
                let severity = finding.severity.rawValue
                return severity + String(repeating: " ", count: 9 - severity.count)
                    + "\(finding.check): \(finding.message)".escapingControls() + "\n"
            }
            let (problems, warnings) = (findings.count(of: .problem), findings.count(of: .warning))
            return lines.joined() + "problems: \(problems), warnings: \(warnings)\n"
        }
    }
}

/// The result of `--repair`.
private struct RepairReport {
    let repair: IndexRepair?
    let findings: [Finding]

    init(repair: IndexRepair) {
        self.repair = repair
        let done = [
            (repair.addedCount, "entries added"), (repair.removedCount, "wrong entries removed"),
            (repair.reindexedCount, "items indexed under their own key again"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let left = [
            (
                repair.blockedCount,
                "items stay indexed under another key, because another item has their name. Delete or rename that one, then run: "
                    + "keychainctl doctor --repair"
            ),
            (repair.closedCount, "items do not open now and keep their entries"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let text = done.isEmpty ? ["no changes were needed"] : done
        findings = [Finding("repair", .ok, "The index: " + (text + left).joined(separator: "; ") + ".")]
    }

    init(failure: KeychainError) {
        repair = nil
        findings = [Finding("repair", .problem, "Nothing was repaired. " + failure.message)]
    }
}

private struct RepairJSON: Encodable {
    let added, removed, reindexed, blocked, closed: Int

    init(_ repair: IndexRepair) {
        (added, removed, reindexed) = (repair.addedCount, repair.removedCount, repair.reindexedCount)
        (blocked, closed) = (repair.blockedCount, repair.closedCount)
    }
}

private struct DoctorJSON: Encodable {
    struct Entry: Encodable {
        let check: String
        let severity: String
        let message: String
    }

    let problems: Int
    let warnings: Int
    let findings: [Entry]
    private let report: RepairReport?

    private enum Key: String, CodingKey {
        case problems, warnings, findings, repair
    }

    init(repair: RepairReport?, findings: [Finding]) {
        report = repair
        problems = findings.count(of: .problem)
        warnings = findings.count(of: .warning)
        self.findings = findings.map { Entry(check: $0.check, severity: $0.severity.rawValue, message: $0.message) }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(problems, forKey: .problems)
        try object.encode(warnings, forKey: .warnings)
        try object.encode(findings, forKey: .findings)
        if let report { try object.encode(report.repair.map(RepairJSON.init), forKey: .repair) }
    }
}

extension [Finding] {
    fileprivate func count(of severity: Finding.Severity) -> Int { filter { $0.severity == severity }.count }
}
