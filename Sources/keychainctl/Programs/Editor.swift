// SPDX-License-Identifier: Apache-2.0
// The user's editor on a value.

import Foundation
import KeychainKit
import SecretMemory

struct Editor {
    private static let limit = 64 << 20
    /// How long an editor may take to end after it was asked to.
    private static let grace = 100
    private static let nap: UInt32 = 20_000

    /// As a shell interprets it, so that it may contain options.
    private let command: String

    /// The editor of VISUAL or EDITOR.
    init() throws(KeychainError) {
        let environment = ProcessEnvironment.current
        guard let command = environment.value("VISUAL") ?? environment.value("EDITOR") else {
            throw KeychainError(.unavailable, "There is no editor. Set VISUAL or EDITOR, for example: EDITOR=nano")
        }
        self.command = command
    }

    /// The shell is replaced by the editor, so that a signal reaches it. Only a simple command can replace a shell.
    private var shellCommand: String {
        let isSimple = !command.utf8.contains { Array("=;&|<>()$`\n".utf8).contains($0) }
        return (isSimple ? "exec " : "") + command + " \"$@\""
    }

    /// Lets the user edit a text. The file is in memory, and is overwritten and removed in every case except SIGKILL. A
    /// signal that would end the tool does so after that.
    ///
    /// - Parameter hasInput: Whether standard input is the editor's. If it is a secret's, the editor gets the terminal, or nothing.
    /// - Throws: `cancelled` if the editor fails; `unsupported` without a folder in memory.
    func edited(_ text: Data, hasInput: Bool) throws(KeychainError) -> Data {
        let signals = EndingSignals(ofKeyboard: .passBy)
        defer { signals.restore() }
        let folder = try MemoryFolder()
        defer {
            folder.remove()
            signals.raiseReceived()
        }
        try folder.write(text, to: "value")
        let file = folder.path + "/value"
        let terminal = hasInput ? -1 : open("/dev/tty", O_RDONLY | O_CLOEXEC)
        defer { if terminal >= 0 { close(terminal) } }
        let input = hasInput ? ChildProgram.Stream.inherited : terminal >= 0 ? .descriptor(terminal) : .nothing
        let child = try ChildProgram(
            "/bin/sh", ["-c", shellCommand, command, file],
            .init(input: input, output: .inherited, errors: .inherited))
        let code = Self.exitCode(child, signals)
        guard code == 0, signals.received == nil else {
            throw KeychainError(.cancelled, "The editor failed (exit code \(code)). Nothing was changed.")
        }
        return try Self.content(of: file)
    }

    /// What an editor leaves there may be no file. A pipe would be waited for without end.
    private static func content(of file: String) throws(KeychainError) -> Data {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        defer { if descriptor >= 0 { close(descriptor) } }
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(.unavailable, "The editor has left no file. Nothing was changed.")
        }
        return try InputFile.read(descriptor, name: "the file", limit: limit)
    }

    /// ^C and ^\ are for the editor, which gets them from the terminal too. Another signal ends it.
    private static func exitCode(_ child: ChildProgram, _ signals: EndingSignals) -> Int32 {
        var naps = 0
        while true {
            if let code = child.exitCodeIfEnded() { return code }
            if let number = signals.received {
                if naps == 0 { kill(child.identifier, number) }
                if naps == grace { kill(child.identifier, SIGKILL) }
                naps += 1
            }
            usleep(nap)
        }
    }
}
