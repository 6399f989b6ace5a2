// SPDX-License-Identifier: Apache-2.0
// Etcd as a place where machines meet, for programs.

#if Etcd
    public import KeychainSync
    public import SecretMemory

    /// An etcd, and what this machine needs to be admitted there.
    ///
    /// ```swift
    /// var cluster = EtcdCluster(["https://etcd1.example.com:2379", "https://etcd2.example.com:2379"])
    /// cluster.authorities = "/etc/keychain/etcd-ca.pem"
    /// cluster.certificate = "/etc/keychain/server.pem"
    /// cluster.key = "/etc/keychain/server.key"
    /// let sync = try KeychainSync(ways: [.etcd])
    /// try await sync.join(code: code, at: .etcd(cluster))
    /// ```
    ///
    /// What is given when a ring is founded or joined is kept in the vault, sealed. Later programs only need ``SyncWay/etcd``.
    ///
    /// Does not protect the other users of the etcd from a machine that fills it up: give the ring's user a role for its prefix, and the
    /// etcd a quota.
    public struct EtcdCluster: Sendable {
        /// The nodes, `https://HOST:PORT`; at most 16. One that cannot be reached is passed over.
        public var endpoints: [String]
        /// The file with the certificates of the authorities that the servers' certificates are checked against, in PEM form. `nil`: the
        /// system's.
        public var authorities: String?
        /// The file with this machine's certificate in PEM form, with ``key``.
        public var certificate: String?
        /// The file with the key of ``certificate`` in PEM form.
        public var key: String?
        /// The user of etcd, with ``password``.
        public var user: String?
        /// The password of ``user``: UTF-8 without zero bytes.
        public var password: SecretBytes?
        /// What all keys begin with, so that several rings can share one etcd. It begins and ends with `/`.
        public var prefix = "/"
        /// Whether addresses without TLS may be those of other machines, so that everybody on the network reads the password.
        public var allowsHTTP = false

        public init(_ endpoints: [String]) { self.endpoints = endpoints }

        func place() throws(KeychainError) -> EtcdPlace {
            do throws(CarrierFailure) {
                var place = EtcdPlace(endpoints: try EtcdPlace.endpoints(endpoints.joined(separator: ",")))
                (place.authorities, place.certificate, place.key) = (authorities, certificate, key)
                (place.user, place.password) = (user, try password.map(Self.text))
                (place.prefix, place.allowsHTTP) = (prefix, allowsHTTP)
                try place.check()
                return place
            } catch {
                throw KeychainError(.invalidParameter, "\(error)")
            }
        }

        private static func text(_ password: SecretBytes) throws(CarrierFailure) -> String {
            let text = password.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
            guard let text else { throw CarrierFailure(.unusable, "A password of etcd is UTF-8. Give another one.") }
            return text
        }
    }

    extension SyncPlace {
        /// An etcd.
        ///
        /// - Throws: `invalidParameter` if an address has another form than `https://HOST:PORT`, an address of another machine is
        ///   without TLS, or parts are given alone that belong together. It does not contact the etcd.
        public static func etcd(_ cluster: EtcdCluster) throws(KeychainError) -> SyncPlace {
            SyncPlace(try cluster.place().place)
        }
    }

    extension SyncWay {
        /// The calls of etcd's JSON gateway, over HTTP.
        ///
        /// It keeps its connections for later exchanges: give the same one to all objects of a program.
        public static let etcd = SyncWay(EtcdKind())
    }
#endif
