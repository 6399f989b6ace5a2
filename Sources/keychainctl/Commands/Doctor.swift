// SPDX-License-Identifier: Apache-2.0
// keychainctl doctor: what is wrong, and how to mend it.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault
import SecretMemory

extension Keychainctl {
    struct Doctor: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Look for what is wrong with the vault and its surroundings.",
            discussion: """
                Nothing is changed, and the vault may be locked, damaged, unreadable or missing. The \
                exit code is 0 if there is no problem, and 1 if there is one; warnings do not count.

                With --json: an object with the keys problems and warnings (counts) and findings, an \
                array of objects with the keys check, severity (ok, warning, problem) and message.

                EXAMPLES
                  keychainctl doctor
                  keychainctl doctor --json | jq '.findings[] | select(.severity != "ok")'
                """)

        @Flag(help: "Print JSON, for programs.")
        var json = false

        @OptionGroup var stray: StrayWords

        func run() throws {
            let environment = ProcessEnvironment.current
            let findings = Surroundings.findings(environment) + Self.vaultFindings(environment)
            try Output.write(json ? JSONOutput.line(DoctorJSON(findings: findings)) : Self.text(findings))
            guard findings.count(of: .problem) == 0 else { throw ExitCode(ExitStatus.failure.rawValue) }
        }

        private static func vaultFindings(_ environment: [String: String]) -> [Finding] {
            do throws(KeychainError) {
                let location = try VaultLocation.fromEnvironment(environment)
                var settings = VaultSettings()
                // A wrong word is told with the surroundings.
                do throws(KeychainError) { settings = try .fromEnvironment(environment) } catch {}
                return Vault.examine(location, settings)
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

private struct DoctorJSON: Encodable {
    struct Entry: Encodable {
        let check: String
        let severity: String
        let message: String
    }

    let problems: Int
    let warnings: Int
    let findings: [Entry]

    init(findings: [Finding]) {
        problems = findings.count(of: .problem)
        warnings = findings.count(of: .warning)
        self.findings = findings.map { Entry(check: $0.check, severity: $0.severity.rawValue, message: $0.message) }
    }
}

extension [Finding] {
    fileprivate func count(of severity: Finding.Severity) -> Int { filter { $0.severity == severity }.count }
}
