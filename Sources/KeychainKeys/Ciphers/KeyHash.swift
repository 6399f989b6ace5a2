// SPDX-License-Identifier: Apache-2.0
// The hash functions of key algorithms.

import Crypto
import Foundation

/// A hash function that algorithms name.
public enum KeyHash: Int, Hashable, Sendable, CaseIterable {
    case sha1 = 1
    case sha224 = 224
    case sha256 = 256
    case sha384 = 384
    case sha512 = 512

    public var byteCount: Int { self == .sha1 ? 20 : rawValue / 8 }

    var function: any KeyHashFunction.Type {
        switch self {
        case .sha1: Insecure.SHA1.self
        case .sha224: SHA224.self
        case .sha256: SHA256.self
        case .sha384: SHA384.self
        case .sha512: SHA512.self
        }
    }

    func digest(_ data: some DataProtocol) -> [UInt8] { function.bytes(hashing: data) }
}

/// What is the same for all hash functions. Called on a type that is only known at run time.
protocol KeyHashFunction: HashFunction {}

extension Insecure.SHA1: KeyHashFunction {}
extension SHA224: KeyHashFunction {}
extension SHA256: KeyHashFunction {}
extension SHA384: KeyHashFunction {}
extension SHA512: KeyHashFunction {}

extension KeyHashFunction {
    static func bytes(hashing data: some DataProtocol) -> [UInt8] { Array(hash(data: data)) }

    /// The digest with these bytes.
    ///
    /// swift-crypto signs with RSA only values of its own types of digests, and has no public way to make one of bytes. They
    /// begin with the bytes, which is checked.
    static func digest(_ bytes: [UInt8]) -> Digest? {
        var digest = hash(data: [UInt8]())
        guard bytes.count == Digest.byteCount, bytes.count <= MemoryLayout<Digest>.size else { return nil }
        withUnsafeMutableBytes(of: &digest) { $0.copyBytes(from: bytes) }
        return digest.elementsEqual(bytes) ? digest : nil
    }
}
