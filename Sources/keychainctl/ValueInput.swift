// SPDX-License-Identifier: Apache-2.0
// Where a value comes from: the terminal, standard input or a descriptor. Never an argument, never the environment.

import ArgumentParser
import Foundation
import KeychainEngine

struct ValueOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Read the value from this open descriptor, to its end.", valueName: "number"))
    var fromFd: Int32?

    @Flag(help: "Store an empty value; without this an empty one is refused.")
    var allowEmpty = false

    func validate() throws {
        if let fromFd, fromFd < 0 { throw ValidationError("--from-fd takes the number of an open descriptor.") }
    }

    /// The value, byte for byte.
    ///
    /// - Parameter name: What the person at a terminal is asked about.
    func readValue(for name: String) throws(KeychainFailure) -> Data {
        let value = try ValueSource(descriptor: fromFd).value(for: name)
        guard !value.isEmpty || allowEmpty else {
            throw KeychainFailure(
                .invalidParameter,
                "The value is empty, so nothing was stored: a pipe from a command that failed looks like this. "
                    + "If an empty value is meant, add --allow-empty.")
        }
        return value
    }
}

private enum ValueSource {
    case terminal
    case descriptor(Int32)

    private static let tries = 3
    /// More is a mistake (a device, a wrong file), which should not first fill the memory.
    private static let limit = 64 << 20

    init(descriptor: Int32?) {
        let isAsking = descriptor == nil && Terminal.isTerminal(STDIN_FILENO)
        self = isAsking ? .terminal : .descriptor(descriptor ?? STDIN_FILENO)
    }

    func value(for name: String) throws(KeychainFailure) -> Data {
        switch self {
        case .terminal: try Self.asked(for: name)
        case .descriptor(let descriptor): try Self.read(descriptor)
        }
    }

    // MARK: - A person

    private static func asked(for name: String) throws(KeychainFailure) -> Data {
        try Terminal.ask { (terminal) throws(KeychainFailure) in
            for _ in 1...tries {
                var value = try terminal.line("Value for \(name): ")
                var again = try terminal.line("The same again: ")
                defer { again.wipe() }
                if value == again { return value }
                value.wipe()
                terminal.say("The two differ.\n")
            }
            throw KeychainFailure(.cancelled, "The two entries differed \(tries) times; nothing was stored.")
        }
    }

    // MARK: - A pipe or a file

    private static func read(_ descriptor: Int32) throws(KeychainFailure) -> Data {
        guard !Terminal.isTerminal(descriptor) else {
            throw KeychainFailure(
                .invalidParameter,
                "Descriptor \(descriptor) is a terminal, which would show the value. Leave out --from-fd to be asked.")
        }
        var value = Data()
        do {
            while try readMore(descriptor, into: &value) {}
            return value
        } catch {
            value.wipe()
            throw error
        }
    }

    /// - Returns: `false` at the end.
    private static func readMore(_ descriptor: Int32, into value: inout Data) throws(KeychainFailure) -> Bool {
        let (count, code) = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            let code = errno
            if count > 0 { value.appendWiping(buffer.prefix(count)) }
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            return (count, code)
        }
        if count < 0 { try recover(from: code, descriptor) }
        guard value.count <= limit else {
            throw KeychainFailure(.tooLarge, "The value is longer than \(limit >> 20) MiB; nothing was stored.")
        }
        return count != 0
    }

    private static func recover(from code: Int32, _ descriptor: Int32) throws(KeychainFailure) {
        let name = descriptor == STDIN_FILENO ? "standard input" : "descriptor \(descriptor)"
        switch code {
        case EINTR: return
        case EAGAIN: Output.wait(for: descriptor, POLLIN)
        case EBADF: throw KeychainFailure(.invalidParameter, "Nothing can be read from \(name): it is not open for reading.")
        default: throw KeychainFailure(.inputOutput, "Could not read \(name): \(String(cString: strerror(code))).")
        }
    }
}

extension Data {
    /// Overwrites the bytes, unless somebody else still shares them.
    mutating func wipe() { resetBytes(in: startIndex..<endIndex) }

    /// Grows by doubling into new memory and wipes the old, so that growing leaves no copies behind.
    fileprivate mutating func appendWiping(_ bytes: Slice<UnsafeMutableRawBufferPointer>) {
        append(contentsOf: bytes)
    }
}
