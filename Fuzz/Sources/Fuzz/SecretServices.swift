// SPDX-License-Identifier: Apache-2.0
// What a Secret Service, or something in its place on the session bus, answers to `keychainctl import secret-service`.

import Foundation
import Synchronization

@testable import keychainctl

enum SecretServices {
    private static let bus = FalseBus(Scratch.folder + "/bus")

    static func prepare() {
        setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=" + bus.path, 1)
        bus.start()
        let records = conversation(Data())
        guard records?.count == 1, case .item(let item) = records?[0].content else { fatalError("no item is imported") }
        require(item.value == Data("value".utf8), "a value is imported as it is")
    }

    static func answers(_ bytes: Data) {
        var input = FuzzInput(bytes)
        guard input.byte() & 1 == 0 else { return values(input) }
        _ = conversation(input.rest)
    }

    // MARK: - Values

    private static func values(_ bytes: FuzzInput) {
        var input = bytes
        let (isLittleEndian, signature) = (input.byte() & 1 == 0, input.text())
        var reader = DBusReader(input.rest, isLittleEndian: isLittleEndian)
        guard let values = try? reader.values(signature) else { return }
        require(size(.structure(values)) <= 2 * (input.rest.count + signature.utf8.count), "values are made of bytes")
    }

    /// A number of one byte is the smallest value, and each container has a length, a type or an element.
    private static func size(_ value: DBusValue) -> Int {
        switch value {
        case .number: 1
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .array(let values), .structure(let values): values.reduce(0) { $0 + size($1) }
        case .variant(let inner): size(inner)
        }
    }

    // MARK: - A conversation

    /// The input changes the answers of a service that has one item.
    private static func conversation(_ bytes: Data) -> [ImportRecord]? {
        var (input, sent) = (FuzzInput(bytes), Data("OK 1\r\n".utf8))
        for (index, reply) in BusReply.all.enumerated() { sent += message(UInt32(index + 1), reply, &input) }
        bus.answer.withLock { $0 = sent + input.rest }
        let records = try? SecretServiceImport.records()
        ImportSources.check(records)
        for case .item(let item) in records?.map(\.content) ?? [] {
            require(sent.range(of: item.value) != nil || input.rest.range(of: item.value) != nil, "a value was sent")
        }
        return records
    }

    private static func message(_ number: UInt32, _ reply: BusReply, _ input: inout FuzzInput) -> Data {
        var (reply, kind) = (reply, UInt8(2))
        switch input.byte() % 5 {
        case 1: patch(&reply.body, &input)
        case 2: reply = BusReply(String(input.text().prefix(60))) { $0.append(Array(input.block())) }
        case 3: kind = input.byte()
        case 4:
            var message = reply.message(kind, to: number)
            patch(&message, &input)
            return Data(message)
        default: break
        }
        return Data(reply.message(kind, to: number))
    }

    private static func patch(_ bytes: inout [UInt8], _ input: inout FuzzInput) {
        let (start, new) = (input.index(bytes.count), input.bytes())
        for (index, byte) in zip(start..<bytes.count, new) { bytes[index] = byte }
    }
}

/// An answer on the bus: types, and values of them.
private struct BusReply {
    let signature: String
    var body: [UInt8]

    init(_ signature: String, _ write: (inout DBusWriter) -> Void) {
        var writer = DBusWriter()
        write(&writer)
        (self.signature, body) = (signature, writer.bytes)
    }

    func message(_ kind: UInt8, to number: UInt32) -> [UInt8] {
        var message = DBusWriter()
        message.append([UInt8(ascii: "l"), kind, 1, 1])
        message.number(UInt32(body.count))
        message.number(number)
        message.array {
            $0.byte(5)
            $0.signature("u")
            $0.number(number)
            $0.align(8)
            $0.byte(8)
            $0.variant(signature, "g")
        }
        message.align(8)
        message.append(body)
        return message.bytes
    }

    /// What is asked, in this order: a name, a session, the collections, of one its label, lock and items, of one item all and its value.
    static let all = [
        BusReply("s") { $0.string(":1.1") },
        BusReply("vo") {
            $0.variant("")
            $0.string("/s")
        },
        BusReply("v") { $0.paths(["/c"]) }, BusReply("v") { $0.variant("Login") }, BusReply("v") { $0.no() },
        BusReply("v") { $0.paths(["/c/1"]) }, BusReply("a{sv}") { $0.properties() },
        BusReply("(oayays)") {
            $0.string("/s")
            $0.number(0)
            $0.number(5)
            $0.append(Array("value".utf8))
            $0.string("text/plain")
        },
    ]
}

extension DBusWriter {
    /// An array whose elements are aligned to eight bytes, or start there.
    fileprivate mutating func array(_ alignment: Int = 8, _ write: (inout DBusWriter) -> Void) {
        var trial = self
        trial.number(0)
        trial.align(alignment)
        let start = trial.bytes.count
        write(&trial)
        number(UInt32(trial.bytes.count - start))
        align(alignment)
        write(&self)
    }

    fileprivate mutating func paths(_ paths: [String]) {
        signature("ao")
        array(4) { for path in paths { $0.string(path) } }
    }

    fileprivate mutating func no() {
        signature("b")
        number(0)
    }

    fileprivate mutating func properties() {
        array {
            $0.string("Label")
            $0.variant("mail")
            $0.align(8)
            $0.string("Locked")
            $0.no()
            $0.align(8)
            $0.string("Attributes")
            $0.signature("a{ss}")
            $0.array {
                $0.string("server")
                $0.string("example.com")
                $0.align(8)
                $0.string("user")
                $0.string("u")
            }
        }
    }
}

/// Sends the same bytes to whoever connects, as answers that are there before the questions.
private final class FalseBus: Sendable {
    let path: String
    let answer = Mutex(Data())
    private let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)

    init(_ path: String) { self.path = path }

    func start() {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isListening = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(listener, 16) == 0
            }
        }
        guard isListening else { fatalError("cannot listen on \(path)") }
        Thread.detachNewThread { while true { self.serve() } }
    }

    private func serve() {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        let bytes = answer.withLock { $0 }
        // All of it fits into the buffer of a socket.
        _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        shutdown(connection, Int32(SHUT_WR))
        var rest = [UInt8](repeating: 0, count: 4096)
        while recv(connection, &rest, rest.count, 0) > 0 {}
        close(connection)
    }
}
