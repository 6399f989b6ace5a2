// SPDX-License-Identifier: Apache-2.0
// seal and open, wrap and unwrap: AES-256-GCM with the location of the blob as associated data.

import Crypto
public import Foundation
public import SecretMemory

/// A sealed blob could not be opened: it was changed, moved, or sealed with another key; or the cipher failed to seal.
/// It contains nothing about the content.
public struct CipherFailure: Error, Equatable, Sendable {
    public init() {}
}

/// Authenticated encryption of data and keys (AES-256-GCM, NIST SP 800-38D; suite 1 of Docs/FORMAT.md).
///
/// Nonces are 96 random bits, so one long-lived key may seal about 2^32 times before a repeated nonce becomes likely
/// enough to matter. Each version of a value has its own key; metadata and wraps count for the class key.
public enum Sealing {
    /// The overhead of sealing: nonce before, tag after.
    public static let overhead = 12 + 16
    /// A wrapped 256-bit key.
    public static let wrappedKeyLength = 32 + overhead

    /// nonce ‖ ciphertext ‖ tag.
    ///
    /// - Parameter random: The source of the nonce; `nil`: directly from the kernel.
    public static func seal(
        _ plaintext: [UInt8], with key: SecretBytes, _ place: AssociatedData, _ random: RandomBatch? = nil
    ) throws(CipherFailure) -> Data {
        try seal(plaintext, symmetric(key), place.bytes, random)
    }

    public static func open(_ sealed: Data, with key: SecretBytes, _ place: AssociatedData) throws(CipherFailure)
        -> Data
    {
        try open(sealed, symmetric(key), place.bytes)
    }

    /// Wraps a 256-bit key; `context` is the associated data.
    public static func wrap(_ secret: SecretBytes, under key: SecretBytes, context: [UInt8]) throws(CipherFailure)
        -> Data
    {
        try seal(secret, under: key, context: context)
    }

    public static func unwrap(_ wrapped: Data, with key: SecretBytes, context: [UInt8]) throws(CipherFailure)
        -> SecretBytes
    {
        guard wrapped.count == wrappedKeyLength else { throw CipherFailure() }
        return try open(wrapped, with: key, context: context)
    }

    /// Seals secret bytes of any length; `context` is the associated data.
    public static func seal(_ plaintext: SecretBytes, under key: SecretBytes, context: [UInt8]) throws(CipherFailure)
        -> Data
    {
        try plaintext.withUnsafeBytes { (bytes) throws(CipherFailure) in
            try seal(bytes, symmetric(key), context)
        }
    }

    /// Opens the result of `seal(_:under:context:)`.
    public static func open(_ sealed: Data, with key: SecretBytes, context: [UInt8]) throws(CipherFailure)
        -> SecretBytes
    {
        guard sealed.count > overhead else { throw CipherFailure() }
        var opened = try open(sealed, symmetric(key), context)
        defer { opened.wipe() }
        return opened.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    /// Seals with a fresh one-time key, which `wrappingKey` wraps: wrapped key ‖ nonce ‖ ciphertext ‖ tag.
    ///
    /// So a value can get further layers, or another class key, without being sealed again.
    ///
    /// - Parameter random: The source of the key and the nonces; `nil`: directly from the kernel.
    public static func sealWithOneTimeKey(
        _ plaintext: [UInt8], wrappingKey: SecretBytes, keyPlace: AssociatedData, _ place: AssociatedData,
        _ random: RandomBatch? = nil
    ) throws(CipherFailure) -> Data {
        var raw = Data.random(count: 32, random)
        defer { raw.wipe() }
        let oneTimeKey = raw.withUnsafeBytes { SymmetricKey(data: $0) }
        let wrapped = try seal(oneTimeKey, symmetric(wrappingKey), keyPlace.bytes, random)
        return wrapped + (try seal(plaintext, oneTimeKey, place.bytes, random))
    }

    public static func openWithOneTimeKey(
        _ sealed: Data, wrappingKey: SecretBytes, keyPlace: AssociatedData, _ place: AssociatedData
    ) throws(CipherFailure) -> Data {
        try SeriesOpening().openWithOneTimeKey(sealed, wrappingKey: wrappingKey, keyPlace: keyPlace, place)
    }

    // MARK: - The two calls into the cipher

    static func seal<Plaintext: ContiguousBytes>(
        _ plaintext: Plaintext, _ key: SymmetricKey, _ aad: [UInt8], _ random: RandomBatch? = nil
    ) throws(CipherFailure) -> Data {
        defer { scrubCipher() }
        do {
            let nonce = try AES.GCM.Nonce(data: Data.random(count: 12, random))
            let box = try plaintext.withUnsafeBytes { plaintext in
                try aad.withUnsafeBytes { try AES.GCM.seal(plaintext, using: key, nonce: nonce, authenticating: $0) }
            }
            guard let combined = box.combined else { throw CipherFailure() }
            return combined
        } catch {
            throw CipherFailure()
        }
    }

    static func open(_ sealed: Data, _ key: SymmetricKey, _ aad: [UInt8]) throws(CipherFailure) -> Data {
        defer { scrubCipher() }
        return try opened(sealed, key, aad)
    }

    fileprivate static func opened(
        _ sealed: Data, _ key: SymmetricKey, _ aad: [UInt8]
    ) throws(CipherFailure) -> Data {
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            return try aad.withUnsafeBytes { try AES.GCM.open(box, using: key, authenticating: $0) }
        } catch {
            throw CipherFailure()
        }
    }

