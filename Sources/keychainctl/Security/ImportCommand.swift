// SPDX-License-Identifier: Apache-2.0
// security import: keys and certificates from a file into the vault.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit
import SecretMemory

enum ImportCommand {
    private static let limit = 16 << 20
    private static let function = "SecKeychainItemImport"

    static func importFile(_ call: SecurityCall) throws(SecurityFailure) {
        guard let file = call.words.first, file.utf8.first != UInt8(ascii: "-") else { throw .usage() }
        let options = try SecurityOptions(Array(call.words.dropFirst()), "k:t:f:wP:xa::AT:")
        guard options.words.isEmpty else { throw .usage() }
        try endingWithOne { () throws(SecurityFailure) in
            let keychain = try call.keychain(options["k"], function)
            if options["P"] != nil { call.session.warnOfArgument("the passphrase") }
            let items = try read(call, file, options)
            try store(call, items, keychain, isExtractable: !options.has("x"))
            try report(items)
        }
    }

    // MARK: - The file

    private static func read(
        _ call: SecurityCall, _ file: String, _ options: SecurityOptions
    ) throws(SecurityFailure) -> KeyFileContent {
        let bytes = try naming(function) { () throws(KeychainError) in try content(of: file) }
        // The content decides on the format, since names are often wrong. The option chooses between two errors.
        let isPKCS12 = options["f"] == "pkcs12"
        var passphrase = options["P"].map { text in Data(text.utf8).withUnsafeBytes { SecretBytes(copying: $0) } }
        do throws(KeyFailure) {
            return try KeyFileContent(bytes, passphrase: passphrase, isPKCS12: isPKCS12)
        } catch {
            guard error == .passphraseRequired, passphrase == nil else { throw failure(error, file) }
        }
        passphrase = try naming(function) { () throws(KeychainError) in
            var entered = try call.session.secret("password for \(file): ")
            defer { entered.wipe() }
            return entered.withUnsafeBytes { SecretBytes(copying: $0) }
        }
        do throws(KeyFailure) {
            return try KeyFileContent(bytes, passphrase: passphrase, isPKCS12: isPKCS12)
        } catch {
            throw failure(error, file)
        }
    }

    /// - Throws: Errors that name the file, never its content.
    static func content(of file: String) throws(KeychainError) -> SecretBytes {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw cannotRead(file) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw cannotRead(file) }
        guard status.st_mode & S_IFMT == S_IFREG, (1...limit).contains(Int(status.st_size)) else {
            throw KeychainError(
                .invalidParameter, "'\(file.escaped)' is not a file of 1 byte to \(limit >> 20) MiB.")
        }
        var count = 0
        let bytes = SecretBytes(count: Int(status.st_size)) { count = Descriptors.fill($0, from: descriptor) }
        guard count == bytes.count else { throw KeychainError(.inputOutput, "'\(file.escaped)' could not be read.") }
        return bytes
    }

    private static func cannotRead(_ file: String) -> KeychainError {
        KeychainError(.inputOutput, "Could not read '\(file.escaped)': \(String(cString: strerror(errno))).")
    }

    private static func failure(_ error: KeyFailure, _ file: String) -> SecurityFailure {
        let (status, text): (Int32, String) =
            switch error {
            case .wrongPassphrase: (-25293, "MAC verification failed during PKCS12 import (wrong password?)")
            case .passphraseRequired: (-25293, "'\(file.escaped)' needs a passphrase. Give it at the prompt.")
            case .malformed(let format): (-26275, "Unknown format in import: '\(file.escaped)' is no valid \(format).")
            case .unsupportedAlgorithm(let name), .unsupportedAuthentication(let name):
                (
                    SecurityStatus.unsupported,
                    "'\(file.escaped)' uses \(name.escaped), which is not supported."
                        + (error.conversion.map { " To convert it: \($0)" } ?? "")
                )
            case .unsupportedSize(let bits): (SecurityStatus.unsupported, "Keys of \(bits) bits are not supported.")
            case .limitExceeded(let what): (-25302, "'\(file.escaped)': too much of \(what).")
            case .algorithmNotSupported, .invalidLength, .decryptionFailed, .invalidPeer:
                (-26275, "'\(file.escaped)' cannot be read.")
            }
        return SecurityFailure(function, status, text)
    }

    // MARK: - The vault

    /// All items or none, apart from certificates that exist.
    private static func store(
        _ call: SecurityCall, _ items: KeyFileContent, _ keychain: NamedKeychain, isExtractable: Bool
    ) throws(SecurityFailure) {
        guard !items.isEmpty else {
            throw SecurityFailure(function, -26275, "The file contains no key or certificate.")
        }
        let group = keychain.group
        let queries =
            items.privateKeys.map { $0.content.newItem(in: group, name: $0.name, isExtractable: isExtractable) }
            + items.publicKeys.map { $0.newItem(in: group) }
            + items.certificates.map { $0.content.newItem(in: group) }
        try naming(function) { () throws(KeychainError) in
            let engine = try call.session.engine
            try call.session.unlocking { () throws(KeychainError) in
                try engine.transaction(as: queries[0]) { (requests) throws(KeychainError) in
                    for query in queries { try add(query, requests, items.isPKCS12) }
                }
            }
        }
    }

    private static func add(
        _ query: Query, _ requests: Requests, _ isPKCS12: Bool
    ) throws(KeychainError) {
        do throws(KeychainError) {
            try requests.add(query, accessGroups: .unrestricted)
        } catch {
            // Files with an identity often have the same certificates of issuers.
            let isAllowed = isPKCS12 && query.itemClass == .certificate
            guard isAllowed, error.reason == .duplicateItem else { throw error }
        }
    }

    private static func report(_ items: KeyFileContent) throws(SecurityFailure) {
        let labels = items.certificates.map(\.content.publicKeyHash)
        let identities = items.privateKeys.filter { labels.contains($0.content.publicKey.applicationLabel) }.count
        let keys = items.privateKeys.count - identities + items.publicKeys.count
        let certificates = items.certificates.count - identities
        let lines = [
            (identities, "identity", "identities"), (keys, "key", "keys"),
            (certificates, "certificate", "certificates"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2) imported.\n" }
        try naming("write") { () throws(KeychainError) in
            try Output.write(lines.joined(), after: "The items were imported.")
        }
    }
}
