// SPDX-License-Identifier: Apache-2.0
// Reads a PKCS#12 file: first its checksum, then its content.

import Crypto
public import Foundation
public import SecretMemory
import SwiftASN1

extension PKCS12 {
    /// - Parameter passphrase: UTF-8; empty for a file without a passphrase.
    /// - Throws: `KeyFailure.wrongPassphrase` if the checksum does not match, before anything is decrypted. A file
    ///   without a checksum is malformed.
    public init(_ file: Data, passphrase: SecretBytes) throws(KeyFailure) {
        try self.init(file, passphrase: passphrase, limit: Limits.rounds)
    }

    /// - Parameter limit: The maximum number of rounds of all derivations together.
    init(_ file: Data, passphrase: SecretBytes, limit: Int) throws(KeyFailure) {
        guard file.count <= Limits.bytes else { throw .limitExceeded("PKCS#12 file") }
        var reading = try PKCS12Reading([UInt8](file)[...], passphrase, limit: limit)
        try reading.readAll()
        self = reading.result
    }
}

/// The state while a file is read.
private struct PKCS12Reading {
    private static let format = "PKCS#12"
    private(set) var result = PKCS12()
    private var passphrase: PKCS12Passphrase
    private let content: ArraySlice<UInt8>
    private var bags = 0
    private var roundsLeft: Int

    /// Reads the outer structure of the file and verifies its checksum.
    init(_ file: ArraySlice<UInt8>, _ passphrase: SecretBytes, limit: Int) throws(KeyFailure) {
        var reader = try DERReader.only(DERTag.sequence, in: try BER.asDER(file), Self.format)
        guard try reader.smallInteger() == 3 else { throw .malformed(Self.format) }
        var safe = try reader.within(DERTag.sequence)
        // Signed files, which need no passphrase, are of another type.
        guard try safe.objectIdentifier() == .data else { throw .malformed(Self.format) }
        var outer = try safe.within(DERTag.context(0))
        content = try outer.content(DERTag.octetString)
        try outer.finish()
        try safe.finish()
        guard !reader.isAtEnd else { throw .malformed("PKCS#12 without a checksum") }
        let checksum = try PKCS12Checksum(&reader)
        try reader.finish()
        roundsLeft = limit - checksum.derivation.rounds
        guard roundsLeft >= 0 else { throw .limitExceeded("rounds of the key derivation") }
        self.passphrase = try checksum.passphrase(PKCS12Passphrase(passphrase), of: content)
    }

    mutating func readAll() throws(KeyFailure) {
        var parts = try DERReader.only(DERTag.sequence, in: try BER.asDER(content), Self.format)
        while !parts.isAtEnd {
            var part = try parts.within(DERTag.sequence)
            let type = try part.objectIdentifier()
            var outer = try part.within(DERTag.context(0))
            switch type {
            case .data: try readBags(BER.asDER(outer.content(DERTag.octetString)), depth: 1)
            case .encryptedData:
                let bags = SecretSlice(try decrypted(&outer))
                try readBags(
                    bags.starts(with: [DERTag.sequence, 0x80]) ? SecretSlice(BER.asDER(bags)) : bags, depth: 1)
            default: throw .unsupportedAlgorithm("\(type)")
            }
        }
    }

    private mutating func decrypted(_ outer: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) -> SecretBytes {
        var data = try outer.within(DERTag.sequence)
        _ = try data.smallInteger()
        var encrypted = try data.within(DERTag.sequence)
        guard try encrypted.objectIdentifier() == .data else { throw .malformed(Self.format) }
        let scheme = try PasswordEncryption(&encrypted)
        guard encrypted.nextTag == DERTag.context(0) else {
            return try decrypt(scheme, encrypted.content(DERTag.contextPrimitive(0)))
        }
        // BER allows splitting the ciphertext.
        var (pieces, ciphertext) = (try encrypted.within(DERTag.context(0)), [UInt8]())
        while !pieces.isAtEnd { ciphertext += try pieces.content(DERTag.octetString) }
        return try decrypt(scheme, ciphertext[...])
    }

    /// The checksum has confirmed the passphrase, so data that cannot be decrypted is damaged.
    private mutating func decrypt(
        _ scheme: PasswordEncryption, _ ciphertext: some ByteSlice
    ) throws(KeyFailure) -> SecretBytes {
        roundsLeft -= scheme.rounds
        guard roundsLeft >= 0 else { throw .limitExceeded("rounds of the key derivation") }
        do { return try scheme.decrypt(ciphertext, passphrase) } catch .wrongPassphrase {
            throw .malformed(Self.format)
        }
    }

    private mutating func readBags(_ safe: some ByteSlice, depth: Int) throws(KeyFailure) {
        guard depth <= PKCS12.Limits.nesting else { throw .limitExceeded("nesting of PKCS#12") }
        var list = try DERReader.only(DERTag.sequence, in: safe, Self.format)
        while !list.isAtEnd {
            bags += 1
            guard bags <= PKCS12.Limits.bags else { throw .limitExceeded("contents of PKCS#12") }
            var bag = try list.within(DERTag.sequence)
            try readBag(&bag, depth: depth)
        }
    }

