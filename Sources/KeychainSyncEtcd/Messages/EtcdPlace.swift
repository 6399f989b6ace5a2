// SPDX-License-Identifier: Apache-2.0
// Where an etcd is, and how to prove who asks.

// Folders, from top to bottom:
//
// - Carrier: a carrier over etcd
// - Client: calls of several endpoints, with limits
// - Messages: addresses, keys, requests and answers

package import KeychainSync

/// The addresses of an etcd, and what a machine needs to be admitted there.
///
/// ```swift
/// var etcd = EtcdPlace(endpoints: try EtcdPlace.endpoints("https://a:2379,https://b:2379"))
/// etcd.user = "laptop"
/// let place = etcd.place                             // etcd:https://a:2379,https://b:2379
/// ```
package struct EtcdPlace: Hashable, Sendable {
    package static let scheme = "etcd"

    package var endpoints: [EtcdEndpoint]
    /// What all keys begin with, so that several teams can share one etcd.
    package var prefix = "/"
    /// Files in PEM form: the authorities that sign the certificates of the servers, this machine's certificate, and its key.
    package var authorities: String?
    package var certificate: String?
    package var key: String?
    package var user: String?
    package var password: String?
    /// Whether addresses without TLS may be those of other machines.
    package var allowsHTTP = false

    package init(endpoints: [EtcdEndpoint]) { self.endpoints = endpoints }

    package static func endpoints(_ text: String) throws(CarrierFailure) -> [EtcdEndpoint] {
        let texts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard texts.count <= mostEndpoints else {
            throw CarrierFailure(.unusable, "At most \(mostEndpoints) addresses of etcd can be given.")
        }
        var endpoints: [EtcdEndpoint] = []
        for text in texts { endpoints.append(try EtcdEndpoint(String(text))) }
        return endpoints
    }

    private static let mostEndpoints = 16

    /// - Throws: `unusable` if the parts do not go together.
    package func check() throws(CarrierFailure) {
        if let open = endpoints.first(where: { !$0.isSecure && !$0.isLoopback }), !allowsHTTP {
            throw CarrierFailure(
                .unusable,
                "'\(open.text)' is another machine, and without TLS. Give an address that begins with https://.")
        }
        guard (certificate == nil) == (key == nil) else {
            throw CarrierFailure(.unusable, "A certificate and its key have to be given together.")
        }
        guard (user == nil) == (password == nil) else {
            throw CarrierFailure(.unusable, "A user of etcd and the password have to be given together.")
        }
        let files = [authorities, certificate, key].compactMap { $0 }
        guard files.allSatisfy({ $0.hasPrefix("/") }) else {
            throw CarrierFailure(.unusable, "The files for an etcd have to be given by their absolute paths.")
        }
        // A zero byte separates the parts that are stored.
        guard (files + [user, password].compactMap { $0 }).allSatisfy({ !$0.utf8.contains(0) }) else {
            throw CarrierFailure(.unusable, "No path, user or password for an etcd contains a zero byte.")
        }
        let isPrefix = prefix.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        guard prefix.hasPrefix("/"), prefix.hasSuffix("/"), prefix.utf8.count <= 128, isPrefix else {
            throw CarrierFailure(
                .unusable, "A prefix of keys begins and ends with '/', and has at most 128 bytes of ASCII.")
        }
    }
}

// MARK: - The stored form

extension EtcdPlace {
    private static var fields: [(name: String, path: WritableKeyPath<EtcdPlace, String?>)] {
        [
            ("ca", \.authorities), ("cert", \.certificate), ("key", \.key), ("user", \.user),
            ("password", \.password),
        ]
    }

    package var place: CarrierPlace {
        var details = Self.fields.compactMap { field in self[keyPath: field.path].map { field.name + "=" + $0 } }
        if prefix != "/" { details.append("prefix=" + prefix) }
        if allowsHTTP { details.append("http=yes") }
        return CarrierPlace(
            scheme: Self.scheme, address: endpoints.map(\.text).joined(separator: ","), details: details)
    }

    package init(_ place: CarrierPlace) throws(CarrierFailure) {
        self.init(endpoints: try Self.endpoints(place.address))
        for detail in place.details {
            let parts = detail.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw .unknownDetail(place) }
            if let field = Self.fields.first(where: { $0.name == parts[0] }) {
                self[keyPath: field.path] = parts[1]
            } else if parts[0] == "prefix" {
                prefix = parts[1]
            } else if detail == "http=yes" {
                allowsHTTP = true
            } else {
                throw .unknownDetail(place)
            }
        }
        try check()
    }
}

extension CarrierFailure {
    fileprivate static func unknownDetail(_ place: CarrierPlace) -> CarrierFailure {
        CarrierFailure(.unusable, "A newer version has set up '\(place.text)'. Update this machine.")
    }
}
