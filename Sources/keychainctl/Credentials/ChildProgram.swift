// SPDX-License-Identifier: Apache-2.0
// Another program, whose output is read; it gets no secrets.

import Foundation
import KeychainKit
import SecretMemory

enum ChildProgram {
    private static let longestOutput = 1 << 20

    /// Runs a program that is on the PATH, and waits for its end. What it complains about goes to standard error.
    ///
    /// - Returns: Its exit code, or 128 and the number of a signal.
    static func run(_ name: String, _ arguments: [String]) throws(KeychainError) -> (code: Int32, output: Data) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure(name, errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let child: pid_t
        do {
            defer { close(ends[1]) }
            child = try start(name, arguments, output: ends[1])
        }
        let output = readAll(ends[0])
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 { guard errno == EINTR else { throw failure(name, errno) } }
        guard let output else {
            throw KeychainError(.inputOutput, "The output of '\(name)' could not be read, or is longer than 1 MiB.")
        }
        return (status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F, output)
    }

    private static func start(_ name: String, _ arguments: [String], output: Int32) throws(KeychainError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        var words = ([name] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        let code = ProcessEnvironment.withPointers { posix_spawnp(&child, name, &actions, nil, &words, $0) }
        guard code == 0 else { throw failure(name, code) }
        return child
    }

    /// - Returns: `nil` if there is too much. The program then ends by SIGPIPE.
    private static func readAll(_ descriptor: Int32) -> Data? {
        var output = Data()
        var chunk = [UInt8](repeating: 0, count: 4096)
        while output.count <= longestOutput {
            let count = Foundation.read(descriptor, &chunk, chunk.count)
            if count == 0 { return output }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            output.append(contentsOf: chunk[..<count])
        }
        return nil
    }

    private static func failure(_ name: String, _ code: Int32) -> KeychainError {
        KeychainError(.unavailable, "'\(name)' could not be run: \(String(cString: strerror(code))). Is it installed?")
    }
}
