// SPDX-License-Identifier: Apache-2.0
// The encoding of the SSH protocol (RFC 4251), in files of keys and in messages to an SSH agent.

package import Foundation
package import SecretMemory

/// Reads bytes, numbers and strings, which may be secret.
package struct SSHReader {
    static let format = "OpenSSH private key"
    private var rest: SecretSlice

    package init(_ bytes: SecretBytes) { self.init(SecretSlice(bytes)) }

    init(_ bytes: SecretSlice) { rest = bytes }

    package var isAtEnd: Bool { rest.isEmpty }

    package mutating func byte() throws(KeyFailure) -> UInt8 {
        let byte = try take(1)
        return byte[byte.startIndex]
    }

    package mutating func number() throws(KeyFailure) -> Int { try take(4).reduce(0) { $0 << 8 | Int($1) } }

    mutating func string() throws(KeyFailure) -> SecretSlice { try take(number()) }

    /// A string that is public.
    package mutating func data() throws(KeyFailure) -> Data { try string().withUnsafeBytes { Data($0) } }

    /// A string that is secret.
    package mutating func secret() throws(KeyFailure) -> SecretBytes { try string().copy }

    /// A name, which is public.
    mutating func text() throws(KeyFailure) -> String {
        let bytes = try string()
        guard bytes.count <= 64, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformed(Self.format)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A number that is not negative, without the zero byte of the sign.
    mutating func integer() throws(KeyFailure) -> SecretSlice {
        let bytes = try string()
        guard bytes.first.map({ $0 < 0x80 }) ?? false else { throw .malformed(Self.format) }
        return bytes.first == 0 ? bytes.dropFirst() : bytes
    }

    mutating func take(prefix: String) -> Bool {
        guard rest.starts(with: prefix.utf8) else { return false }
        rest = rest.dropFirst(prefix.utf8.count)
        return true
    }

    private mutating func take(_ count: Int) throws(KeyFailure) -> SecretSlice {
        guard count <= rest.count else { throw .malformed(Self.format) }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    func finish() throws(KeyFailure) {
        guard rest.isEmpty else { throw .malformed(Self.format) }
    }

    /// The bytes 1, 2, 3 … up to a block of the cipher.
    func finishPadding() throws(KeyFailure) {
        guard rest.count < 16, rest.elementsEqual((0..<rest.count).map { UInt8($0 + 1) }) else {
            throw .malformed(Self.format)
        }
    }
}
