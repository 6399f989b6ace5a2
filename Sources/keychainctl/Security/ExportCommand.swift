// SPDX-License-Identifier: Apache-2.0
// security export: keys and certificates of the vault as a file for other programs. Passwords are never exported.

import Foundation
import KeychainKeys
import KeychainKit
import KeychainVault
import SecretMemory

enum ExportCommand {
    private static let function = "SecKeychainItemExport"
    private static let kinds = ["certs", "allKeys", "pubKeys", "privKeys", "identities", "all"]
    private static let formats = ["openssl", "x509", "pkcs8", "pkcs12", "pemseq"]

    static func export(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("k:t:f:wpP:o:")
        guard options.words.isEmpty else { throw .usage() }
        let kind = options["t"] ?? "all"
        guard kinds.contains(kind) else { throw .usage("security: unknown type of items") }
        try endingWithOne { () throws(SecurityFailure) in
            let keychains = try source(call, options)
            let format = options["f"] ?? (kind == "identities" ? "pkcs12" : "pemseq")
            guard formats.contains(format) else {
                throw unsupported("The format is not supported. These are: \(formats.joined(separator: ", ")).")
            }
            // Not the private key to somebody who asks for certificates.
            guard format != "pkcs12" || ["identities", "all"].contains(kind) else {
                throw unsupported("A PKCS#12 file has identities here. Use -t identities, or another format.")
            }
            if options["P"] != nil { call.session.warnOfArgument("the passphrase") }
            let content =
                format == "pkcs12"
                ? try identities(call, keychains, options) : try pem(call, keychains, options, kind, format)
            try write(call, content, options["o"])
        }
    }

    private static func source(
        _ call: SecurityCall, _ options: SecurityOptions
    ) throws(SecurityFailure) -> [NamedKeychain] {
        guard let name = options["k"] else { return try call.searched([]) }
        if let keychain = NamedKeychain(name), keychain.hasSystemRoots { return [keychain] }
        return [try call.keychain(name, function)]
    }

    // MARK: - PEM

    private static func pem(
        _ call: SecurityCall, _ keychains: [NamedKeychain], _ options: SecurityOptions, _ kind: String, _ format: String
    ) throws(SecurityFailure) -> SecretBytes {
        let passphrase = options.has("w") ? try passphrase(call, options) : nil
        var parts: [SecretBytes] = []
        if kind != "certs", format != "x509" {
            for key in try call.keys(in: keychains) where isWanted(key, kind) {
                parts.append(try text(of: key, passphrase))
            }
        }
        if ["certs", "identities", "all"].contains(kind), format != "pkcs8" {
            parts += try call.readableCertificates(in: keychains).map { SecretBytes.text($0.certificate.pem) }
        }
        guard !parts.isEmpty else { throw SecurityFailure(function, SecurityStatus.itemNotFound) }
        return parts.dropFirst().reduce(parts[0]) { SecretBytes.concatenating($0, $1) }
    }

    private static func isWanted(_ key: StoredKey, _ kind: String) -> Bool {
        switch key.content {
        case .private: kind != "pubKeys"
        case .public: ["pubKeys", "allKeys", "all"].contains(kind)
        }
    }

    private static func text(of key: StoredKey, _ passphrase: SecretBytes?) throws(SecurityFailure) -> SecretBytes {
        switch key.content {
        case .public(let key): return .text(key.pem)
        case .private(let secret):
            try checkMayLeave(key)
            return try writingKeys { () throws(KeyFailure) in try secret.pem(passphrase: passphrase) }
        }
    }

    private static func checkMayLeave(_ key: StoredKey) throws(SecurityFailure) {
        guard key.isExtractable else {
            throw SecurityFailure(function, -25309, "A private key was imported with -x, so it cannot be exported.")
        }
    }

    // MARK: - PKCS#12

    private static func identities(
        _ call: SecurityCall, _ keychains: [NamedKeychain], _ options: SecurityOptions
    ) throws(SecurityFailure) -> SecretBytes {
        let others = try call.certificates(in: keychains).map(\.certificate)
        var identities: [PKCS12.Identity] = []
        for identity in try call.identities(in: keychains) {
            guard case .private(let key) = identity.key.content else { continue }
            try checkMayLeave(identity.key)
            let chain = identity.certificate.chain(from: others)
            identities.append(PKCS12.Identity(key: key, chain: chain, name: identity.certificate.subjectSummary))
        }
        guard !identities.isEmpty else { throw SecurityFailure(function, SecurityStatus.itemNotFound) }
        let passphrase = try passphrase(call, options)
        return try file(identities, passphrase)
    }

    private static func file(
        _ identities: [PKCS12.Identity], _ passphrase: SecretBytes
    ) throws(SecurityFailure) -> SecretBytes {
        do throws(KeyFailure) {
            let file = try PKCS12.file(with: identities, passphrase: passphrase)
            return file.withUnsafeBytes { SecretBytes(copying: $0) }
        } catch .limitExceeded {
            throw unsupported(
                "\(identities.count) identities are too many for one PKCS#12 file. Export one keychain, with -k.")
        } catch {
            throw SecurityFailure(function, SecurityStatus.parameter, "A key cannot be written in this format.")
        }
    }

    private static func passphrase(
        _ call: SecurityCall, _ options: SecurityOptions
    ) throws(SecurityFailure) -> SecretBytes {
        var bytes = Data((options["P"] ?? "").utf8)
        if options["P"] == nil {
            bytes = try call.session.newSecret(
                "passphrase for exported items: ", again: "retype passphrase for exported items: ")
        }
        defer { bytes.wipe() }
        guard !bytes.isEmpty || (options.has("P") && !options.has("w")) else {
            throw SecurityFailure(function, SecurityStatus.parameter, "The passphrase is empty.")
        }
        if bytes.isEmpty {
            call.session.say("security: Warning: The passphrase is empty, so the file protects no private key.")
        }
        return bytes.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    // MARK: - Output

    private static func write(
        _ call: SecurityCall, _ content: SecretBytes, _ path: String?
    ) throws(SecurityFailure) {
        try naming("write") { () throws(KeychainError) in
            guard let path else { return try Output.write(content) }
            // For the user alone, since it may contain a private key.
            let vault = try UserKeychain().vault.location
            try NewFile.write(content, to: NewFilePlace(forPrograms: path, replacing: true, outside: vault))
        }
        if let path { call.session.say("security: \(content.count) bytes written to \(path.escaped)") }
    }

    private static func unsupported(_ message: String) -> SecurityFailure {
        SecurityFailure(function, SecurityStatus.unsupported, message)
    }

    private static func writingKeys<Result>(
        _ body: () throws(KeyFailure) -> Result
    ) throws(SecurityFailure) -> Result {
        do throws(KeyFailure) {
            return try body()
        } catch {
            throw SecurityFailure(function, SecurityStatus.parameter, "A key cannot be written in this format.")
        }
    }
}

extension SecretBytes {
    fileprivate static func text(_ text: String) -> SecretBytes {
        Array(text.utf8).withUnsafeBytes { SecretBytes(copying: $0) }
    }
}
