// SPDX-License-Identifier: Apache-2.0
// What items of one store value have in common.

import KeychainEngine

/// A service or a server: the part of an item's name that comes before the account.
enum Place: Hashable, Sendable {
    struct Server: Hashable, Sendable {
        var host: String
        var `protocol`: InternetProtocol?
        var port: Int?
        var path: String?
        var securityDomain: String?
        var authenticationType: InternetAuthentication?
    }

    case service(String)
    case server(Server)

    var itemClass: ItemClass {
        switch self {
        case .service: .genericPassword
        case .server: .internetPassword
        }
    }

    /// All of it, with the values that stand for "none", so that it means one place exactly.
    var attributes: Attributes {
        switch self {
        case .service(let name): [.service: .string(name)]
        case .server(let server): server.attributes
        }
    }
}

extension Place.Server {
    fileprivate var attributes: Attributes {
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

/// The protocol of an internet password, in the four characters of Apple's `kSecAttrProtocol…` constants.
///
/// ```swift
/// let gopher: InternetProtocol = "goph"
/// ```
public struct InternetProtocol: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public static let http: InternetProtocol = "http"
    public static let https: InternetProtocol = "htps"
    public static let ftp: InternetProtocol = "ftp "
    public static let ftps: InternetProtocol = "ftps"
    public static let ssh: InternetProtocol = "ssh "
    public static let smb: InternetProtocol = "smb "
    public static let smtp: InternetProtocol = "smtp"
    public static let imap: InternetProtocol = "imap"
    public static let imaps: InternetProtocol = "imps"
    public static let pop3: InternetProtocol = "pop3"
    public static let pop3s: InternetProtocol = "pops"
    public static let ldap: InternetProtocol = "ldap"
    public static let ldaps: InternetProtocol = "ldps"
    public static let irc: InternetProtocol = "irc "
    public static let ircs: InternetProtocol = "ircs"
    public static let socks: InternetProtocol = "sox "
    public static let httpProxy: InternetProtocol = "htpx"
    public static let httpsProxy: InternetProtocol = "htsx"
}

/// How an internet password is used, in the four characters of Apple's `kSecAttrAuthenticationType…` constants.
public struct InternetAuthentication: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public static let `default`: InternetAuthentication = "dflt"
    public static let httpBasic: InternetAuthentication = "http"
    public static let httpDigest: InternetAuthentication = "httd"
    public static let htmlForm: InternetAuthentication = "form"
    public static let ntlm: InternetAuthentication = "ntlm"
}
