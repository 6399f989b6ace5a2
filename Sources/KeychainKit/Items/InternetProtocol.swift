// SPDX-License-Identifier: Apache-2.0
// The protocol and the authentication type of an internet password.

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
