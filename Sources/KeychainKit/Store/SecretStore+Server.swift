// SPDX-License-Identifier: Apache-2.0
// The part of an internet password's name that identifies the server.

import KeychainEngine

extension SecretStore {
    /// A server as part of the names of its internet passwords.
    ///
    /// ```swift
    /// let logins = SecretStore(server: .init("git.example.com", protocol: .https, port: 8443))
    /// ```
    ///
    /// An absent part counts as well: a password with a port and one without are different items.
    public struct Server: Hashable, Sendable {
        public var host: String
        public var `protocol`: InternetProtocol?
        public var port: Int?
        public var path: String?
        /// The realm, in HTTP authentication.
        public var securityDomain: String?
        public var authenticationType: InternetAuthentication?

        /// - Parameter host: The name or address of the server.
        public init(
            _ host: String, protocol: InternetProtocol? = nil, port: Int? = nil, path: String? = nil,
            securityDomain: String? = nil, authenticationType: InternetAuthentication? = nil
        ) {
            (self.host, self.protocol, self.port, self.path) = (host, `protocol`, port, path)
            (self.securityDomain, self.authenticationType) = (securityDomain, authenticationType)
        }

        /// The complete name, with the values that mean "none", so that it matches exactly one server.
        var attributes: Attributes {
            [
                .server: .string(host),
                .protocol: `protocol`.map { .string($0.rawValue) } ?? .number(0),
                .port: .number(Int64(port ?? 0)),
                .path: .string(path ?? ""),
                .securityDomain: .string(securityDomain ?? ""),
                .authenticationType: .string(authenticationType?.rawValue ?? ""),
            ]
        }
    }
}
