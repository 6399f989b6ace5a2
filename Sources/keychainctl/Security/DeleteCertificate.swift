// SPDX-License-Identifier: Apache-2.0
// security delete-certificate and delete-identity.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit

enum DeleteCertificate {
    static func deleteCertificate(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try options(call)
        let all = try call.certificates(in: call.searched(options.words))
        try remove([chosen(all, options, call, "certificate").found.item], call)
    }

    /// Removes the certificate with its private key.
    static func deleteIdentity(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try options(call)
        let identities = try call.identities(in: call.searched(options.words))
        let certificate = try chosen(identities.map(\.stored), options, call, "identity").found
        let keys = identities.filter { $0.stored.found.item.reference == certificate.item.reference }.map(\.key.found)
        let own = keys.first { $0.keychain == certificate.keychain } ?? keys.first
        try remove([certificate.item] + (own.map { [$0.item] } ?? []), call)
    }

    /// There are no trust settings here, so `-t` has nothing to remove.
    private static func options(_ call: SecurityCall) throws(SecurityFailure) -> SecurityOptions {
        let options = try call.options("c:Z:t")
        guard options.has("c") || options.has("Z") else { throw .usage() }
        return options
    }

    // MARK: - Choosing one

    /// - Throws: Exit code 1 unless exactly one certificate has the hash, or else the name.
    private static func chosen(
        _ all: [StoredCertificate], _ options: SecurityOptions, _ call: SecurityCall, _ kind: String
    ) throws(SecurityFailure) -> StoredCertificate {
        let matches = distinct(options["Z"].map { hash in all.filter { $0.hasHash(hash) } } ?? named(all, options["c"]))
        if matches.count == 1 { return matches[0] }
        let wanted = (options["c"] ?? options["Z"] ?? "").escaped
        if matches.count > 1 {
            call.session.say("security: \"\(wanted)\" is ambiguous, matches more than one certificate")
        }
        throw SecurityFailure(text: "Unable to delete \(kind) matching \"\(wanted)\"", status: 1)
    }

    /// Those with the whole name, or else those with a part of it.
    private static func named(_ all: [StoredCertificate], _ name: String?) -> [StoredCertificate] {
        guard let name = name?.lowercased() else { return [] }
        let similar = all.filter { $0.certificate.commonName?.lowercased().hasPart(name) ?? false }
        let exact = similar.filter { $0.certificate.commonName?.lowercased() == name }
        return exact.isEmpty ? similar : exact
    }

    /// The same certificate in several keychains is no other one: the first is meant.
    private static func distinct(_ all: [StoredCertificate]) -> [StoredCertificate] {
        var seen: Set<Data> = []
        return all.filter { seen.insert($0.certificate.der).inserted }
    }

    // MARK: - Removing

    /// All of them or none.
    private static func remove(_ items: [KeychainItem], _ call: SecurityCall) throws(SecurityFailure) {
        let queries = items.map { item in
            var query = Query(nil)
            query.persistentReference = item.reference
            return query
        }
        try naming("SecKeychainItemDelete") { () throws(KeychainError) in
            let engine = try call.session.engine
            try call.session.unlocking { () throws(KeychainError) in
                try engine.transaction(as: queries[0]) { (requests) throws(KeychainError) in
                    for query in queries { try remove(query, requests) }
                }
            }
        }
    }

    private static func remove(_ query: Query, _ requests: Requests) throws(KeychainError) {
        guard try requests.delete(query, accessGroups: .unrestricted) > 0 else {
            throw KeychainError(.itemNotFound, "The item was removed meanwhile.")
        }
    }
}

extension StoredCertificate {
    /// - Parameter hash: The hexadecimal digits of SHA-1 or SHA-256, as `find-certificate -Z` prints them.
    fileprivate func hasHash(_ hash: String) -> Bool {
        [certificate.shortFingerprint, ValueForm.hexadecimal(certificate.fingerprint)].contains(hash.uppercased())
    }
}
