// SPDX-License-Identifier: Apache-2.0
// derive, from what the user remembers: scrypt.

import Crypto
import CryptoExtras
public import Foundation
public import SecretMemory

/// Why a derivation from a passphrase failed. It contains nothing about the passphrase.
public enum PassphraseFailure: Error, Equatable, Sendable {
    case empty
    /// More than 1024 bytes.
    case tooLong
    /// Not UTF-8.
    case notText
    /// The cost parameters are out of range, or the salt is shorter than 16 bytes.
    case unacceptableParameters
    /// The system did not give as much memory as the parameters ask for.
    case outOfMemory
}

/// Keys from a passphrase (scrypt, RFC 7914).
///
/// ```swift
/// let keys = try PassphraseDerivation.keys(from: passphrase, salt: salt, .floor)
/// ```
///
/// The residue of swift-crypto in memory is scrubbed as far as `scrubResidue()` covers it.
///
/// Does not protect against guessing a weak passphrase: it makes each guess cost time and memory.
public enum PassphraseDerivation {
    /// The result of one derivation: 64 bytes, half to each.
    public struct Keys: Sendable {
        /// Wraps the keys that the passphrase protects. 32 bytes.
        public let wrapping: SecretBytes
        /// Distinguishes a wrong passphrase from a damaged slot, since AES-GCM is not key-committing. 32 bytes.
        public let commitment: SecretBytes
    }

    /// Keys from text, which is normalised first, so that the same text typed on another keyboard gives the same keys.
    ///
    /// - Parameter salt: At least 16 random bytes.
    /// - Throws: `unacceptableParameters` before any work; errors of `normalised`; `outOfMemory`. If the system
    ///   overcommits memory (the default on Linux), it may end the process instead.
    public static func keys(from passphrase: SecretBytes, salt: Data, _ parameters: ScryptParameters)
        throws(PassphraseFailure) -> Keys
    {
        try check(salt, parameters)
        return try keys(fromBytes: normalised(passphrase), salt: salt, parameters)
    }

    /// Keys from bytes that need not be text, such as an application's own password: 1 to 1024 bytes, used unchanged.
    public static func keys(fromBytes secret: SecretBytes, salt: Data, _ parameters: ScryptParameters)
        throws(PassphraseFailure) -> Keys
    {
        try check(salt, parameters)
        guard secret.count > 0 else { throw .empty }
        guard secret.count <= longest else { throw .tooLong }
        return try derived(from: secret, salt, parameters)
    }

    /// Plain scrypt. Every derivation happens here.
    ///
    /// - Parameter parameters: Must be acceptable, because the library traps on others.
    static func derived(from secret: SecretBytes, _ salt: Data, _ parameters: ScryptParameters)
        throws(PassphraseFailure) -> Keys
    {
        // The library leaves the derived bytes in a block that it frees without wiping, and parts of them on the stack.
        defer { scrubResidue() }
        return try halves(of: scrypt(secret, salt, parameters))
    }

    /// Unicode's composed form (NFC) as UTF-8, so that "é" is the same however it was typed: 1 to 1024 bytes.
    ///
    /// The result is the same on every system for the characters that its Unicode tables contain, since their
    /// composition never changes.
    /// - Throws: `empty`, `tooLong`, `notText`.
    public static func normalised(_ passphrase: SecretBytes) throws(PassphraseFailure) -> SecretBytes {
        let isASCII = passphrase.withUnsafeBytes { $0.allSatisfy { $0 < 0x80 } }
        if !isASCII { return try composed(passphrase) }
        guard passphrase.count > 0 else { throw .empty }
        guard passphrase.count <= longest else { throw .tooLong }
        return passphrase
    }

    private static let longest = 1024

    /// Called when a derivation begins in a task, so that a test can check that there was none.
    @TaskLocal package static var onDerivation: (@Sendable () -> Void)?

    private static func check(_ salt: Data, _ parameters: ScryptParameters) throws(PassphraseFailure) {
        guard parameters.isAcceptable, salt.count >= 16 else { throw .unacceptableParameters }
    }

    // MARK: - The call into the library

    private static func scrypt(_ secret: SecretBytes, _ salt: Data, _ parameters: ScryptParameters)
        throws(PassphraseFailure) -> SymmetricKey
    {
        onDerivation?()
        do {
            return try secret.withUnsafeBytes {
                try KDF.Scrypt.deriveKey(
                    from: $0, salt: salt, outputByteCount: 64, rounds: Int(parameters.rounds),
                    blockSize: Int(parameters.blockSize), parallelism: Int(parameters.parallelism))
            }
        } catch {
            // With acceptable parameters nothing else can fail.
            throw .outOfMemory
        }
    }

    private static func halves(of derived: SymmetricKey) -> Keys {
        derived.withUnsafeBytes { bytes in
            Keys(
                wrapping: SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<32])),
                commitment: SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[32...])))
        }
    }
}
