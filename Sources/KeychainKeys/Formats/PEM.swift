// SPDX-License-Identifier: Apache-2.0
// The text form of keys and certificates (RFC 7468): blocks of Base64 between two lines.

import Foundation
public import SecretMemory

/// One block of a PEM text.
struct PEMBlock {
    let label: String
    let content: SecretBytes

    /// Longer text is rejected, in bytes.
    static let lengthLimit = 16 << 20
    /// More blocks are rejected: secret memory is not intended for many thousands of them.
    static let countLimit = 2000

    /// All blocks of a text. Text between blocks is ignored.
    static func all(in text: SecretBytes) throws(KeyFailure) -> [PEMBlock] {
        guard text.count <= lengthLimit else { throw .limitExceeded("PEM text") }
        return try text.withUnsafeBytes { (bytes) throws(KeyFailure) in
            var lines = Lines(bytes)
            var blocks: [PEMBlock] = []
            while let label = lines.skipToBegin() {
                guard blocks.count < countLimit else { throw .limitExceeded("blocks of a PEM text") }
                blocks.append(PEMBlock(label: label, content: try lines.content(label)))
            }
            return blocks
        }
    }

    /// The text of one block.
    static func text(_ label: String, _ content: SecretBytes) -> SecretBytes {
        func line(_ text: String) -> SecretBytes { Array(text.utf8).withUnsafeBytes { SecretBytes(copying: $0) } }
        return .joining([
            line("-----BEGIN \(label)-----\n"), Base64.encodeLines(content), line("-----END \(label)-----\n"),
        ])
    }
}

/// The lines of a text, one after the other.
private struct Lines {
    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
    /// The header of encryption from before PKCS#8.
    private static let procType = Array("Proc-Type:".utf8)
    private let text: UnsafeRawBufferPointer
    private var position = 0

    /// Some editors put a mark before a text in UTF-8; with it the first line would not begin a block.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(_ text: UnsafeRawBufferPointer) {
        self.text = text
        if text.starts(with: Self.byteOrderMark) { position = Self.byteOrderMark.count }
    }

    /// The next line without its line end and without trailing spaces.
    private mutating func next() -> Range<Int>? {
        guard position < text.count else { return nil }
        let start = position
        let end = text[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.count
        position = min(end + 1, text.count)
        let last = text[start..<end].lastIndex { !Base64.isSpace($0) }
        return start..<(last.map { $0 + 1 } ?? start)
    }

    /// The label of the next line that begins a block; `nil` if there is none.
    mutating func skipToBegin() -> String? {
        while let line = next() {
            if let label = label(line, Self.begin) { return label }
        }
        return nil
    }

    /// The label between a beginning and five dashes. It is not secret. No other part of the text becomes a string.
    private func label(_ line: Range<Int>, _ head: [UInt8]) -> String? {
        let label = line.dropFirst(head.count).dropLast(Self.dashes.count)
        guard text[line].starts(with: head), !label.isEmpty, label.count <= 64,
            text[line].suffix(Self.dashes.count).elementsEqual(Self.dashes)
        else { return nil }
        return String(decoding: text[label], as: UTF8.self)
    }

    /// The Base64 up to the end of the block.
    mutating func content(_ label: String) throws(KeyFailure) -> SecretBytes {
        let start = position
        while let line = next() {
            if let end = self.label(line, Self.end) {
                guard end == label, let content = Base64.decode(.init(rebasing: text[start..<line.lowerBound])) else {
                    throw .malformed("PEM")
                }
                return content
            }
            guard !text[line].contains(UInt8(ascii: ":")) else {
                throw text[line].starts(with: Self.procType)
                    ? .headerEncryption : .unsupportedAlgorithm("PEM with headers")
            }
        }
        throw .malformed("PEM")
    }
}

extension PrivateKey {
    /// The first private key of a PEM text.
    ///
    /// - Parameter passphrase: UTF-8; only read for an encrypted key.
    /// - Throws: `KeyFailure.malformed` if there is none.
    public init(pem text: SecretBytes, passphrase: SecretBytes? = nil) throws(KeyFailure) {
        for block in try PEMBlock.all(in: text) where block.label.hasSuffix("PRIVATE KEY") {
            self = try PrivateKey(block, passphrase: passphrase)
            return
        }
        throw .malformed("PEM private key")
    }

    init(_ block: PEMBlock, passphrase: SecretBytes?) throws(KeyFailure) {
        guard block.label != "OPENSSH PRIVATE KEY" else {
            self = try PrivateKey(openSSH: block.content, passphrase: passphrase)
            return
        }
        try self.init(der: block.content, passphrase: passphrase)
    }

    /// A PEM text of the key in PKCS#8, encrypted if there is a passphrase.
    public func pem(passphrase: SecretBytes? = nil, rounds: Int = PrivateKey.defaultRounds) throws(KeyFailure)
        -> SecretBytes
    {
        guard let passphrase else { return PEMBlock.text("PRIVATE KEY", try pkcs8()) }
        let encrypted = try encryptedPKCS8(passphrase: passphrase, rounds: rounds)
        return PEMBlock.text(
            "ENCRYPTED PRIVATE KEY", encrypted.withUnsafeBytes { SecretBytes(copying: $0) })
    }
}

extension PublicKey {
    /// The first public key of a PEM text.
    public init(pem text: SecretBytes) throws(KeyFailure) {
        for block in try PEMBlock.all(in: text) where block.label.hasSuffix("PUBLIC KEY") {
            self = try PublicKey(der: block.content.withUnsafeBytes { [UInt8]($0) })
            return
        }
        throw .malformed("PEM public key")
    }

    /// A PEM text of SubjectPublicKeyInfo.
    public var pem: String {
        let der = subjectPublicKeyInfo.withUnsafeBytes { SecretBytes(copying: $0) }
        return PEMBlock.text("PUBLIC KEY", der).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
