// SPDX-License-Identifier: Apache-2.0
// Files with recipients or identities, as `age-keygen` writes them: one on each line, and comments.

import Foundation
import KeychainKit

enum AgeKeyFiles {
    private static let longest = 1 << 20
    private static let most = 1000

    /// - Throws: `invalidParameter` for a line that is not an X25519 recipient. The line is not quoted: it may be secret.
    static func recipients(_ path: String) throws(KeychainError) -> [AgeRecipient] {
        try lines(path, "recipient") { line in AgeRecipient(line) }
    }

    static func identities(_ path: String) throws(KeychainError) -> [AgeIdentity] {
        try lines(path, "identity") { line in AgeIdentity(line) }
    }

    private static func lines<Key>(
        _ path: String, _ word: String, _ parse: (Data) -> Key?
    ) throws(KeychainError) -> [Key] {
        var content = try content(path)
        defer { content.wipe() }
        var keys: [Key] = []
        for (index, line) in content.split(separator: UInt8(ascii: "\n")).enumerated() {
            var line = line
            while let last = line.last, last == 0x0D || last == 0x20 { line.removeLast() }
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            guard let key = parse(line) else {
                throw KeychainError(
                    .invalidParameter,
                    "'\(path)' has a line (the \(index + 1). that is not empty) that is not an X25519 \(word) of age. "
                        + "Keys of SSH and of plugins are not supported.")
            }
            keys.append(key)
            guard keys.count <= most else {
                throw KeychainError(.tooLarge, "'\(path)' has more than \(most) keys.")
            }
        }
        guard !keys.isEmpty else { throw KeychainError(.invalidParameter, "'\(path)' has no \(word).") }
        return keys
    }

    /// It may be a pipe, so that an identity need not be in a file.
    private static func content(_ path: String) throws(KeychainError) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .archiveFile("open", path) }
        defer { close(descriptor) }
        var (content, filled) = (Data(count: longest + 1), 0)
        while filled < content.count {
            let rest = content.count - filled
            let got = content.withUnsafeMutableBytes { read(descriptor, $0.baseAddress.map { $0 + filled }, rest) }
            if got == 0 { break }
            guard got > 0 || errno == EINTR else { throw .archiveFile("read", path) }
            filled += max(0, got)
        }
        guard filled <= longest else { throw KeychainError(.tooLarge, "'\(path)' is too long for a file with keys.") }
        content.removeLast(content.count - filled)
        return content
    }
}
