// SPDX-License-Identifier: Apache-2.0
// Certificates of the keychain that complete chains.

#if os(Linux)
    package import Foundation
    import KeychainEngine
    import SecretMemory

    /// Finds certificates by the normalized content of their subject.
    package typealias IssuerSearch = @Sendable (_ subject: Data) -> [SecCertificate]

    /// Searches issuers for many certificates: each subject once.
    final class KnownIssuers: Sendable {
        private struct State {
            var known: [Data: [SecCertificate]] = [:]
            var failure: KeychainError?
        }

        private let search: @Sendable (_ subject: Data) throws(KeychainError) -> [SecCertificate]
        private let state = Guarded(State())

        init(_ search: @escaping @Sendable (_ subject: Data) throws(KeychainError) -> [SecCertificate]) {
            self.search = search
        }

        func certificates(ofSubject subject: Data) -> [SecCertificate] {
            if let found = state.withLock({ $0.known[subject] }) { return found }
            do throws(KeychainError) {
                let found = try search(subject)
                state.withLock { $0.known[subject] = found }
                return found
            } catch {
                state.withLock { $0.failure = error }
                return []
            }
        }

        /// - Throws: The error of a search that failed. A negative verdict is then none: the issuer may be there.
        func checkHasSearched() throws(KeychainError) {
            if let failure = state.withLock({ $0.failure }) { throw failure }
        }
    }

    extension Services {
        /// Certificates of the keychain with a subject, to complete a chain. The user is not asked, and each certificate
        /// that cannot be read counts as missing: a chain without it is not trusted.
        ///
        /// - Parameter subject: Normalized content.
        package func certificates(ofSubject subject: Data) -> [SecCertificate] {
            do throws(KeychainError) {
                return try issuers(ofSubject: subject)
            } catch {
                return []
            }
        }

        /// The same for a search, whose verdict is an error if the store fails.
        func issuers(ofSubject subject: Data) throws(KeychainError) -> [SecCertificate] {
            var query = Query(.certificate, [.subject: .data(subject)])
            (query.synchronizableAny, query.authenticationUI) = (true, .skip)
            (query.returns, query.limit, query.leavesOutLocked) = (.value, .all, true)
            // Any program may have stored items that are no certificates: they do not count.
            var certificates: [SecCertificate] = []
            for stored in try readable(query) where certificates.count < Self.certificatesOfOneSubject {
                if let certificate = SecCertificate(stored.item) { certificates.append(certificate) }
            }
            return certificates
        }

        /// Without those that are locked or do not open.
        private func readable(_ query: Query) throws(KeychainError) -> [StoredItem] {
            do throws(KeychainError) {
                return try engine.requests.find(query, accessGroups: accessGroups)
            } catch {
                guard [.locked, .corrupt, .ofAnotherDevice].contains(error.reason) else { throw error }
                return []
            }
        }

        /// The limit for certificates of one name in the search for a chain, which compares key identifiers.
        private static let certificatesOfOneSubject = 256
    }
#endif
