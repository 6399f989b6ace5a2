// SPDX-License-Identifier: Apache-2.0
// The root certificates of the system, which scripts read from a keychain of macOS.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit
import SecretMemory

extension NamedKeychain {
    /// The keychain in which macOS has them. It can be read, and is never changed.
    private static let rootsPath = "/System/Library/Keychains/SystemRootCertificates.keychain"

    var hasSystemRoots: Bool { path == Self.rootsPath }
}

extension SecurityCall {
    /// Those of the vault, then the roots of the system if their keychain is named. The roots alone need no vault.
    func readableCertificates(in keychains: [NamedKeychain]) throws(SecurityFailure) -> [StoredCertificate] {
        let own = keychains.filter { !$0.hasSystemRoots }
        var all = own.isEmpty ? [] : try certificates(in: own)
        if let keychain = keychains.first(where: \.hasSystemRoots) {
            all += try SystemRoots.certificates().map { SystemRoots.stored($0, keychain) }
        }
        return all
    }
}

enum SystemRoots {
    private static let function = "SecTrustCopyAnchorCertificates"

    /// - Throws: Status -25294, as without a keychain, if the system has no file of roots: scripts that make a file of
    ///   certificates must not get an empty one.
    static func certificates() throws(SecurityFailure) -> [Certificate] {
        let named = ProcessEnvironment.current.value(RootFiles.variable)
        let file = named ?? RootFiles.standard.first { access($0, F_OK) == 0 }
        guard let file else { throw missing("There is no file of them.") }
        let text = try naming(function) { () throws(KeychainError) in try ImportCommand.content(of: file) }
        guard let certificates = try? Certificate.all(pem: text), !certificates.isEmpty else {
            throw missing("'\(file.escaped)' has no certificates in PEM, or damaged ones.")
        }
        return certificates
    }

    private static func missing(_ reason: String) -> SecurityFailure {
        SecurityFailure(
            function, SecurityStatus.noSuchKeychain,
            "The root certificates of the system cannot be read. \(reason) Install the package ca-certificates, or set "
                + "\(RootFiles.variable) to a file of certificates in PEM.")
    }

    /// As if it were in the vault, for the commands that only read.
    static func stored(_ certificate: Certificate, _ keychain: NamedKeychain) -> StoredCertificate {
        let item = Item(
            itemClass: .certificate, attributes: certificate.newItem(in: keychain.group).attributes,
            accessControl: AccessControl(.whenUnlocked), value: nil)
        let shown = KeychainItem(StoredItem(id: UUID(), version: 0, item: item))
        return StoredCertificate(found: FoundPassword(item: shown, keychain: keychain), certificate: certificate)
    }
}
