// SPDX-License-Identifier: Apache-2.0
// security add-certificates: one file after the other.

import KeychainEngine
import KeychainKeys
import KeychainKit

enum AddCertificates {
    private static let function = "SecCertificateAddToKeychain"

    /// Goes on after a file that cannot be added. The exit code is 1 if there was any.
    static func add(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("k:")
        guard !options.words.isEmpty else { throw .usage() }
        try endingWithOne { () throws(SecurityFailure) in
            let keychain = try call.keychain(options["k"], function)
            var isComplete = true
            for file in options.words {
                do throws(SecurityFailure) {
                    try add(file, to: keychain, named: options["k"], call)
                } catch {
                    if let text = error.text { call.session.say(text) }
                    isComplete = false
                }
            }
            guard isComplete else { throw SecurityFailure(text: nil, status: 1) }
        }
    }

    private static func add(
        _ file: String, to keychain: NamedKeychain, named name: String?, _ call: SecurityCall
    ) throws(SecurityFailure) {
        for certificate in try certificates(in: file) {
            do throws(KeychainError) {
                try store(certificate.newItem(in: keychain.group), call)
            } catch {
                guard error.reason == .duplicateItem else { throw SecurityFailure(function, error) }
                let place = name?.escaped ?? "default keychain"
                throw SecurityFailure(text: "security: \(file.escaped): already in \(place)", status: 1)
            }
        }
    }

    private static func certificates(in file: String) throws(SecurityFailure) -> [Certificate] {
        let bytes = try naming("SecCertificateCreateFromData") { () throws(KeychainError) in
            try ImportCommand.content(of: file)
        }
        let content = try? KeyFileContent(bytes)
        guard let content, !content.certificates.isEmpty, content.privateKeys.isEmpty, content.publicKeys.isEmpty else {
            throw SecurityFailure(
                "SecCertificateCreateFromData", -26275,
                "'\(file.escaped)' is no file of certificates alone. For other files: security import")
        }
        return content.certificates.map(\.content)
    }

    private static func store(_ item: Query, _ call: SecurityCall) throws(KeychainError) {
        let engine = try call.session.engine
        try call.session.unlocking { () throws(KeychainError) in
            _ = try engine.add(item, accessGroups: .unrestricted)
        }
    }
}
