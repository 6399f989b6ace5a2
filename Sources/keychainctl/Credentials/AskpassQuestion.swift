// SPDX-License-Identifier: Apache-2.0
// The questions that git, ssh and sudo ask through an askpass program, and the items that answer them.

import KeychainAuthenticators
import KeychainKit

/// A question is recognized only as a whole. A server chooses parts of some questions, and must not get the password of
/// another server by its words.
enum AskpassQuestion {
    case username(CredentialPlace)
    case password(CredentialPlace, accounts: [String])
    case keyPassphrase(file: String)
    case serverPassword(host: String, account: String)
    case sudo(account: String)

    /// The service of a key's passphrase. The account is the path of the key.
    static let keyService = "OpenSSH"
    static let sudoService = "sudo"

    /// - Returns: `nil` for any other question, such as whether the key of a host is right.
    init?(_ text: String) {
        guard !text.unicodeScalars.contains(where: \.isInvisible) else { return nil }
        guard let question = Self.ofGit(text) ?? Self.ofSSH(text) ?? Self.ofSudo(text) else { return nil }
        self = question
    }

    private static func ofGit(_ text: String) -> Self? {
        if let address = text.between("Username for '", "': ") {
            return parts(address).flatMap { $0.user == nil ? .username($0.place) : nil }
        }
        guard let address = text.between("Password for '", "': "), let (place, user) = parts(address), let user
        else { return nil }
        // Newer versions of git encode the name.
        let decoded = user.withoutPercentEncoding ?? user
        return .password(place, accounts: decoded == user ? [user] : [user, decoded])
    }

    /// Older versions of git do not encode the user's name, which the address of a repository may contain. So
    /// `https://a.example/@b.example` may be a user at b.example, and is no address of a.example.
    private static func parts(_ address: String) -> (place: CredentialPlace, user: String?)? {
        guard let colon = address.firstIndex(of: ":"), address[colon...].hasPrefix("://") else { return nil }
        let rest = address[address.index(colon, offsetBy: 3)...]
        let slash = rest.firstIndex(where: { "/?#\\".contains($0) }) ?? rest.endIndex
        guard !rest[slash...].contains("@" as Character) else { return nil }
        let at = rest[..<slash].lastIndex(of: "@")
        let host = at.map { rest[rest.index(after: $0)..<slash] } ?? rest[..<slash]
        let path = rest[slash...].dropFirst()
        do throws(KeychainError) {
            let place = try CredentialPlace(String(address[..<colon]), host: String(host), path: String(path))
            return (place, at.map { String(rest[..<$0]) })
        } catch {
            return nil
        }
    }

    private static func ofSSH(_ text: String) -> Self? {
        let key =
            text.between("Enter passphrase for key '", "': ")
            // ssh-add -c
            ?? text.between("Enter passphrase for /", " (will confirm each use): ").map { "/" + $0 }
            ?? text.between("Enter passphrase for /", ": ").map { "/" + $0 }
        if let key, !key.isEmpty { return .keyPassphrase(file: key) }
        let login =
            text.between("", "'s password: ") ?? text.between("(", ") Password: ") ?? text.between("(", ") Password:")
        // A server chooses what follows the parentheses, so that a name never contains any.
        guard let login, let at = login.lastIndex(of: "@"), !login.contains(where: { "() \t'".contains($0) })
        else { return nil }
        let (account, host) = (String(login[..<at]), String(login[login.index(after: at)...]))
        return account.isEmpty || host.isEmpty ? nil : .serverPassword(host: host, account: account)
    }

    private static func ofSudo(_ text: String) -> Self? {
        guard let account = text.between("[sudo] password for ", ": "), !account.isEmpty,
            !account.contains(where: { " :".contains($0) })
        else { return nil }
        return .sudo(account: account)
    }

    /// The command that stores what is asked for.
    var advice: String {
        switch self {
        case .username(let place): "keychainctl set --server \(place.text) -a USER"
        case .password(let place, let accounts): "keychainctl set --server \(place.text) -a \(accounts[0])"
        case .keyPassphrase(let file): "keychainctl set -s \(Self.keyService) -a \(file)"
        case .serverPassword(let host, let account): "keychainctl set --server ssh://\(host) -a \(account)"
        case .sudo(let account): "keychainctl set -s \(Self.sudoService) -a \(account)"
        }
    }
}

extension String {
    /// - Returns: `nil` for a percent sign without two digits, and for bytes that are not UTF-8.
    fileprivate var withoutPercentEncoding: String? {
        var (bytes, rest) = ([UInt8](), utf8[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.first != "+", let decoded = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// What is between two texts at the beginning and at the end.
    fileprivate func between(_ start: String, _ end: String) -> String? {
        guard utf8.starts(with: start.utf8), utf8.count >= start.utf8.count + end.utf8.count,
            utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
        else { return nil }
        return String(utf8.dropFirst(start.utf8.count).dropLast(end.utf8.count))
    }
}
