// SPDX-License-Identifier: Apache-2.0
// An export that is read again: which kind of file it is, and the key that opens it.

import Crypto
import Foundation
import KeychainKit
import SecretMemory

final class ArchiveFile {
    let path: String
    private let descriptor: Int32
    /// `nil` for a file in clear text.
    let header: AgeHeader?
    private var fileKey: SymmetricKey?

    /// Opens the file and reads its header.
    ///
    /// - Throws: `unavailable` if there is none, `unsafeLocation` for what is not a regular file, `corrupt`,
    ///   `unsupported` for a file with armor.
    init(_ path: String) throws(KeychainError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .archiveFile("open", path) }
        do throws(KeychainError) {
            header = try Self.header(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    private static func header(_ descriptor: Int32, _ path: String) throws(KeychainError) -> AgeHeader? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .archiveFile("look at", path) }
        // The file is read twice: to show what will happen, and to do it.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(.unsafeLocation, "'\(path)' is not a regular file. Copy the export into a file first.")
        }
        var bytes = FileBytes(descriptor, path)
        let start = try bytes.next(AgeHeader.longest)
        if start.first == UInt8(ascii: "{") { return nil }
        guard !start.starts(with: Data("-----BEGIN AGE ENCRYPTED FILE-----".utf8)) else {
            throw KeychainError(
                .unsupported, "'\(path)' is an age file as text (armor). Encrypt it again without: age --armor")
        }
        return try AgeHeader(startOf: start)
    }

    /// Whether a passphrase opens it.
    var takesPassphrase: Bool { header?.stanzas.contains { $0.arguments[0] == AgePassphrase.kind } ?? false }

    /// - Throws: `authenticationFailed` if none of them opens it.
    func unlock(with identities: [AgeIdentity]) throws(KeychainError) {
        for stanza in header?.stanzas ?? [] {
            for identity in identities {
                guard let key = identity.unwrap(stanza) else { continue }
                return try accept(key)
            }
        }
        throw KeychainError(
            .authenticationFailed,
            "None of the identities opens '\(path)', or the file is damaged. Nothing was changed.")
    }

    /// - Throws: `authenticationFailed` for a wrong passphrase.
    func unlock(with passphrase: AgePassphrase) throws(KeychainError) {
        // With a second way to open the file, its author would not have to know the passphrase.
        guard let header, header.stanzas.count == 1, let stanza = header.stanzas.first else {
            throw .damagedArchive("its header has a passphrase and something else")
        }
        guard let key = try passphrase.unwrap(stanza) else {
            throw KeychainError(
                .authenticationFailed,
                "The passphrase does not open '\(path)', or the file is damaged. Nothing was changed.")
        }
        try accept(key)
    }

    private func accept(_ key: SymmetricKey) throws(KeychainError) {
        try header?.check(key)
        fileKey = key
    }

    /// All items from the first one on. Every reading checks the whole file again.
    func reading() throws(KeychainError) -> ArchiveReading {
        var bytes = FileBytes(descriptor, path)
        guard let header else { return try ArchiveReading(ClearSource(bytes)) }
        guard let fileKey else { throw KeychainError(.locked, "'\(path)' was not opened.") }
        bytes.skip(header.bytes.count)
        return try ArchiveReading(try SealedSource(bytes, fileKey: fileKey))
    }
}
