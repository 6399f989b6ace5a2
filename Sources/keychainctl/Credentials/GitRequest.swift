// SPDX-License-Identifier: Apache-2.0
// What git asks its credential helpers: lines of key=value.

import Foundation
import KeychainKit

struct GitRequest {
    /// git's own limit for a line.
    private static let longestLine = 65535

    private(set) var protocolName: String?
    private(set) var host: String?
    private(set) var path: String?
    private(set) var username: String?
    private(set) var password: Data?
    private(set) var credential: Data?
    private(set) var refreshToken: Data?
    private(set) var authtype: String?
    /// Seconds since 1970.
    private(set) var expiry: Int64?
    /// Whether the credential must not be stored.
    private(set) var isEphemeral = false
    /// Whether git takes a credential with an authentication type.
    private(set) var allowsAuthtype = false

    /// - Parameter input: What follows an empty line is ignored.
    /// - Throws: `invalidParameter` for a line that is not key=value. Messages do not quote it, as it may be secret.
    init(_ input: Data) throws(KeychainError) {
        var start = input.startIndex
        var number = 1
        while start < input.endIndex {
            let end = input[start...].firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
            guard start < end else { return }
            guard end - start <= Self.longestLine else {
                throw KeychainError(.tooLarge, "Line \(number) of the input is too long; nothing was done.")
            }
            guard let sign = input[start..<end].firstIndex(of: UInt8(ascii: "=")) else {
                throw KeychainError(
                    .invalidParameter, "Line \(number) of the input is not key=value; nothing was done.")
            }
            try take(String(decoding: input[start..<sign], as: UTF8.self), Data(input[(sign + 1)..<end]))
            (start, number) = (min(end + 1, input.endIndex), number + 1)
        }
    }

    /// As git demands, unknown keys are ignored.
    private mutating func take(_ key: String, _ value: Data) throws(KeychainError) {
        switch key {
        case "password": password = value
        case "credential": credential = value
        case "oauth_refresh_token": refreshToken = value
        default: try take(key, text: String(decoding: value, as: UTF8.self))
        }
    }

    private mutating func take(_ key: String, text: String) throws(KeychainError) {
        switch key {
        case "url": try take(url: text)
        case "protocol": protocolName = text
        case "host": host = text
        case "path": path = text
        case "username": username = text
        case "authtype": authtype = text
        case "ephemeral": isEphemeral = ["1", "true", "yes", "on"].contains(text.lowercased())
        case "capability[]": allowsAuthtype = !text.isEmpty && (allowsAuthtype || text == "authtype")
        case "password_expiry_utc":
            guard let seconds = Int64(text), seconds >= 0 else {
                throw KeychainError(
                    .invalidParameter, "password_expiry_utc is not a number of seconds; nothing was done.")
            }
            expiry = seconds
        default: break
        }
    }

    /// An address stands for its parts. As in git, a path on a web server is left out: its passwords are for the host.
    private mutating func take(url: String) throws(KeychainError) {
        let mistake = KeychainError(
            .invalidParameter, "The address in the input has no protocol and host; nothing was done.")
        guard let colon = url.firstRange(of: "://"), colon.lowerBound > url.startIndex else { throw mistake }
        let rest = url[colon.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let server = rest[..<end]
        let at = server.lastIndex(of: "@")
        let user = at.map { server[..<$0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) } ?? []
        protocolName = String(url[..<colon.lowerBound])
        host = try Self.decoded(at.map { server[server.index(after: $0)...] } ?? server)
        path = ["http", "https"].contains(protocolName?.lowercased()) ? nil : try Self.decoded(rest[end...])
        username = try user.first.map { (text) throws(KeychainError) in try Self.decoded(text) }
        password = try user.dropFirst().first.map { (text) throws(KeychainError) in Data(try Self.decoded(text).utf8) }
    }

    private static func decoded(_ part: Substring) throws(KeychainError) -> String {
        guard let bytes = PercentEncoding.decoded(part.utf8), let text = String(validating: bytes, as: UTF8.self),
            !bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\n") })
        else { throw KeychainError(.invalidParameter, "The address in the input is malformed; nothing was done.") }
        return text
    }

    /// - Throws: `invalidParameter` without a protocol and a host: such a request would match items of many servers.
    var place: CredentialPlace {
        get throws(KeychainError) {
            guard let protocolName, !protocolName.isEmpty, let host else {
                throw KeychainError(
                    .invalidParameter, "The input must contain a protocol and a host; nothing was done.")
            }
            return try CredentialPlace(protocolName, host: host, path: path)
        }
    }

    mutating func wipe() {
        password?.wipe()
        credential?.wipe()
        refreshToken?.wipe()
    }
}
