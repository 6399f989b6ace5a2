// SPDX-License-Identifier: Apache-2.0
// Other programs that a test starts, and ends if they do not end by themselves.

package import Foundation
import Synchronization

extension Process {
    /// Starts the program. If it still runs when the limit is reached, it is killed with all that it has started: whoever waits
    /// for its end, or for its output, waits no longer.
    package func run(limitedTo limit: Duration) throws {
        try runWithoutBlockedSignals()
        let words = [executableURL?.lastPathComponent ?? "?"] + (arguments ?? [])
        ChildLimit.watch(processIdentifier, String(words.joined(separator: " ").prefix(300)), limit)
    }

    /// As from a shell. The threads of Swift's pool block most signals, and a program that inherits this would outlive them.
    private func runWithoutBlockedSignals() throws {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }

    /// Waits for the end.
    ///
    /// - Throws: ``LimitReached`` if that came only with the limit.
    package func waitForEnd() throws {
        waitUntilExit()
        if let failure = ChildLimit.failure(of: processIdentifier) { throw failure }
    }
}

extension FileHandle {
    /// Reads a pipe until all who may write into it have closed it; that may be somebody else than the program that the test
    /// has started.
    package func readAll(limitedTo limit: Duration = Duration.testLimit + .seconds(60)) throws -> Data {
        let end = ContinuousClock.now + limit
        var data = Data()
        while true {
            let more = try readSome(before: end, limit)
            guard !more.isEmpty else { return data }
            data += more
        }
    }

    /// Waits until there is something to read in a pipe; empty at its end.
    package func readSome(limitedTo limit: Duration = Duration.testLimit + .seconds(60)) throws -> Data {
        try readSome(before: ContinuousClock.now + limit, limit)
    }

    private func readSome(before end: ContinuousClock.Instant, _ limit: Duration) throws -> Data {
        var waiting = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let left: Double = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            guard left > 0 else { throw LimitReached("The output of another program", limit) }
            let count = poll(&waiting, 1, Int32(min(left, 60_000).rounded(.up)))
            if count > 0 { return availableData }
            guard count == 0 || errno == EINTR else { throw CocoaError(.fileReadUnknown) }
        }
    }
}

/// Reads what another program writes into a named pipe, until it closes it; does not wait for ever for it to open it either.
package func readNamedPipe(_ path: String, limitedTo limit: Duration = .testLimit) throws -> Data {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw CocoaError(.fileReadUnknown) }
    return try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readAll(limitedTo: limit)
}

/// What is killed, and when.
private enum ChildLimit {
    /// Of its own, since tests may keep all threads of the shared ones.
    private static let queue = DispatchQueue(label: "swift-keychain.test-limits")
    private static let failures = Mutex<[Int32: LimitReached]>([:])

    static func failure(of number: Int32) -> LimitReached? { failures.withLock { $0[number] } }

    static func watch(_ number: Int32, _ words: String, _ limit: Duration) {
        // Another process may have had the number.
        failures.withLock { $0[number] = nil }
        guard let begin = ProcessStatus(number)?.begin else { return }
        let seconds: Double = limit / .seconds(1)
        queue.asyncAfter(deadline: .now() + seconds) {
            // The number may be another process's by now.
            guard let status = ProcessStatus(number), status.begin == begin, status.state != "Z" else { return }
            let failure = LimitReached("The end of '\(words)'", limit)
            failures.withLock { $0[number] = failure }
            print("\(failure) It is killed.")
            for process in family(of: number) { kill(process, SIGKILL) }
        }
    }

    /// A process and all that descend from it, as long as those between them live.
    private static func family(of root: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        var children: [Int32: [Int32]] = [:]
        for number in names.compactMap({ Int32($0) }) {
            guard let status = ProcessStatus(number) else { continue }
            children[status.parent, default: []].append(number)
        }
        var (found, next) = ([root], 0)
        while next < found.count {
            found += children[found[next]] ?? []
            next += 1
        }
        return found
    }
}

/// What Linux says of a process in `/proc/…/stat`.
private struct ProcessStatus {
    let state: String
    let parent: Int32
    /// In ticks since the system was started: with the number it names a process for good.
    let begin: String

    init?(_ number: Int32) {
        guard let bytes = FileManager.default.contents(atPath: "/proc/\(number)/stat"),
            // The name in parentheses may hold anything.
            let rest = String(decoding: bytes, as: UTF8.self).split(separator: ")").last
        else { return nil }
        let words = rest.split(separator: " ")
        guard words.count > 19, let parent = Int32(words[1]) else { return nil }
        state = String(words[0])
        self.parent = parent
        begin = String(words[19])
    }
}
