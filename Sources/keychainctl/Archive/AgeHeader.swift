// SPDX-License-Identifier: Apache-2.0
// The header of an age file: who can open it, and a MAC over that.

import Crypto
import Foundation
import KeychainKit

/// One way to get the file key: its kind and arguments, and the wrapped key.
struct AgeStanza: Equatable {
    let arguments: [String]
    let body: Data

    fileprivate static let columns = 64

    fileprivate var text: String {
        let base64 = Array(body.unpaddedBase64.utf8)
        var lines = stride(from: 0, to: base64.count, by: Self.columns).map { start in
            String(decoding: base64[start..<min(start + Self.columns, base64.count)], as: UTF8.self)
        }
        // A line that is not full ends the body.
        if base64.count % Self.columns == 0 { lines.append("") }
        return (["-> " + arguments.joined(separator: " ")] + lines).joined(separator: "\n") + "\n"
    }
}

/// The header of version 1 (https://c2sp.org/age): text lines, the last one with a MAC that only the file key gives.
struct AgeHeader {
    private static let version = "age-encryption.org/v1"
    private static let end = "---"
    /// Checked before anything else. 1000 recipients need a tenth of it.
    static let longest = 1 << 20
    private static let mostStanzas = 4096

    let stanzas: [AgeStanza]
    /// All bytes of the header.
    let bytes: Data
    private let mac: Data

    /// A header for a new file.
    init(_ stanzas: [AgeStanza], fileKey: SymmetricKey) {
        let text = Self.version + "\n" + stanzas.map(\.text).joined() + Self.end
        mac = Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: Self.macKey(fileKey)))
        bytes = Data((text + " " + mac.unpaddedBase64 + "\n").utf8)
        self.stanzas = stanzas
    }

    /// Reads a header.
    ///
    /// - Parameter start: The beginning of the file, at least ``longest`` bytes of it if it has as many.
    /// - Throws: `corrupt`, `unsupported` for a file as text (armor).
    init(startOf start: Data) throws(KeychainError) {
        guard start.starts(with: Data((Self.version + "\n").utf8)) else {
            throw .damagedArchive("it does not begin as an age file does")
        }
        var lines = HeaderLines(start)
        _ = try lines.next()
        var stanzas: [AgeStanza] = []
        while true {
            let line = try lines.next()
            if line.hasPrefix(Self.end + " ") {
                guard let mac = Data(unpaddedBase64: line.dropFirst(Self.end.count + 1)), mac.count == 32 else { break }
                (self.stanzas, self.mac, bytes) = (stanzas, mac, lines.read)
                guard !stanzas.isEmpty else { break }
                return
            }
            guard stanzas.count < Self.mostStanzas else { break }
            stanzas.append(try lines.stanza(line))
        }
        throw .damagedArchive("its header is malformed")
    }

    /// - Throws: `corrupt` if the header was changed since it was written.
    func check(_ fileKey: SymmetricKey) throws(KeychainError) {
        let signed = bytes.prefix(bytes.count - mac.unpaddedBase64.utf8.count - 2)
        guard HMAC<SHA256>.isValidAuthenticationCode(mac, authenticating: signed, using: Self.macKey(fileKey)) else {
            throw .damagedArchive("its header was changed")
        }
    }

    private static func macKey(_ fileKey: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: fileKey, salt: Data(), info: Data("header".utf8), outputByteCount: 32)
    }
}

/// The lines of a header, each checked as it is read.
private struct HeaderLines {
    private let start: Data
    private var position: Data.Index

    init(_ start: Data) {
        self.start = start.prefix(AgeHeader.longest)
        position = self.start.startIndex
    }

    var read: Data { Data(start[start.startIndex..<position]) }

    mutating func next() throws(KeychainError) -> String {
        let rest = start[position...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            throw .damagedArchive("its header does not end")
        }
        guard rest[..<end].allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .damagedArchive("its header is malformed")
        }
        position = end + 1
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// - Parameter line: The first line of the stanza.
    mutating func stanza(_ line: String) throws(KeychainError) -> AgeStanza {
        let words = line.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        let arguments = words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
        guard line.hasPrefix("-> "), !arguments.isEmpty, !arguments.contains("") else {
            throw .damagedArchive("its header is malformed")
        }
        var body = Data()
        while true {
            let part = try next()
            guard part.utf8.count <= AgeStanza.columns, let bytes = Data(unpaddedBase64: part) else {
                throw .damagedArchive("its header is malformed")
            }
            body += bytes
            if part.utf8.count < AgeStanza.columns { return AgeStanza(arguments: arguments, body: body) }
        }
    }
}

extension Data {
    /// Base64 without the characters that fill it up.
    var unpaddedBase64: String {
        let padded = base64EncodedString()
        return String(decoding: padded.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    }

    /// - Returns: `nil` for anything but the one encoding of some bytes.
    init?(unpaddedBase64 text: some StringProtocol) {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: String(text) + padding), bytes.unpaddedBase64 == String(text) else {
            return nil
        }
        self = bytes
    }
}
