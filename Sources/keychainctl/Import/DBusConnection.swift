// SPDX-License-Identifier: Apache-2.0
// A connection to the session bus, for calls one after the other.

import Foundation
import KeychainKit
import SecretMemory

final class DBusConnection {
    private let descriptor: Int32
    private var serial: UInt32 = 0

    /// A program on the bus that does not answer must not stop the tool for ever.
    private static let patience = timeval(tv_sec: 60, tv_usec: 0)
    private static let longestMessage = 16 << 20
    private static let daemon = "org.freedesktop.DBus"

    init() throws(KeychainError) {
        let addresses = try Self.addresses(ProcessEnvironment.current)
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.noBus }
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            var patience = Self.patience
            setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        guard addresses.contains(where: connect) else {
            close(descriptor)
            throw Self.noBus
        }
        do throws(KeychainError) {
            try authenticate()
            _ = try call(Self.daemon, "/org/freedesktop/DBus", Self.daemon, "Hello")
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    // MARK: - Connecting

    /// The paths of sockets; a name in the abstract name space begins with a zero byte.
    private static func addresses(_ environment: [String: String]) throws(KeychainError) -> [Data] {
        guard let text = environment.value("DBUS_SESSION_BUS_ADDRESS") else {
            guard let folder = environment.value("XDG_RUNTIME_DIR") else { throw noBus }
            return [Data("\(folder)/bus".utf8)]
        }
        return text.split(separator: ";").flatMap { address -> [Data] in
            guard address.hasPrefix("unix:") else { return [] }
            return address.dropFirst(5).split(separator: ",").compactMap { pair in
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, let value = parts[1].utf8.percentDecoded else { return nil }
                return parts[0] == "path" ? value : parts[0] == "abstract" ? Data([0]) + value : nil
            }
        }
    }

    private func connect(_ path: Data) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = path.first == 0
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            guard path.count < buffer.count else { return false }
            buffer.copyBytes(from: path)
            return true
        }
        guard fits else { return false }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(start + path.count + (isAbstract ? 0 : 1))
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Foundation.connect(descriptor, $0, length) == 0 }
        }
    }

    private func authenticate() throws(KeychainError) {
        let digits = Array("0123456789abcdef".utf8)
        let user = String(geteuid()).utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        try send([0] + Array("AUTH EXTERNAL ".utf8) + user + Array("\r\n".utf8))
        var answer: [UInt8] = []
        while !answer.ends(with: "\r\n".utf8) {
            guard answer.count < 256 else { throw .brokenMessage }
            answer += try receive(1)
        }
        guard answer.starts(with: "OK ".utf8) else { throw Self.noBus }
        try send(Array("BEGIN\r\n".utf8))
    }

    // MARK: - Calls

    /// Calls a method and waits for its reply.
    ///
    /// - Parameters:
    ///   - signature: The types of the arguments.
    ///   - write: Writes the arguments.
    /// - Throws: `unavailable` with the name of the error if the call fails.
    func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ signature: String = "",
        _ write: (inout DBusWriter) -> Void = { _ in }
    ) throws(KeychainError) -> [DBusValue] {
        var body = DBusWriter()
        write(&body)
        serial += 1
        var fields: [(UInt8, String, String)] = [
            (1, path, "o"), (2, interface, "s"), (3, member, "s"), (6, destination, "s"),
        ]
        if !signature.isEmpty { fields.append((8, signature, "g")) }
        try send(Self.message(serial, fields, body.bytes))
        return try reply()
    }

    private static func message(_ serial: UInt32, _ fields: [(UInt8, String, String)], _ body: [UInt8]) -> [UInt8] {
        var header = DBusWriter()
        for (code, text, type) in fields {
            header.align(8)
            header.byte(code)
            header.variant(text, type)
        }
        var message = DBusWriter()
        message.append([UInt8(ascii: "l"), 1, 0, 1])
        message.number(UInt32(clamping: body.count))
        message.number(serial)
        message.number(UInt32(clamping: header.bytes.count))
        message.append(header.bytes)
        message.align(8)
        message.append(body)
        return message.bytes
    }

    /// Passes over signals and replies to others.
    private func reply() throws(KeychainError) -> [DBusValue] {
        while true {
            let start = try receive(16)
            let isLittle = start[0] == UInt8(ascii: "l")
            var reader = DBusReader(start, isLittleEndian: isLittle)
            let kind = UInt8(truncatingIfNeeded: try (reader.number(1), reader.number(1)).1)
            try reader.align(4)
            let (bodyCount, _, fieldCount) = try (reader.number(4), reader.number(4), reader.number(4))
            guard bodyCount <= Self.longestMessage, fieldCount <= Self.longestMessage else { throw .brokenMessage }
            let padded = (Int(fieldCount) + 7) / 8 * 8
            let fields = try Self.fields(start + receive(padded).prefix(Int(fieldCount)), isLittle)
            let body = try receive(Int(bodyCount))
            guard kind == 2 || kind == 3, fields[5].map(Self.number) == UInt64(serial) else { continue }
            guard kind == 2 else { throw Self.failure(fields[4]?.text ?? "") }
            var values = DBusReader(body, isLittleEndian: isLittle)
            return try values.values(fields[8]?.text ?? "")
        }
    }

    private static func fields(_ header: Data, _ isLittle: Bool) throws(KeychainError) -> [UInt64: DBusValue] {
        var reader = DBusReader(header, isLittleEndian: isLittle)
        // Four bytes, the length of the body, the serial number, and the fields.
        guard let list = try reader.values("yyyyuua(yv)").last?.list else { throw .brokenMessage }
        var fields: [UInt64: DBusValue] = [:]
        for field in list {
            guard let pair = field.list, pair.count == 2 else { throw .brokenMessage }
            fields[number(pair[0])] = pair[1]
        }
        return fields
    }

    private static func number(_ value: DBusValue) -> UInt64 {
        if case .number(let number) = value.plain { number } else { 0 }
    }

    // MARK: - Bytes

    private func send(_ bytes: [UInt8]) throws(KeychainError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw Self.lost(errno) }
        }
    }

    private func receive(_ count: Int) throws(KeychainError) -> Data {
        var (bytes, filled) = (Data(count: count), 0)
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                recv(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, 0)
            }
            if got == 0 { throw Self.lost(ECONNRESET) }
            if got > 0 { filled += got } else if errno != EINTR { throw Self.lost(errno) }
        }
        return bytes
    }

    private static func lost(_ code: Int32) -> KeychainError {
        if code == EAGAIN {
            return KeychainError(
                .timedOut, "The Secret Service did not answer within a minute. Nothing was imported.")
        }
        return KeychainError(
            .inputOutput, "The connection to the session bus was lost: \(String(cString: strerror(code))).")
    }

    private static func failure(_ name: String) -> KeychainError {
        if ["ServiceUnknown", "NameHasNoOwner", "Spawn.ExecFailed"].contains(where: name.hasSuffix) {
            return KeychainError(
                .unavailable, "No Secret Service runs on the session bus. Start GNOME Keyring, KeePassXC or KWallet.")
        }
        return KeychainError(.unavailable, "The Secret Service refused a call (\(name.escapedForMessage)).")
    }

    private static let noBus = KeychainError(
        .unavailable,
        "There is no session bus: DBUS_SESSION_BUS_ADDRESS names none that can be used. Run the command in a session, "
            + "or with dbus-run-session.")
}

extension String {
    /// Names of errors are words with dots; anything else is not shown.
    fileprivate var escapedForMessage: String {
        let isName = utf8.allSatisfy {
            $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") || ($0 | 0x20).isLetterOrDigit
        }
        return isName && !isEmpty && utf8.count < 200 ? self : "an error without a name"
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}

extension Array<UInt8> {
    fileprivate func ends(with other: String.UTF8View) -> Bool { suffix(other.count).elementsEqual(other) }
}
