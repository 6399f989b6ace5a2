// SPDX-License-Identifier: Apache-2.0
// Processes of this same program in another role, which may die, stop and hang without the harness doing so.

import Foundation
import Synchronization

/// A running child. Its standard output is read line by line, each with a limit on the time.
final class Child {
    enum Reading {
        case line(String)
        case ended
        case late
    }

    enum Ending: Equatable {
        case exited(Int32)
        case signalled(Int32)
        case stopped
        case late
    }

    let pid: pid_t
    private let input: Int32
    private let output: Int32
    private var buffer: [UInt8] = []
    private var isReaped = false

    /// - Parameter arguments: The role and what it takes.
    init(_ arguments: [String]) throws {
        (pid, input, output) = try Self.starting.withLock { _ in try Self.start(arguments) }
    }

    /// One at a time, or a child would keep the pipes of another one open.
    private static let starting = Mutex(())

    private static func start(_ arguments: [String]) throws -> (pid: pid_t, input: Int32, output: Int32) {
        var (toChild, fromChild): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
            throw HarnessError("no pipe: \(String(cString: strerror(errno)))")
        }
        for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let pid = try spawn(arguments, input: toChild[0], output: fromChild[1])
        close(toChild[0])
        close(fromChild[1])
        return (pid, toChild[1], fromChild[0])
    }

    deinit {
        close(input)
        close(output)
        guard !isReaped else { return }
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    private static func spawn(_ arguments: [String], input: Int32, output: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        let words = ([CommandLine.arguments[0]] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, "/proc/self/exe", &actions, nil, words + [nil], environ)
        guard code == 0 else { throw HarnessError("no process: \(String(cString: strerror(code)))") }
        return pid
    }

    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // To one that has died nothing is sent; its answer will tell.
        _ = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    }

    func line(within seconds: Double) -> Reading {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeFirst(end + 1)
                return .line(line)
            }
            let left = (deadline - ContinuousClock.now) / Duration.milliseconds(1)
            var events = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&events, 1, Int32(left) + 1) >= 0 else { return .late }
            guard events.revents != 0 else { continue }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &bytes, bytes.count)
            guard count > 0 else { return .ended }
            buffer += bytes[..<count]
        }
    }

    /// All lines until the output ends.
    ///
    /// - Returns: `nil` if the time was up before.
    func lines(within seconds: Double) -> [String]? {
        var lines: [String] = []
        while true {
            switch line(within: seconds) {
            case .line(let line): lines.append(line)
            case .ended: return lines
            case .late: return nil
            }
        }
    }

    /// Waits for the process to end or stop, and kills it when the time is up.
    func end(within seconds: Double) -> Ending {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var status: Int32 = 0
        while ContinuousClock.now < deadline {
            let changed = waitpid(pid, &status, WNOHANG | WUNTRACED)
            if changed == pid { return ending(status) }
            usleep(300)
        }
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
        isReaped = true
        return .late
    }

    private func ending(_ status: Int32) -> Ending {
        if status & 0xFF == 0x7F { return .stopped }
        isReaped = true
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}

/// A process that checks vaults, or is the other program beside the one under test. One serves many points.
final class Server {
    private var child: Child?

    /// The next request has a process that remembers nothing.
    func forget() { child = nil }

    /// - Returns: The answer; `nil` if the process died or said nothing in time. The next request has a new one.
    func ask(_ request: String, within seconds: Double = 20) throws -> String? {
        let child = try child ?? Child(["serve"])
        self.child = child
        child.send(request)
        guard case .line(let answer) = child.line(within: seconds) else {
            self.child = nil
            return nil
        }
        // Keys that it unlocked must not meet another copy of the same vault.
        if answer != "ok" { self.child = nil }
        return answer
    }
}
