// SPDX-License-Identifier: Apache-2.0
// The value of a git credential. The first line is the password, so that other programs can use it. What else git gave
// is secret too, and follows as lines of key=value, as git's helper for libsecret writes them.

import Foundation

struct CredentialValue {
    /// The password; with an `authtype`, what follows that type in the header of HTTP.
    private(set) var secret: Data
    private(set) var authtype: String?
    /// Seconds since 1970.
    private(set) var expiry: Int64?
    private(set) var refreshToken: Data?
    /// Lines of other programs.
    private var others: [Data] = []

    /// - Returns: `nil` for a value that git cannot take: it has other lines, or a zero.
    init?(_ bytes: Data) {
        guard !bytes.contains(0) else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        secret = lines.first.map { Data($0) } ?? Data()
        for line in lines.dropFirst() where !line.isEmpty {
            guard take(line) else { return nil }
        }
    }

    private mutating func take(_ line: Data) -> Bool {
        guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let key = String(decoding: line[..<sign], as: UTF8.self)
        guard key.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        else { return false }
        let value = Data(line[(sign + 1)...])
        switch key {
        case "oauth_refresh_token": refreshToken = value
        case "authtype": authtype = String(decoding: value, as: UTF8.self)
        case "password_expiry_utc":
            expiry = Int64(String(decoding: value, as: UTF8.self))
            return expiry != nil
        default: others.append(Data(line))
        }
        return true
    }

    /// - Returns: `nil` if the request contains nothing to store.
    init?(_ request: GitRequest) {
        if let type = request.authtype, !type.isEmpty, let credential = request.credential {
            (secret, authtype) = (credential, type)
        } else if request.username != nil, let password = request.password {
            (secret, authtype) = (password, nil)
        } else {
            return nil
        }
        (expiry, refreshToken) = (request.expiry, request.refreshToken)
    }

    /// Older versions of git pass on the password alone. What belongs to the same password is kept, and what belongs to
    /// other programs in any case.
    /// A password that is stored after its expiry was accepted by the server.
    mutating func keepRest(of old: CredentialValue, at now: Date) {
        others = old.others
        guard holds(old) else { return }
        if !old.isExpired(at: now) { expiry = expiry ?? old.expiry }
        refreshToken = refreshToken ?? old.refreshToken
    }

    /// Whether both have the same password or credential.
    func holds(_ other: CredentialValue) -> Bool { secret == other.secret && authtype == other.authtype }

    /// Whether `erase` means this value: git wants exactly the password removed that was refused.
    func isMeant(by request: GitRequest) -> Bool {
        if let credential = request.credential {
            return authtype != nil && secret == credential && (request.authtype == nil || request.authtype == authtype)
        }
        return request.password.map { authtype == nil && secret == $0 } ?? true
    }

    /// The date of the item, if it is earlier than the one in the value.
    mutating func expire(at date: Date) {
        let seconds = Int64(max(min(date.timeIntervalSince1970, 1e15), -1e15).rounded(.down))
        expiry = min(expiry ?? seconds, seconds)
    }

    func isExpired(at now: Date) -> Bool { expiry.map { Double($0) <= now.timeIntervalSince1970 } ?? false }

    var bytes: Data {
        var bytes = Data(capacity: secret.count + (refreshToken?.count ?? 0) + (authtype?.utf8.count ?? 0) + 128)
        bytes.append(secret)
        if let authtype { bytes.append(Data("\nauthtype=\(authtype)".utf8)) }
        if let expiry { bytes.append(Data("\npassword_expiry_utc=\(expiry)".utf8)) }
        if let refreshToken {
            bytes.append(Data("\noauth_refresh_token=".utf8))
            bytes.append(refreshToken)
        }
        for line in others {
            bytes.append(UInt8(ascii: "\n"))
            bytes.append(line)
        }
        return bytes
    }

    mutating func wipe() {
        secret.wipe()
        refreshToken?.wipe()
        for index in others.indices { others[index].wipe() }
    }
}
