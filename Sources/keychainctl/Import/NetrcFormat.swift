// SPDX-License-Identifier: Apache-2.0
// The netrc file of ftp, curl, git, SwiftPM and others.

import Foundation
import KeychainKit

/// Words separated by white space. A word in quotation marks may contain spaces and curl's escapes; all other words are
/// taken as they are, as curl and git do.
struct NetrcFormat {
    private var words: NetrcWords
    /// What entries that name no protocol get.
    private let usualProtocol: InternetProtocol
    private var records: [ImportRecord] = []
    private var machine: Machine?
    /// They are inside of a machine, and are reported after it.
    private var macros: [ImportRecord] = []

    private struct Machine {
        let line: Int
        /// `nil` for `default`.
        let name: String?
        var login: String?
        var password: Data?
        var account: Data?
        var port: String?
    }

    /// - Parameter usual: The protocol of entries that name none. The file has no word for it, and nearly all of its
    ///   readers use https: git and SwiftPM then find the passwords in the keychain.
    static func records(
        _ bytes: UnsafeRawBufferPointer, protocol usual: InternetProtocol = .https
    ) throws(KeychainError) -> [ImportRecord] {
        let text = try ImportText.checked(withoutReturns: bytes)
        var format = NetrcFormat(words: NetrcWords(bytes: text), usualProtocol: usual)
        try format.read()
        return format.records
    }

    private init(words: NetrcWords, usualProtocol: InternetProtocol) {
        (self.words, self.usualProtocol) = (words, usualProtocol)
    }

    private mutating func read() throws(KeychainError) {
        while let (key, line) = try words.key() {
            switch key {
            case "machine": try begin(Machine(line: line, name: String(decoding: try value(key, line), as: UTF8.self)))
            case "default": try begin(Machine(line: line, name: nil))
            case "macdef":
                _ = try value(key, line)
                words.skipMacro()
                macros.append(ImportRecord(skipping: nil, "a macro (macdef) is not a secret", origin: "line \(line)"))
            case "login", "user", "password", "passwd", "account", "port": try readPart(key, line)
            default:
                throw .unreadable(
                    line: line, "A word is not one of machine, default, login, password, account, port and macdef.")
            }
            guard machine != nil || key == "macdef" else {
                throw .unreadable(line: line, "The word '\(key)' comes before the first 'machine'.")
            }
        }
        finish()
    }

    private mutating func readPart(_ key: String, _ line: Int) throws(KeychainError) {
        let value = try value(key, line)
        let isNew =
            switch key {
            case "login", "user": machine?.login == nil
            case "port": machine?.port == nil
            case "account": machine?.account == nil
            default: machine?.password == nil
            }
        guard isNew else { throw .unreadable(line: line, "The machine has a second '\(key)'.") }
        switch key {
        case "login", "user": machine?.login = String(decoding: value, as: UTF8.self)
        case "port": machine?.port = String(decoding: value, as: UTF8.self)
        case "account": machine?.account = value
        default: machine?.password = value
        }
    }

    private mutating func begin(_ next: Machine) throws(KeychainError) {
        finish()
        machine = next
        guard records.count <= ImportLimits.entries else { throw .tooManyEntries }
    }

    private mutating func value(_ key: String, _ line: Int) throws(KeychainError) -> Data {
        guard let value = try words.value() else {
            throw .unreadable(line: line, "The word '\(key)' has no value. The file may be cut.")
        }
        return value
    }

    // MARK: - A machine

