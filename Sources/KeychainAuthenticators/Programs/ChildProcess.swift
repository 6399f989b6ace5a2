// SPDX-License-Identifier: Apache-2.0
// Another program, started without a shell, and always reaped.

import CKeychainShims
import Foundation
import KeychainEngine
import SecretMemory

/// A running program. Foundation's `Process` is not used: it waits on a run loop and passes on descriptors.
final class ChildProcess {
    #if canImport(Darwin)
        private typealias FileActions = posix_spawn_file_actions_t?
        private typealias SpawnAttributes = posix_spawnattr_t?
    #else
        private typealias FileActions = posix_spawn_file_actions_t
        private typealias SpawnAttributes = posix_spawnattr_t
    #endif

    private static let nap = Duration.milliseconds(10)
    /// How long a program may take to restore the terminal.
    private static let grace = Duration.seconds(1)

    private let identifier: pid_t
    private var isReaped = false

    /// Starts `program` with the ``ProcessEnvironment`` and standard error of this process. It inherits no other
    /// descriptors.
    ///
    /// - Parameters:
    ///   - output: Becomes its standard output.
    ///   - input: Becomes its standard input; `nil` for an empty one.
    ///   - variables: Added to the environment.
    init(
        _ program: Program, _ arguments: [String], output: Int32, input: Int32?, variables: [String: String] = [:]
    ) throws(KeychainError) {
        var actions = Self.actions(output: output, input: input)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var attributes = Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        var words = ([program.path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier = pid_t()
        let code = ProcessEnvironment.withPointers(adding: variables) {
            posix_spawn(&identifier, program.path, &actions, &attributes, &words, $0)
        }
        guard code == 0 else { throw program.unavailable(String(cString: strerror(code))) }
        self.identifier = identifier
    }

    /// The output first: the descriptor may be number 0, which the input takes next.
    private static func actions(output: Int32, input: Int32?) -> FileActions {
        var actions = FileActions()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        // If the C library does not support this, the program inherits descriptors without close-on-exec.
        _ = keychain_spawn_close_others(&actions, STDERR_FILENO + 1)
        return actions
    }

    /// Signals have their defaults in the program. If this process ignores ^Z, the program must ignore it too.
    private static func attributes() -> SpawnAttributes {
        var attributes = SpawnAttributes()
        posix_spawnattr_init(&attributes)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        #if canImport(Darwin)
            flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #endif
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return attributes
    }

    // MARK: - End

    /// Waits until the program has ended.
    ///
    /// - Returns: Its exit code, or 128 plus the number of a signal; `nil` if the host program has already reaped it.
    /// - Throws: `cancelled`, `timedOut`; the program continues.
    func exitCode(_ waiting: Waiting) throws(KeychainError) -> Int32? {
        while true {
            if case .ended(let code) = reap() { return code }
            try waiting.pause(Self.nap)
        }
    }

    /// Ends the program: after `grace` it is asked to end, and after another second it is killed.
    func end(grace: Duration = .zero) {
        if isGone(within: grace) { return }
        kill(identifier, SIGTERM)
        // A stopped program only ends after it continues.
        kill(identifier, SIGCONT)
        if isGone(within: Self.grace) { return }
        kill(identifier, SIGKILL)
        while !isGone(within: Self.grace) {}
    }

    private enum State { case running, ended(Int32?) }

    private func isGone(within limit: Duration) -> Bool {
        let end = ContinuousClock.now + limit
        while case .running = reap() {
            if end <= .now { return false }
            usleep(UInt32(Self.nap / .microseconds(1)))
        }
        return true
    }

    /// After reaping, the number may belong to another process, so it is not used again.
    private func reap() -> State {
        if isReaped { return .ended(nil) }
        var status: Int32 = 0
        let result = waitpid(identifier, &status, WNOHANG)
        if result == 0 || result < 0 && errno == EINTR { return .running }
        isReaped = true
        guard result == identifier else { return .ended(nil) }
        return .ended(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
    }
}
