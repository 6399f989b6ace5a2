// SPDX-License-Identifier: Apache-2.0
// The hash functions of key algorithms.

import Crypto
import Foundation

/// A hash function of an algorithm.
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

/// The common interface of the hash functions. Called on a type that is only known at run time.
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
    /// For RSA, swift-crypto only signs values of its own digest types, and has no public initializer for them. Their
    /// memory begins with the bytes of the digest, which is checked.
    static func digest(_ bytes: [UInt8]) -> Digest? {
        var digest = hash(data: [UInt8]())
        guard bytes.count == Digest.byteCount, bytes.count <= MemoryLayout<Digest>.size else { return nil }
        withUnsafeMutableBytes(of: &digest) { $0.copyBytes(from: bytes) }
        return digest.elementsEqual(bytes) ? digest : nil
    }
}
