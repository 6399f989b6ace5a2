// SPDX-License-Identifier: Apache-2.0
// The key derivation of OpenSSH's private keys: PBKDF2 with bcrypt instead of HMAC.

import Crypto
import Foundation
import SecretMemory

/// `bcrypt_pbkdf` with the parameters of a file.
struct BcryptDerivation {
    let salt: [UInt8]
    let rounds: Int

    /// `ssh-keygen` uses 16 or 24. Each takes some milliseconds.
    private static let allowedRounds = 1...512

    init(salt: [UInt8], rounds: Int) throws(KeyFailure) {
        guard Self.allowedRounds.contains(rounds) else { throw .limitExceeded("rounds of the key derivation") }
        guard DerivationLimits.salt.contains(salt.count) else { throw .limitExceeded("salt of the key derivation") }
        (self.salt, self.rounds) = (salt, rounds)
    }

    /// Blocks of 32 bytes, whose bytes are distributed over the key at a fixed distance.
    func key(_ passphrase: SecretBytes, count: Int) -> SecretBytes {
        defer { scrubResidue() }
        var passphrase = passphrase.withUnsafeBytes { Array(SHA512.hash(bufferPointer: $0)) }
        defer { passphrase.withUnsafeMutableBytes { wipeMemory($0) } }
        let blocks = (count + 31) / 32
        var key = [UInt8](repeating: 0, count: count)
        for block in 0..<blocks {
            let bytes = self.block(block + 1, passphrase)
            for (index, byte) in bytes.enumerated() where index * blocks + block < count {
                key[index * blocks + block] = byte
            }
        }
        return SecretBytes(moving: &key)
    }

    private func block(_ number: Int, _ passphrase: [UInt8]) -> [UInt8] {
        var last = Self.hash(passphrase, salt + withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) })
        var result = last
        for _ in 1..<rounds {
            last = Self.hash(passphrase, last)
            for index in result.indices { result[index] ^= last[index] }
        }
        return result
    }

    private static func hash(_ passphrase: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        let salt = Array(SHA512.hash(data: salt))
        var state = Blowfish()
        defer { state.wipe() }
        state.expand(key: passphrase, data: salt)
        for _ in 0..<64 {
            state.expand(key: salt)
            state.expand(key: passphrase)
        }
        var words = text
        for _ in 0..<64 { state.encrypt(&words) }
        return words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
    }

    /// The constant plaintext that is encrypted.
    private static let text: [UInt32] = {
        let bytes = Array("OxychromaticBlowfishSwatDynamite".utf8)
        return stride(from: 0, to: bytes.count, by: 4).map {
            bytes[$0..<$0 + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }()
}

extension SHA512 {
    fileprivate static func hash(bufferPointer: UnsafeRawBufferPointer) -> SHA512Digest {
        var function = SHA512()
        function.update(bufferPointer: bufferPointer)
        return function.finalize()
    }
}