    private mutating func finish() {
        defer {
            records += macros
            macros = []
        }
        guard let machine else { return }
        let origin = "line \(machine.line)"
        self.machine = nil
        guard let name = machine.name else {
            return records.append(ImportRecord(skipping: "default", "it belongs to no machine", origin: origin))
        }
        // Part of it may be a password.
        guard !name.isEmpty, !name.utf8.contains(where: { "@/".utf8.contains($0) }) else {
            return records.append(ImportRecord(skipping: nil, "its machine is not a host", origin: origin))
        }
        guard let password = machine.password, !password.isEmpty else {
            return records.append(ImportRecord(skipping: name, "it has no password", origin: origin))
        }
        guard let (host, port) = Self.hostAndPort(name), port == nil || machine.port == nil else {
            return records.append(ImportRecord(skipping: name, "its machine is not a host", origin: origin))
        }
        guard let server = server(host, port, machine.port) else {
            let reason = "its port is neither a number nor a known protocol"
            return records.append(ImportRecord(skipping: name, reason, origin: origin))
        }
        let login = machine.login ?? ""
        let item = ImportedItem(
            place: .server(server), account: login, value: password, isProtocolAssumed: machine.port == nil)
        records.append(ImportRecord(item, origin: origin))
        guard let account = machine.account else { return }
        var bare = server
        if machine.port == nil { bare.protocol = nil }
        let extra = ImportedItem(
            place: .service(bare.text), account: "\(login) (account)", value: account, kind: "account")
        records.append(ImportRecord(extra, origin: origin))
    }

    /// git's own helper for netrc files takes a port after the host.
    ///
    /// - Returns: `nil` if what follows the host is no port.
    private static func hostAndPort(_ name: String) -> (host: String, port: Int?)? {
        let isBareIPv6 = name.utf8.first != UInt8(ascii: "[") && name.utf8.count { $0 == UInt8(ascii: ":") } > 1
        return isBareIPv6 ? (name.lowercased(), nil) : WebAddress.hostAndPort(Array(name.utf8)[...])
    }

    /// Emacs has ports, or protocols in place of them. A port may be that of any protocol, such as 993 of imaps.
    ///
    /// - Parameter number: The port that follows the host.
    /// - Returns: `nil` if it is neither.
    private func server(_ host: String, _ number: Int?, _ port: String?) -> SecretStore.Server? {
        var server = SecretStore.Server(host)
        guard let port else {
            server.protocol = usualProtocol
            server.port = number == usualProtocol.usualPort ? nil : number
            return server
        }
        if let number = UInt16(port), number > 0 {
            server.port = Int(number)
        } else {
            guard let code = ProtocolCode(argument: port) else { return nil }
            server.protocol = InternetProtocol(rawValue: code.code)
        }
        return server
    }
}

private struct NetrcWords {
    let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var line = 1

    private static let newline = UInt8(ascii: "\n")

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The next word that is not in a comment, and its line.
    mutating func key() throws(KeychainError) -> (String, Int)? {
        while true {
            skipSpace()
            guard position < bytes.count else { return nil }
            guard bytes[position] == UInt8(ascii: "#") else { break }
            skipLine()
        }
        let start = line
        guard let word = try value() else { return nil }
        return (String(decoding: word, as: UTF8.self), start)
    }

    mutating func value() throws(KeychainError) -> Data? {
        skipSpace()
        guard position < bytes.count else { return nil }
        if bytes[position] == UInt8(ascii: "\"") { return try quoted() }
        let start = position
        while position < bytes.count, !Self.isSpace(bytes[position]) { position += 1 }
        return Data(bytes[start..<position])
    }

    private mutating func quoted() throws(KeychainError) -> Data {
        let (start, firstLine) = (position, line)
        position += 1
        var word = Data(
            capacity: bytes[start...].firstIndex(of: Self.newline).map { $0 - start } ?? bytes.count - start)
        while position < bytes.count, bytes[position] != Self.newline {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return word }
            guard byte == UInt8(ascii: "\\"), position < bytes.count else {
                word.append(byte)
                continue
            }
            word.append(Self.unescaped(bytes[position]))
            position += 1
        }
        throw .unreadable(line: firstLine, "A quotation mark is not closed.")
    }

    private static func unescaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "n"): newline
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        default: byte
        }
    }

    /// A macro ends with an empty line.
    mutating func skipMacro() {
        skipLine()
        while position < bytes.count {
            let start = position
            skipLine()
            let content = bytes[start..<position].filter { !Self.isSpace($0) }
            if content.isEmpty { return }
        }
    }

    private mutating func skipLine() {
        while position < bytes.count, bytes[position] != Self.newline { position += 1 }
        guard position < bytes.count else { return }
        (position, line) = (position + 1, line + 1)
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) {
            if bytes[position] == Self.newline { line += 1 }
            position += 1
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
