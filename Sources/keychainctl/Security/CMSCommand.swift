// SPDX-License-Identifier: Apache-2.0
// security cms -D: the content of a signed message, such as a provisioning profile.

import Foundation
import KeychainKeys
import KeychainKit
import KeychainVault

enum CMSCommand {
    /// The flags of macOS's command, so that a wrong one is told from one that is not supported.
    private static let letters = "CDEGH:N:OPSTY:Z:c:e:h:i:k:no:p:r:su:vt:"
    /// Without these, macOS writes the content whatever a signature says, and so does this command.
    private static let unsupported = "CEOSceh"

    static func decode(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options(letters)
        guard options.words.isEmpty, options.hasAny(of: "CDEOS") else { throw .usage() }
        try endingWithOne { () throws(SecurityFailure) in
            guard options.has("D"), !options.hasAny(of: unsupported) else {
                throw SecurityFailure(
                    text: "security: cms: Only -D is supported here, and it checks no signature. To sign, verify or "
                        + "encrypt, use: openssl cms", status: 1)
            }
            let content = try content(of: read(call, options["i"]), options["i"])
            guard !options.has("n") else { return }
            try naming("write") { () throws(KeychainError) in
                guard let path = options["o"] else { return try Output.write(content) }
                let vault = try UserKeychain().vault.location
                try NewFile.write(content, to: NewFilePlace(forPrograms: path, replacing: true, outside: vault))
            }
        }
    }

    private static func read(_ call: SecurityCall, _ path: String?) throws(SecurityFailure) -> Data {
        guard let path else {
            guard !call.session.isInteractive else {
                throw SecurityFailure(
                    text: "security: cms: The next lines of standard input are commands. Name a file: -i FILE",
                    status: 1)
            }
            return try read(STDIN_FILENO, "standard input")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw SecurityFailure(
                text: "security: unable to open \"\(path.escaped)\" for reading: \(reason)", status: 1)
        }
        defer { close(descriptor) }
        return try read(descriptor, "'\(path.escaped)'")
    }

    private static func read(_ descriptor: Int32, _ name: String) throws(SecurityFailure) -> Data {
        try naming("cms") { () throws(KeychainError) in
            try InputFile.read(descriptor, name: name, limit: CMSMessage.limit)
        }
    }

    private static func content(of bytes: Data, _ path: String?) throws(SecurityFailure) -> Data {
        let name = path.map { "'\($0.escaped)'" } ?? "standard input"
        let message = try message(bytes, name)
        guard message.hasSigners else { throw failure("\(name) has certificates and no signature.") }
        guard let content = message.content else {
            throw failure("\(name) is the signature of a content that is not in it.")
        }
        return content
    }

    private static func message(_ bytes: Data, _ name: String) throws(SecurityFailure) -> CMSMessage {
        do throws(KeyFailure) {
            return try CMSMessage(bytes)
        } catch .unsupportedAlgorithm(let type) {
            throw failure("\(name) is a message of type \(type), which is not supported; signed messages are.")
        } catch {
            throw failure("\(name) is no signed message in DER or BER.")
        }
    }

    private static func failure(_ reason: String) -> SecurityFailure {
        SecurityFailure(text: "security: problem decoding: \(reason)", status: 1)
    }
}