    /// Overwrites the object with the library's key schedule, which begins with the key itself. It is freed without
    /// being wiped, since BoringSSL does not wipe AES-GCM state. The object has 592 bytes, including the header.
    ///
    /// The allocator may have merged the block with a neighbour; then the next block of that size comes from there.
    fileprivate static func scrubCipher() {
        for size in [592, 608] { scrubFreedBlocks(of: size, count: 8) }
    }
}

/// Opens many blobs one after another. The key schedule is computed once for consecutive blobs with the same key, and
/// the residue of the cipher is overwritten once, on release.
///
/// Use it on one thread, and within one call.
public final class SeriesOpening {
    private var last: (secret: SecretBytes, key: SymmetricKey)?

    public init() {}

    public func open(_ sealed: Data, with secret: SecretBytes, _ place: AssociatedData) throws(CipherFailure) -> Data {
        if let last, last.secret === secret { return try Sealing.opened(sealed, last.key, place.bytes) }
        let key = symmetric(secret)
        last = (secret, key)
        return try Sealing.opened(sealed, key, place.bytes)
    }

    /// Opens the result of `Sealing.sealWithOneTimeKey`.
    public func openWithOneTimeKey(
        _ sealed: Data, wrappingKey: SecretBytes, keyPlace: AssociatedData, _ place: AssociatedData
    ) throws(CipherFailure) -> Data {
        guard sealed.count >= Sealing.wrappedKeyLength else { throw CipherFailure() }
        let cut = sealed.startIndex + Sealing.wrappedKeyLength
        var raw = try open(sealed[..<cut], with: wrappingKey, keyPlace)
        defer { raw.wipe() }
        let oneTimeKey = raw.withUnsafeBytes { SymmetricKey(data: $0) }
        return try Sealing.opened(sealed[cut...], oneTimeKey, place.bytes)
    }

    deinit {
        last = nil
        Sealing.scrubCipher()
    }
}

/// A key for one call; its storage wipes itself.
func symmetric(_ secret: SecretBytes) -> SymmetricKey {
    secret.withUnsafeBytes { SymmetricKey(data: $0) }
}

extension [UInt8] {
    /// Overwrites the bytes; other copies of this value are unchanged.
    public mutating func wipe() {
        withUnsafeMutableBytes { wipeMemory($0) }
    }
}

extension Data {
    /// Bytes from the kernel's generator.
    ///
    /// - Parameter batch: The source of the bytes; `nil`: directly from the kernel.
    public static func random(count: Int, _ batch: RandomBatch? = nil) -> Data {
        var bytes = Data(count: count)
        bytes.withUnsafeMutableBytes { bytes in
            if let batch { batch.fill(bytes) } else { fillWithRandomBytes(bytes) }
        }
        return bytes
    }

    /// Overwrites the bytes; other copies of this value are unchanged.
    public mutating func wipe() {
        withUnsafeMutableBytes { wipeMemory($0) }
    }
}
