// SPDX-License-Identifier: Apache-2.0
// What another program writes to its standard output. The secrets in it pass through a pipe, and are never arguments.

import CKeychainShims
import Foundation
import KeychainKit
import SecretMemory

struct ProgramOutput {
    var bytes: Data
    /// `nil` if a signal ended the program.
    let status: Int32?

    /// - Parameters:
    ///   - input: Becomes its standard input.
    ///   - limit: A program that writes more is ended.
    init(_ program: String, _ arguments: [String], input: Int32, limit: Int) throws(KeychainError) {
        guard !ProcessEnvironment.isPrivileged else {
            throw KeychainError(
                .unsupported, "'\(program)' is not started by a program with more rights than its caller.")
        }
        var ends: [Int32] = [-1, -1]
        guard keychain_pipe(&ends) == 0 else { throw Self.failure(program, errno) }
        defer { close(ends[0]) }
        let child: pid_t
        do {
            defer { close(ends[1]) }
            child = try Self.start([program] + arguments, input: input, output: ends[1])
        }
        let read = Self.read(ends[0], limit: limit)
        // It would wait for a reader otherwise.
        if read == nil { kill(child, SIGKILL) }
        status = Self.end(of: child)
        guard let read else {
            throw KeychainError(.tooLarge, "The output is longer than 1 MiB")
        }
        bytes = read
    }

    private static func start(_ words: [String], input: Int32, output: Int32) throws(KeychainError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        _ = keychain_spawn_close_others(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGXFSZ)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var child = pid_t()
        let code = ProcessEnvironment.withPointers {
            posix_spawnp(&child, words[0], &actions, &attributes, &pointers, $0)
        }
        guard code == 0 else { throw failure(words[0], code) }
        return child
    }

    private static func failure(_ program: String, _ code: Int32) -> KeychainError {
        let advice = code == ENOENT ? " Install it, for example: apt-get install gnupg" : ""
        return KeychainError(
            .unavailable, "'\(program)' could not be started: \(String(cString: strerror(code))).\(advice)")
    }

    /// - Returns: `nil` if it is more than the limit, or cannot be read.
    private static func read(_ descriptor: Int32, limit: Int) -> Data? {
        var (bytes, count) = (Data(count: limit + 1), 0)
        defer { bytes.wipe() }
        while count <= limit {
            let got = bytes.withUnsafeMutableBytes { buffer in
                Foundation.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if got == 0 { return Data(Array(bytes.prefix(count))) }
            if got > 0 { count += got } else if errno != EINTR { return nil }
        }
        return nil
    }

    private static func end(of child: pid_t) -> Int32? {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }
}
