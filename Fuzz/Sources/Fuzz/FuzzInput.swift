// SPDX-License-Identifier: Apache-2.0
// From bytes to choices.

import Foundation
import SecretMemory

/// Takes choices from the front of an input; when it is used up, every choice is the first one.
struct FuzzInput {
    private(set) var rest: Data

    init(_ bytes: Data) { rest = bytes }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
        (0..<MemoryLayout<Number>.size).reduce(0) { number, _ in number << 8 | Number(truncatingIfNeeded: byte()) }
    }

    /// A number below `limit`.
    mutating func index(_ limit: Int) -> Int { limit <= 1 ? 0 : Int(number(UInt32.self)) % limit }

    mutating func bytes() -> Data {
        let count = min(Int(byte()), rest.count)
        defer { rest = Data(rest.dropFirst(count)) }
        return Data(rest.prefix(count))
    }

    /// Bytes whose number has two bytes.
    mutating func block() -> Data {
        let count = min(Int(number(UInt16.self)), rest.count)
        defer { rest = Data(rest.dropFirst(count)) }
        return Data(rest.prefix(count))
    }

    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    mutating func element<Element>(of list: [Element]) -> Element { list[Int(byte()) % list.count] }
}

extension Data {
    var secret: SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }
}

extension SecretBytes {
    var data: Data { withUnsafeBytes { Data($0) } }
}

/// A folder in memory where the system has one, removed when the process ends by itself.
enum Scratch {
    static let folder: String = {
        let root = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm/" : NSTemporaryDirectory()
        let path = root + "keychain-fuzz-\(getpid())"
        guard mkdir(path, 0o700) == 0 else { fatalError("cannot make \(path)") }
        atexit { Scratch.remove() }
        return path
    }()

    static func write(_ bytes: Data, _ name: String) -> String {
        let path = folder + "/" + name
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        guard written == bytes.count else { fatalError("cannot write \(path)") }
        return path
    }

    private static func remove() {
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            print("left behind: \(folder)")
        }
    }
}
