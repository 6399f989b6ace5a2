// SPDX-License-Identifier: Apache-2.0
// Files that are read whole, up to a limit.

import Foundation
import KeychainKit

enum InputFile {
    private static let chunkSize = 1 << 16

    /// The bytes of a file, a pipe or a device.
    static func read(_ path: String, limit: Int) throws(KeychainError) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        return try read(descriptor, name: "'\(path)'", limit: limit)
    }

    /// - Throws: `tooLarge` before more than the limit is kept.
    static func read(_ descriptor: Int32, name: String, limit: Int) throws(KeychainError) -> Data {
        var chunks: [Data] = []
        defer { for index in chunks.indices { chunks[index].wipe() } }
        var count = 0
        while let chunk = try nextChunk(descriptor, name) {
            chunks.append(chunk)
            count += chunk.count
            guard count <= limit else {
                throw KeychainError(.tooLarge, "Could not read \(name): it is longer than \(limit) bytes.")
            }
        }
        // One buffer of the right size: a growing one would leave copies behind.
        var bytes = Data(capacity: count)
        for chunk in chunks { bytes.append(chunk) }
        return bytes
    }

    private static func nextChunk(_ descriptor: Int32, _ name: String) throws(KeychainError) -> Data? {
        var chunk = Data(count: chunkSize)
        while true {
            let count = chunk.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count == 0 { return nil }
            if count > 0 {
                chunk.removeLast(chunkSize - count)
                return chunk
            }
            if code == EAGAIN {
                Output.wait(for: descriptor, POLLIN)
            } else if code != EINTR {
                throw failure(name, code)
            }
        }
    }

    private static func failure(_ name: String, _ code: Int32) -> KeychainError {
        let reason: KeychainError.Reason = code == ENOENT || code == EACCES ? .unavailable : .inputOutput
        return KeychainError(reason, "Could not read \(name): \(String(cString: strerror(code))).")
    }
}
