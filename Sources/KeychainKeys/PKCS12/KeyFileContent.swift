// SPDX-License-Identifier: Apache-2.0
// The keys and certificates of a file of any format, which its bytes tell.

import Foundation
public import SecretMemory

/// What a file of keys and certificates contains. The format is detected: PEM, PKCS#12, or a key or certificate in DER.
///
/// ```swift
/// let content = try KeyFileContent(bytes, passphrase: passphrase)
/// for entry in content.certificates { print(entry.content.subjectSummary ?? "no name") }
/// ```
public struct KeyFileContent: Sendable {
    /// A key or certificate, with the name that the file gives it.
    public struct Entry<Content: Sendable>: Sendable {
        public let content: Content
        /// `nil` for formats without names.
        public let name: String?

        init(_ content: Content, _ name: String? = nil) { (self.content, self.name) = (content, name) }
    }

    public private(set) var privateKeys: [Entry<PrivateKey>] = []
    public private(set) var publicKeys: [PublicKey] = []
    public private(set) var certificates: [Entry<Certificate>] = []
    public private(set) var isPKCS12 = false

    public var isEmpty: Bool { privateKeys.isEmpty && publicKeys.isEmpty && certificates.isEmpty }

    /// - Parameters:
    ///   - passphrase: UTF-8; only used for an encrypted file. `nil`: a PKCS#12 file is read if its passphrase is empty.
    ///   - isPKCS12: Whether the caller expects a PKCS#12 file: for the words of the error about bytes of no known format.
    /// - Throws: `KeyFailure.passphraseRequired` if the file needs a passphrase and none is given; `wrongPassphrase`; and
    ///   the errors of each format.
    public init(_ bytes: SecretBytes, passphrase: SecretBytes? = nil, isPKCS12: Bool = false) throws(KeyFailure) {
        try self.init(bytes, passphrase, isPKCS12: isPKCS12, limit: PKCS12.Limits.rounds)
    }

    /// - Parameter limit: The maximum number of rounds of all derivations of a PKCS#12 file together.
    init(_ bytes: SecretBytes, _ passphrase: SecretBytes?, isPKCS12: Bool, limit: Int) throws(KeyFailure) {
        let pem = try PEMItem.all(in: bytes, passphrase: passphrase)
        for item in pem { add(item) }
        guard pem.isEmpty else { return }
        if bytes.isPKCS12 {
            try addPKCS12(bytes, passphrase, limit)
        } else if let format = try? KeyFormat(of: SecretSlice(bytes)) {
            try addKey(format, bytes, passphrase)
        } else if let certificate = try Self.certificate(bytes) {
            // What follows it would be left out, while the caller believes that everything is stored.
            guard certificate.der.count == bytes.count else { throw .malformed("certificate alone") }
            certificates = [Entry(certificate)]
        } else {
            throw .malformed(isPKCS12 ? "PKCS#12 file" : "key, certificate or PKCS#12 file")
        }
    }

    /// `nil` for bytes that are no certificate.
    private static func certificate(_ bytes: SecretBytes) throws(KeyFailure) -> Certificate? {
        do throws(KeyFailure) {
            return try Certificate(der: bytes.withUnsafeBytes { Data($0) })
        } catch {
            // The limit is checked first, for bytes of any kind.
            guard case .limitExceeded = error, bytes.isOfSequences else { return nil }
            throw error
        }
    }

    private mutating func add(_ item: PEMItem) {
        switch item {
        case .privateKey(let key): privateKeys.append(Entry(key))
        case .publicKey(let key): publicKeys.append(key)
        case .certificate(let certificate): certificates.append(Entry(certificate))
        }
    }

    private mutating func addKey(
        _ format: KeyFormat, _ bytes: SecretBytes, _ passphrase: SecretBytes?
    ) throws(KeyFailure) {
        switch format {
        case .subjectPublicKeyInfo, .pkcs1Public:
            publicKeys = [try PublicKey(der: bytes.withUnsafeBytes { [UInt8]($0) })]
        case .pkcs8, .encryptedPKCS8, .sec1, .pkcs1Private:
            privateKeys = [Entry(try PrivateKey(der: bytes, passphrase: passphrase))]
        }
    }

    private mutating func addPKCS12(
        _ bytes: SecretBytes, _ passphrase: SecretBytes?, _ limit: Int
    ) throws(KeyFailure) {
        // The keys of a file need not be encrypted.
        var data = bytes.withUnsafeBytes { Data($0) }
        defer { data.withUnsafeMutableBytes { wipeMemory($0) } }
        let file = try Self.pkcs12(data, passphrase, limit)
        privateKeys = file.keys.map { Entry($0.content, $0.friendlyName) }
        certificates = file.certificates.map { Entry($0.content, $0.friendlyName) }
        isPKCS12 = true
    }

    private static func pkcs12(
        _ file: Data, _ passphrase: SecretBytes?, _ limit: Int
    ) throws(KeyFailure) -> PKCS12 {
        do {
            return try PKCS12(file, passphrase: passphrase ?? SecretBytes(count: 0) { _ in }, limit: limit)
        } catch {
            throw error == .wrongPassphrase && passphrase == nil ? .passphraseRequired : error
        }
    }
}

extension SecretBytes {
    /// A certificate is a sequence that begins with two others.
    fileprivate var isOfSequences: Bool {
        do throws(KeyFailure) {
            var reader = try DERReader.only(DERTag.sequence, in: SecretSlice(self), "certificate")
            let (first, second) = (try reader.next().tag, try reader.next().tag)
            return first == DERTag.sequence && second == DERTag.sequence
        } catch {
            return false
        }
    }

    /// A PKCS#12 file begins with a sequence whose first element is the number 3.
    fileprivate var isPKCS12: Bool {
        withUnsafeBytes { bytes in
            guard bytes.count > 8, bytes[0] == 0x30 else { return false }
            // The length may have one byte, or say how many bytes follow.
            let start = bytes[1] < 0x80 ? 2 : 2 + Int(bytes[1] & 0x7F)
            return start + 3 <= bytes.count && bytes[start...].starts(with: [0x02, 0x01, 0x03])
        }
    }
}
