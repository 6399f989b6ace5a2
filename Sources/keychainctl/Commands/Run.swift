// SPDX-License-Identifier: Apache-2.0
// keychainctl run: start a command that gets values in its environment.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainVault
import SecretMemory

extension Keychainctl {
    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Start a command with values in its environment.",
            usage: """
                keychainctl run [--env <name=reference>] [<options>] -- <command>
                """,
            discussion: """
                A variable whose whole value is a reference gets the value of the item. This applies to \
                variables that already exist, to --env-file and to --env; the later of these counts. \
                References are:

                  keychain://SERVICE/ACCOUNT                 a generic password
                  keychain://SERVICE/ACCOUNT#FIELD           a field of a value that is JSON
                  keychain+server://HOST[:PORT]/ACCOUNT      an internet password

                FIELD may be several names, from the outermost object, as in #db/password. Write the \
                characters / ? # % in names as %2F %3F %23 %25.

                The command replaces the tool: signals and the exit code are its own, and nothing is \
                written to disk. If a reference cannot be resolved, the command is not started. If it \
                cannot be started, the exit code is 127 (not found) or 126. Other processes of the same \
                user can read the environment of the command.

                With --swiftpm: SWIFTPM_NETRC_DATA has the internet passwords for https servers without a \
                port. SWIFTPM_REGISTRY_TOKEN has that of the account 'token', if there is one.

                EXAMPLES
                  keychainctl run --env TOKEN=keychain://example.com/alice -- ./deploy
                  keychainctl run --env-file service.env -- ./server --port 8080
                  DB=keychain://db/app#password keychainctl run -- printenv DB
                  keychainctl run --swiftpm -- swift build
                """)

        @Option(
            help: ArgumentHelp("Set a variable to the value of a reference; repeatable.", valueName: "name=reference"))
        var env: [String] = []

        @Option(
            help: ArgumentHelp("Set the variables of a file with NAME=value lines; repeatable.", valueName: "file"),
            completion: .file())
        var envFile: [String] = []

        @Flag(help: "Give the passwords for https servers to SwiftPM.")
        var swiftpm = false

        @Option(help: ArgumentHelp("With --swiftpm: the server whose token is used.", valueName: "host[:port]"))
        var registry: String?

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        /// The command, and words before `--`, which the parser's own messages would quote.
        @Argument(parsing: .allUnrecognized, help: .hidden)
        var words: [String] = []

        func validate() throws {
            let command = CommandLine.arguments.drop { $0 != "--" }.dropFirst()
            guard words.filter({ $0 != "--" }).count == command.filter({ $0 != "--" }).count else {
                throw ValidationError("Unexpected argument. Give the command after '--': keychainctl run -- COMMAND")
            }
            guard !command.isEmpty else {
                throw ValidationError("Give the command after '--', for example: keychainctl run -- printenv")
            }
            guard registry == nil || swiftpm else { throw ValidationError("--registry needs --swiftpm.") }
            _ = try assignments
        }

        func run() throws {
            guard !ProcessEnvironment.isPrivileged else { throw Self.privileged }
            guard let command = ReplacingCommand() else { throw ValidationError("Give the command after '--'.") }
            var environment = try ChildEnvironment.ofThisProcess()
            for path in envFile {
                for (name, value) in try EnvironmentFile(path: path).variables { environment.set(name, to: value) }
            }
            for (name, value) in try assignments { environment.set(name, to: value) }
            try environment.findReferences()
            if environment.hasReferences || swiftpm { environment = try withValues(environment) }
            try environment.withPointers { try command.replaceTool($0, closing: unlock.descriptor) }
        }

        private func withValues(_ environment: ChildEnvironment) throws -> ChildEnvironment {
            let keychain = try UserKeychain()
            let result = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in
                    var values = ReferencedValues(keychain)
                    defer { values.wipe() }
                    var result = try environment.resolved(&values)
                    if swiftpm { try addCredentials(to: &result, keychain) }
                    return result
                }
            }
            try Vault.closeAll()
            return result
        }

        private func addCredentials(
            to environment: inout ChildEnvironment, _ keychain: UserKeychain
        ) throws(KeychainError) {
            let credentials = try SwiftPMCredentials(keychain, registry: registry)
            for omission in credentials.omitted {
                Output.note("Warning: a password for '\(omission.server)' was left out. \(omission.reason)")
            }
            environment.set(SwiftPMCredentials.netrcVariable, to: credentials.netrc)
            if let token = credentials.token { environment.set(SwiftPMCredentials.tokenVariable, to: token) }
        }

        /// The options --env in two parts.
        private var assignments: [(name: String, value: [UInt8])] {
            get throws {
                try env.map { text in
                    let bytes = Array(text.utf8)
                    let equals = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
                    guard let name = VariableName.checked(bytes[..<equals]), equals < bytes.endIndex else {
                        throw ValidationError(
                            "--env takes NAME=REFERENCE, for example TOKEN=keychain://SERVICE/ACCOUNT.")
                    }
                    let value = Array(bytes[(equals + 1)...])
                    guard SecretReference.begins(value) else {
                        throw ValidationError(
                            "--env takes a reference, such as keychain://SERVICE/ACCOUNT. Values never go on the command "
                                + "line, where other programs can see them.")
                    }
                    return (name, value)
                }
            }
        }

        private static let privileged = KeychainError(
            .unsupported, "A setuid program, or one with file capabilities, does not start commands.")
    }
}
