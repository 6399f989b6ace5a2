// SPDX-License-Identifier: Apache-2.0
// keychainctl docker-credential: docker's credential helper.

import ArgumentParser
import Foundation
import KeychainKit

extension Keychainctl {
    struct DockerCredential: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "docker-credential",
            abstract: "The credential helper of docker: store, get, erase, list, version.",
            usage: "keychainctl docker-credential <action> [<options>]",
            discussion: """
                docker runs this command through a link with the name docker-credential-keychain, and \
                speaks its protocol on standard input and output. podman and other clients that know \
                docker's helpers can use it too. To let docker use it:

                  keychainctl helper install docker

                The credentials are internet passwords with the security domain 'docker', and the \
                address that docker gave is their comment. `list` shows only these.

                As the protocol demands, errors go to standard output, and their exit code is 1.

                EXAMPLES
                  docker login registry.example.com
                  keychainctl docker-credential list
                  echo registry.example.com | keychainctl docker-credential get
                """)

        @Argument(help: ArgumentHelp("store, get, erase, list or version.", valueName: "action"))
        var words: [String] = []

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            guard !unlock.uses(STDIN_FILENO) else {
                throw ValidationError("Standard input is docker's. Give the secret on another descriptor.")
            }
        }

        func run() throws {
            let answer: String
            do throws(KeychainError) {
                answer = try self.answer
            } catch {
                try Output.write(error.message.escapingLineBreaks + "\n")
                throw ExitCode(ExitStatus.failure.rawValue)
            }
            try Output.write(answer)
        }

        private var answer: String {
            get throws(KeychainError) {
                switch words {
                case ["store"]: try store()
                case ["get"]: try get()
                case ["erase"]: try erase()
                case ["list"]:
                    try JSONOutput.line(
                        try onItems { (items) throws(KeychainError) in
                            try items.keychain.reading { () throws(KeychainError) in try items.list() }
                        })
                case ["version"], ["--version"], ["-v"]:
                    "\(CalledName.docker.rawValue) (swift-keychain) \(packageVersion)\n"
                default:
                    throw KeychainError(
                        .invalidParameter, "Usage: \(CalledName.docker.rawValue) <store|get|erase|list|version>")
                }
            }
        }

        private func store() throws(KeychainError) -> String {
            var input = try ProtocolInput.read(endsAtEmptyLine: false)
            defer { input.wipe() }
            let credentials = try DockerCredentials(input)
            try onItems { (items) throws(KeychainError) in try items.store(credentials) }
            return ""
        }

        private func get() throws(KeychainError) -> String {
            let server = try Self.readServer()
            return try JSONOutput.line(
                try onItems { (items) throws(KeychainError) in
                    try items.keychain.reading { () throws(KeychainError) in try items.get(server) }
                })
        }

        private func erase() throws(KeychainError) -> String {
            let server = try Self.readServer()
            try onItems { (items) throws(KeychainError) in try items.erase(server) }
            return ""
        }

        private func onItems<Result>(
            _ body: (DockerItems) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            let keychain = try UserKeychain(for: .docker)
            return try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try body(DockerItems(keychain: keychain))
            }
        }

        /// The input without white space around it.
        private static func readServer() throws(KeychainError) -> DockerServer {
            let input = try ProtocolInput.read(endsAtEmptyLine: false)
            let text = String(decoding: input, as: UTF8.self).drop(while: \.isWhitespace)
            let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
            return try DockerServer(String(text[..<end]))
        }
    }
}

extension String {
    /// An error is one line of the protocol.
    fileprivate var escapingLineBreaks: String {
        String(map { $0.isNewline ? " " : $0 })
    }
}