    private mutating func readBag<Bytes>(_ bag: inout DERReader<Bytes>, depth: Int) throws(KeyFailure) {
        let type = try bag.objectIdentifier()
        let content = try bag.content(DERTag.context(0))
        let attributes = try BagAttributes(&bag)
        try bag.finish()
        switch type {
        case .keyBag: add(try PrivateKey(pkcs8: SecretSlice(content.copy)), attributes)
        case .shroudedKeyBag: add(try key(in: content), attributes)
        case .certificateBag: try addCertificate(content, attributes)
        case .safeContentsBag: try readBags(content, depth: depth + 1)
        // Revocation lists and other secrets.
        default: return
        }
    }

    private mutating func key(in content: some ByteSlice) throws(KeyFailure) -> PrivateKey {
        var reader = try DERReader.only(DERTag.sequence, in: content, Self.format)
        let scheme = try PasswordEncryption(&reader)
        let ciphertext = try reader.content(DERTag.octetString)
        try reader.finish()
        return try PrivateKey(pkcs8: decrypt(scheme, ciphertext))
    }

    private mutating func add(_ key: PrivateKey, _ attributes: BagAttributes) {
        result.keys.append(
            .init(content: key, localKeyIdentifier: attributes.identifier, friendlyName: attributes.name))
    }

    private mutating func addCertificate(
        _ content: some ByteSlice, _ attributes: BagAttributes
    ) throws(KeyFailure) {
        var reader = try DERReader.only(DERTag.sequence, in: content, Self.format)
        // The other type is SDSI, which is not used in practice.
        guard try reader.objectIdentifier() == .x509Certificate else { return }
        var outer = try reader.within(DERTag.context(0))
        let certificate = try Certificate([UInt8](outer.content(DERTag.octetString))[...])
        result.certificates.append(
            .init(content: certificate, localKeyIdentifier: attributes.identifier, friendlyName: attributes.name))
    }
}

/// The attributes of a key or certificate in the file.
private struct BagAttributes {
    private(set) var identifier: Data?
    private(set) var name: String?

    init<Bytes>(_ bag: inout DERReader<Bytes>) throws(KeyFailure) {
        guard !bag.isAtEnd else { return }
        var list = try bag.within(DERTag.set)
        while !list.isAtEnd {
            var attribute = try list.within(DERTag.sequence)
            let type = try attribute.objectIdentifier()
            var values = try attribute.within(DERTag.set)
            guard [.friendlyName, .localKeyIdentifier].contains(type), !values.isAtEnd else { continue }
            let value = try values.next()
            let bytes = [UInt8](value.content)
            if type == .localKeyIdentifier {
                identifier = Data(bytes)
            } else {
                name = StringTag.text(value.tag, bytes[...])
            }
        }
    }
}

/// The checksum of a file (MacData).
private struct PKCS12Checksum {
    let derivation: PKCS12Derivation
    private let code: [UInt8]

    init(_ reader: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) {
        let hashes: [ASN1ObjectIdentifier: KeyHash] = [
            .sha1: .sha1, .sha224: .sha224, .sha256: .sha256, .sha384: .sha384, .sha512: .sha512,
        ]
        var data = try reader.within(DERTag.sequence)
        var digest = try data.within(DERTag.sequence)
        var algorithm = try digest.within(DERTag.sequence)
        let name = try algorithm.objectIdentifier()
        code = [UInt8](try digest.content(DERTag.octetString))
        let salt = [UInt8](try data.content(DERTag.octetString))
        let rounds = data.isAtEnd ? 1 : try data.smallInteger()
        try data.finish()
        guard let hash = hashes[name] else { throw .unsupportedAuthentication("\(name)") }
        try DerivationLimits.check(rounds: rounds, salt: salt)
        derivation = PKCS12Derivation(hash: hash, salt: salt, rounds: rounds)
    }

    /// The encoding of the passphrase that matches the checksum.
    func passphrase(
        _ passphrase: PKCS12Passphrase, of content: ArraySlice<UInt8>
    ) throws(KeyFailure) -> PKCS12Passphrase {
        for candidate in passphrase.alternatives {
            let key = derivation.bytes(.authentication, candidate, count: derivation.hash.byteCount)
            if derivation.hash.function.isCode(code, of: content, key) { return candidate }
        }
        throw .wrongPassphrase
    }
}

extension KeyHashFunction {
    fileprivate static func isCode(_ code: [UInt8], of content: ArraySlice<UInt8>, _ key: SecretBytes) -> Bool {
        let key = key.withUnsafeBytes { SymmetricKey(data: $0) }
        return HMAC<Self>.isValidAuthenticationCode(code, authenticating: content, using: key)
    }
}
