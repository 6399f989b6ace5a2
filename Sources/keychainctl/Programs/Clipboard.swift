// SPDX-License-Identifier: Apache-2.0
// The clipboard of a desktop, through its own programs, or of a terminal, through an escape sequence.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import SecretMemory

enum Clipboard: String, ExpressibleByArgument {
    case wayland = "wl-copy"
    case x11 = "xclip"
    /// OSC 52. It cannot be read, and nothing tells whether the terminal supports it.
    case terminal = "osc52"

    /// xterm takes no longer sequence.
    private static let longestSequence = 74_994
    private static let limit = 64 << 20

    /// The first one that can be used here.
    static var available: Clipboard? {
        let environment = ProcessEnvironment.current
        if environment.value("WAYLAND_DISPLAY") != nil, isInstalled("wl-copy", environment) { return .wayland }
        if environment.value("DISPLAY") != nil, isInstalled("xclip", environment) { return .x11 }
        guard let terminal = openTerminal() else { return nil }
        close(terminal)
        return .terminal
    }

    private static func isInstalled(_ name: String, _ environment: [String: String]) -> Bool {
        let folders = (environment.value("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    static func openTerminal() -> Int32? {
        let descriptor = open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC)
        return descriptor < 0 ? nil : descriptor
    }

    /// wl-copy keeps what it offers in a private file in /tmp, and has no option for another folder.
    var usesDisk: Bool { self == .wayland && !MemoryFolder.isInMemory("/tmp") }

    // MARK: - Use

    /// - Parameter terminal: An open terminal, for the escape sequence.
    func set(_ value: Data, terminal: Int32) throws(KeychainError) {
        switch self {
        case .wayland: try Self.send(value, to: "wl-copy", [])
        case .x11: try Self.send(value, to: "xclip", ["-selection", "clipboard", "-in"])
        case .terminal: try Self.write(value, terminal)
        }
    }

    /// - Returns: `nil` if the clipboard cannot be read.
    func content() throws(KeychainError) -> Data? {
        switch self {
        case .wayland: try Self.output("wl-paste", ["--no-newline"])
        case .x11: try Self.output("xclip", ["-selection", "clipboard", "-out"])
        case .terminal: nil
        }
    }

    func clear(terminal: Int32) throws(KeychainError) {
        switch self {
        case .wayland: try Self.send(Data(), to: "wl-copy", ["--clear"])
        case .x11: try set(Data(), terminal: terminal)
        case .terminal: try Self.write(Data(), terminal)
        }
    }

    private static func send(_ value: Data, to program: String, _ arguments: [String]) throws(KeychainError) {
        let pipe = try ProgramPipe()
        // The program continues in the background, and must not hold the descriptors of the tool open.
        let child = try ChildProgram(program, arguments, .init(input: .descriptor(pipe.reading)))
        let isSent = pipe.send(value)
        let code = child.exitCode()
        guard isSent && code == 0 else {
            throw KeychainError(.inputOutput, "\(program) failed (exit code \(code)). Nothing was copied.")
        }
    }

    private static func output(_ program: String, _ arguments: [String]) throws(KeychainError) -> Data? {
        let pipe = try ProgramPipe()
        let child = try ChildProgram(program, arguments, .init(output: .descriptor(pipe.writing)))
        pipe.closeWriting()
        let bytes = try InputFile.read(pipe.reading, name: "the clipboard", limit: limit)
        return child.exitCode() == 0 ? bytes : nil
    }

    private static func write(_ value: Data, _ terminal: Int32) throws(KeychainError) {
        guard value.count <= longestSequence / 4 * 3 else {
            throw KeychainError(.tooLarge, "The value is too long for the clipboard of a terminal. Nothing was copied.")
        }
        var sequence = Data("\u{1B}]52;c;\(value.base64EncodedString())\u{07}".utf8)
        defer { sequence.wipe() }
        let code = sequence.withUnsafeBytes { Output.writeAll($0, to: terminal) }
        guard code == 0 else {
            throw KeychainError(.inputOutput, "Could not write to the terminal: \(String(cString: strerror(code))).")
        }
    }
}
