// SPDX-License-Identifier: Apache-2.0
// The server that a git credential is for, as the name of an internet password.

import Foundation
import KeychainKit

struct CredentialPlace {
    let code: InternetProtocol
    /// In lower case, as in a new item. An IPv6 address is without brackets.
    let host: String
    /// As it may be stored.
    let hosts: [String]
    let port: Int?
    /// Without the slash at its beginning. `nil`: the whole server.
    let path: String?

    /// - Parameters:
    ///   - name: As in an address: https.
    ///   - host: With the port, if the address has one.
    init(_ name: String, host: String, path: String?) throws(KeychainError) {
        let name = name.lowercased()
        // A code is not a name: "htps" must not get the passwords of https.
        guard let found = ProtocolCode(argument: name), ProtocolCode.name(of: found.code) == name else {
            throw KeychainError(.unsupported, "An item cannot have this protocol, so git's credential has no place.")
        }
        code = InternetProtocol(rawValue: found.code)
        let (given, port) = try Self.hostAndPort(host)
        (hosts, self.host, self.port) = (given.hostSpellings, given.lowercased(), port)
        self.path = path.flatMap(Self.bare)
        // A certificate is a file of this machine: it has a path, and no host.
        guard !self.host.isEmpty || name == "cert" && self.path != nil else {
            throw KeychainError(.invalidParameter, "The host is empty; nothing was done.")
        }
    }

    private static func hostAndPort(_ text: String) throws(KeychainError) -> (String, Int?) {
        let isBracketed = text.hasPrefix("[")
        let afterHost = isBracketed ? text.firstIndex(of: "]").map { text.index(after: $0) } : text.firstIndex(of: ":")
        guard let afterHost else { return (text, nil) }
        let host = isBracketed ? text[..<afterHost].dropFirst().dropLast() : text[..<afterHost]
        let rest = text[afterHost...]
        if rest.isEmpty || rest == ":" { return (String(host), nil) }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.allSatisfy({ ("0"..."9").contains($0) }), let port = UInt16(digits), port > 0
        else {
            throw KeychainError(
                .invalidParameter, "The port of the host is not a number from 1 to 65535; nothing was done.")
        }
        return (String(host), Int(port))
    }

    /// Other programs store a path with or without the slash.
    private static func bare(_ path: String) -> String? {
        let bare = path.drop { $0 == "/" }
        return bare.isEmpty ? nil : String(bare)
    }

    /// The name of a new item, which `--server` with the same address finds too.
    var server: SecretStore.Server {
        SecretStore.Server(host, protocol: code, port: port, path: path.map { "/" + $0 })
    }

    /// Whether an item that names no protocol may be meant. A password does not go to a server in clear text because
    /// nobody said otherwise.
    var allowsNoProtocol: Bool { Self.encrypted.contains(code) }

    /// The protocols that never send a password in clear text.
    private static let encrypted: [InternetProtocol] = [
        .https, .ssh, .ftps, .imaps, .ldaps, .pop3s, .ircs, "ntps", "tels",
    ]

    /// The address, for people.
    var text: String {
        let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return ProtocolCode.name(of: code.rawValue) + "://" + host + (port.map { ":\($0)" } ?? "") + "/" + (path ?? "")
    }

    /// By git's rule a request without a path or a user matches any. The port always counts, as in git, where it is a
    /// part of the host.
    func matches(_ item: KeychainItem, username: String?) -> Bool {
        guard item.port == port, item.securityDomain != DockerServer.mark else { return false }
        guard path == nil || hasPath(of: item) else { return false }
        guard let username else { return true }
        return item.account.map { $0.utf8.elementsEqual(username.utf8) } ?? false
    }

    func hasPath(of item: KeychainItem) -> Bool {
        Array((item.path.flatMap(Self.bare) ?? "").utf8) == Array((path ?? "").utf8)
    }
}
