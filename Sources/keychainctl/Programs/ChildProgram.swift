// SPDX-License-Identifier: Apache-2.0
// Another program that works for the tool, started without a shell.

import CKeychainShims
import Foundation
import KeychainKit
import SecretMemory

/// It inherits no descriptors but the standard ones. A value goes to it through a pipe, never as an argument.
struct ChildProgram {
    /// A standard descriptor of the program.
    enum Stream {
        case inherited
        case nothing
        case descriptor(Int32)
    }

    /// What a program has besides its arguments.
    struct Streams {
        var input = Stream.nothing
        var output = Stream.nothing
        var errors = Stream.nothing
        /// Whether it gets a session of its own, so that the end of the terminal does not end it.
        var isDetached = false
    }

    /// POSIX_SPAWN_SETSID of glibc and musl, which Swift does not import.
    private static let setSession: Int32 = 0x80

    let identifier: pid_t

    /// - Parameter name: Looked up in PATH unless it is a path.
    /// - Throws: `unavailable` if it cannot be started; `unsupported` in a program with more rights than its caller, who
    ///   chooses what PATH leads to.
    init(_ name: String, _ arguments: [String], _ streams: Streams) throws(KeychainError) {
        guard !ProcessEnvironment.isPrivileged else {
            throw KeychainError(
                .unsupported, "'\(name)' is not started by a program with more rights than its caller.")
        }
        var actions = Self.actions(streams)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var attributes = Self.attributes(isDetached: streams.isDetached)
        defer { posix_spawnattr_destroy(&attributes) }
        var words = ([name] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier = pid_t()
        let code = ProcessEnvironment.withPointers {
            posix_spawnp(&identifier, name, &actions, &attributes, &words, $0)
        }
        guard code == 0 else {
            let advice = code == ENOENT ? " Is it installed?" : ""
            throw KeychainError(.unavailable, "Could not start '\(name)': \(String(cString: strerror(code))).\(advice)")
        }
        self.identifier = identifier
    }

    private static func actions(_ streams: Streams) -> posix_spawn_file_actions_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        let all = [(streams.input, STDIN_FILENO), (streams.output, STDOUT_FILENO), (streams.errors, STDERR_FILENO)]
        for (stream, number) in all {
            switch stream {
            case .inherited: continue
            case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            }
        }
        // If the C library does not support this, the program inherits descriptors without close-on-exec.
        _ = keychain_spawn_close_others(&actions, STDERR_FILENO + 1)
        return actions
    }

    /// The program gets the defaults of the signals that the tool ignores, and blocks none.
    private static func attributes(isDetached: Bool) -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGXFSZ] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK) | (isDetached ? setSession : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return attributes
    }

    // MARK: - End

    /// Waits for the end.
    ///
    /// - Returns: The exit code, or 128 plus the number of a signal.
    func exitCode() -> Int32 {
        while true {
            if let code = exitCode(options: 0) { return code }
        }
    }

    /// - Returns: `nil` if it runs.
    func exitCodeIfEnded() -> Int32? { exitCode(options: WNOHANG) }

    private func exitCode(options: Int32) -> Int32? {
        var status: Int32 = 0
        let result = waitpid(identifier, &status, options)
        if result == 0 || result < 0 && errno == EINTR { return nil }
        guard result == identifier else { return 127 }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}

/// A pipe to or from another program, closed when a program is executed.
final class ProgramPipe {
    let reading: Int32
    let writing: Int32
    private var isReadingOpen = true
    private var isWritingOpen = true

    init() throws(KeychainError) {
        var ends: [Int32] = [-1, -1]
        guard keychain_pipe(&ends) == 0 else {
            throw KeychainError(.unavailable, "Could not make a pipe: \(String(cString: strerror(errno))).")
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        closeReading()
        closeWriting()
    }

    func closeReading() {
        if isReadingOpen { close(reading) }
        isReadingOpen = false
    }

    func closeWriting() {
        if isWritingOpen { close(writing) }
        isWritingOpen = false
    }

    /// Writes everything and closes the pipe. The program has its copy of the reading end.
    ///
    /// - Returns: Whether the program took everything.
    func send(_ bytes: Data) -> Bool {
        closeReading()
        defer { closeWriting() }
        // A program that ends early must not end the tool.
        let before = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, before) }
        return bytes.withUnsafeBytes { Output.writeAll($0, to: writing) } == 0
    }
}
