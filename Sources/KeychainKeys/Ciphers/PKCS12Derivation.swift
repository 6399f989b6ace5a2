// SPDX-License-Identifier: Apache-2.0
// The key derivation of PKCS#12 (RFC 7292, appendix B), and its encoding of the passphrase.

import Crypto
import Foundation
import SecretMemory

/// A passphrase in the two encodings of PKCS#12.
struct PKCS12Passphrase {
    let utf8: SecretBytes
    /// UTF-16, big-endian, with a zero character at the end.
    let utf16: SecretBytes

    /// - Throws: `KeyFailure.wrongPassphrase` for bytes that are not UTF-8.
    init(_ utf8: SecretBytes) throws(KeyFailure) {
        var count = 0
        var isText = true
        let buffer = SecretBytes(count: 2 * utf8.count + 2) { target in
            var decoder = UTF8()
            utf8.withUnsafeBytes { bytes in
                var iterator = bytes.makeIterator()
                while case .scalarValue(let scalar) = decoder.decode(&iterator) {
                    for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
                        target.storeBytes(of: unit.bigEndian, toByteOffset: count, as: UInt16.self)
                        count += 2
                    }
                }
                isText = String(validating: bytes, as: UTF8.self) != nil
            }
        }
        guard isText else { throw .wrongPassphrase }
        (self.utf8, utf16) = (utf8, SecretSlice(buffer).prefix(count + 2).copy)
    }

    private init(utf8: SecretBytes, utf16: SecretBytes) { (self.utf8, self.utf16) = (utf8, utf16) }

    /// Alternative encodings of other programs: some encode an empty passphrase as no bytes, without the zero
    /// character.
    var alternatives: [PKCS12Passphrase] {
        utf8.count > 0 ? [self] : [self, PKCS12Passphrase(utf8: utf8, utf16: utf8)]
    }
}

/// The derivation with the parameters of a file.
struct PKCS12Derivation {
    /// The purpose of the derived bytes.
    enum Purpose: UInt8 {
        case key = 1
        case initializationVector = 2
        case authentication = 3
    }

    let hash: KeyHash
    let salt: [UInt8]
    let rounds: Int

    func bytes(_ purpose: Purpose, _ passphrase: PKCS12Passphrase, count: Int) -> SecretBytes {
        defer { scrubResidue() }
        var result = hash.function.pkcs12(self, purpose, passphrase.utf16, count)
        return SecretBytes(moving: &result)
    }
}

extension KeyHashFunction {
    fileprivate static func pkcs12(
        _ derivation: PKCS12Derivation, _ purpose: PKCS12Derivation.Purpose, _ passphrase: SecretBytes, _ count: Int
    ) -> [UInt8] {
        let diversifier = [UInt8](repeating: purpose.rawValue, count: blockByteCount)
        var input = passphrase.withUnsafeBytes { filled(derivation.salt) + filled([UInt8]($0)) }
        defer { input.withUnsafeMutableBytes { wipeMemory($0) } }
        var result: [UInt8] = []
        while result.count < count {
            let block = repeatedHash(diversifier + input, derivation.rounds)
            result += block
            add(block, to: &input)
        }
        return [UInt8](result.prefix(count))
    }

    /// Repeats bytes up to a multiple of the block length.
    private static func filled(_ bytes: [UInt8]) -> [UInt8] {
        let length = (bytes.count + blockByteCount - 1) / blockByteCount * blockByteCount
        return (0..<length).map { bytes[$0 % bytes.count] }
    }

    private static func repeatedHash(_ input: [UInt8], _ rounds: Int) -> [UInt8] {
        var digest = hash(data: input)
        for _ in 1..<max(1, rounds) {
            var next = Self()
            digest.withUnsafeBytes { next.update(bufferPointer: $0) }
            digest = next.finalize()
        }
        return Array(digest)
    }

    /// Adds the repeated block and one to each block of the input, as big-endian numbers.
    private static func add(_ block: [UInt8], to input: inout [UInt8]) {
        for start in stride(from: 0, to: input.count, by: blockByteCount) {
            var carry = 1
            for index in (0..<blockByteCount).reversed() {
                let sum = Int(input[start + index]) + Int(block[index % block.count]) + carry
                input[start + index] = UInt8(truncatingIfNeeded: sum)
                carry = sum >> 8
            }
        }
    }
}
