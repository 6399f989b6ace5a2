// SPDX-License-Identifier: Apache-2.0
// Algorithms of signatures, and what is signed.

import ArgumentParser
import Crypto
import Foundation
import KeychainKeys
import KeychainKit

/// A signature algorithm on the command line.
enum SignatureAlgorithm: String, ExpressibleByArgument, CaseIterable {
    case ecdsaSHA256 = "ecdsa-sha256"
    case ecdsaSHA384 = "ecdsa-sha384"
    case ecdsaSHA512 = "ecdsa-sha512"
    case rsaSHA256 = "rsa-sha256"
    case rsaSHA384 = "rsa-sha384"
    case rsaSHA512 = "rsa-sha512"
    case rsaPSSSHA256 = "rsa-pss-sha256"
    case rsaPSSSHA384 = "rsa-pss-sha384"
    case rsaPSSSHA512 = "rsa-pss-sha512"
    case ed25519

    static let help = allCases.map(\.rawValue).joined(separator: ", ")

    /// The usual one for a key.
    init(for key: PublicKey) throws(KeychainError) {
        switch key.kind {
        case .p256: self = .ecdsaSHA256
        case .p384: self = .ecdsaSHA384
        case .p521: self = .ecdsaSHA512
        case .rsa: self = .rsaSHA256
        case .ed25519: self = .ed25519
        case .x25519:
            throw KeychainError(.unsupported, "A key of type x25519 agrees on secrets; it does not sign.")
        }
    }

    /// `nil`: the message itself is signed.
    var hash: KeyHash? {
        switch self {
        case .ecdsaSHA256, .rsaSHA256, .rsaPSSSHA256: .sha256
        case .ecdsaSHA384, .rsaSHA384, .rsaPSSSHA384: .sha384
        case .ecdsaSHA512, .rsaSHA512, .rsaPSSSHA512: .sha512
        case .ed25519: nil
        }
    }

    /// - Parameter isRaw: Whether an ECDSA signature is r ‖ s.
    func algorithm(isRaw: Bool) -> KeyAlgorithm {
        guard let hash else { return .eddsaSignature }
        switch self {
        case .ecdsaSHA256, .ecdsaSHA384, .ecdsaSHA512: return .ecdsaSignature(.digest(hash), isRaw ? .raw : .der)
        case .rsaSHA256, .rsaSHA384, .rsaSHA512: return .rsaSignaturePKCS1(.digest(hash))
        case .rsaPSSSHA256, .rsaPSSSHA384, .rsaPSSSHA512: return .rsaSignaturePSS(.digest(hash))
        case .ed25519: return .eddsaSignature
        }
    }
}

struct SignatureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The algorithm: \(SignatureAlgorithm.help).", valueName: "name"))
    var algorithm: SignatureAlgorithm?

    @Flag(help: "ECDSA: r and s at full width, as JSON Web Tokens have them, instead of DER.")
    var raw = false

    /// What is signed or verified with a key.
    func resolved(for key: PublicKey) throws(KeychainError) -> (algorithm: KeyAlgorithm, hash: KeyHash?) {
        let chosen = if let algorithm { algorithm } else { try SignatureAlgorithm(for: key) }
        let resolved = chosen.algorithm(isRaw: raw)
        guard key.supports(resolved, for: .verify), !raw || key.kind.isNISTCurve else {
            throw KeychainError(
                .unsupported,
                "A key of type \(key.typeName) does not support \(chosen.rawValue)\(raw ? " with --raw" : "").")
        }
        return (resolved, chosen.hash)
    }
}

/// The message: a file, or standard input.
enum SignedMessage {
    private static let chunkSize = 1 << 16
    /// For algorithms that need all of the message at once.
    private static let limit = 64 << 20

    /// The message or, if there is a hash, its digest.
    static func input(_ path: String?, _ hash: KeyHash?) throws(KeychainError) -> Data {
        guard let path else { return try input(STDIN_FILENO, "standard input", hash) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw KeychainError(.inputOutput, "Could not read '\(path)': \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        return try input(descriptor, "'\(path)'", hash)
    }

    private static func input(
        _ descriptor: Int32, _ name: String, _ hash: KeyHash?
    ) throws(KeychainError) -> Data {
        switch hash {
        case .sha256: return try digest(SHA256.self, descriptor, name)
        case .sha384: return try digest(SHA384.self, descriptor, name)
        case .sha512: return try digest(SHA512.self, descriptor, name)
        case nil, .sha1, .sha224: return try InputFile.read(descriptor, name: name, limit: limit)
        }
    }

    /// Files of any length.
    private static func digest<Hash: HashFunction>(
        _: Hash.Type, _ descriptor: Int32, _ name: String
    ) throws(KeychainError) -> Data {
        var (hash, chunk) = (Hash(), [UInt8](repeating: 0, count: chunkSize))
        while true {
            let count = chunk.withUnsafeMutableBytes { Descriptors.read(descriptor, into: $0) }
            guard count >= 0 else {
                throw KeychainError(
                    .inputOutput, "Could not read \(name): \(String(cString: strerror(Int32(-count)))).")
            }
            if count == 0 { return Data(hash.finalize()) }
            chunk.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
