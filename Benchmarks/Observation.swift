// SPDX-License-Identifier: Apache-2.0
// How soon a change made by another process is seen, and what waiting for it costs.

import Foundation
import KeychainKit
import KeychainServices
import KeychainVault

/// Nanoseconds of a clock that all processes share.
private var monotonicTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The other process: saves at each line it gets, and tells when it began and when it was done.
func writeAtEachLine(_ location: VaultLocation) throws {
    let store = SecretStore(service: "com.example.observed", store: Vault.at(location))
    while let line = readLine() {
        let start = monotonicTime
        try store.save(line, for: "account")
        print(start, monotonicTime)
        fflush(nil)
    }
}

func measureObservation(parent: String) async throws {
    let bench = try Bench(size: 1000, parent: parent)
    let store = SecretStore(service: "com.example.observed", store: bench.services.engine.store)
    try await store.save("0", for: "account")
    let writer = try Writer(bench.location)
    var (saves, sights): ([Double], [Double]) = ([], [])
    var changes = try await store.changes(for: "account").makeAsyncIterator()
    for round in 1...101 {
        try writer.save(round)
        guard await changes.next()?.kind == .updated else { throw BenchError(status: errSecItemNotFound) }
        let seen = monotonicTime
        let (start, end) = try writer.times()
        saves.append(Double(end - start) / 1000)
        sights.append(Double(seen - start) / 1000)
    }
    print("changes by another process, 1000 items")
    Row(name: "save", micros: Timing.median(saves), floor: nil, base: 1).print()
    Row(
        name: "from its begin to the sight of it", micros: Timing.median(sights), floor: "save",
        base: Timing.median(saves)
    )
    .print()
    let (time, wakeUps) = idle()
    Row(name: "processor time of two idle seconds", micros: time, floor: nil, base: 1).print()
    print("  " + "wake-ups in them".padding(toLength: 42, withPad: " ", startingAt: 0) + String(format: "%9d", wakeUps))
    withExtendedLifetime(changes) {}
}

/// While an observer waits for changes and there are none, once the threads of earlier calls have ended.
///
/// - Returns: Processor time in microseconds, and how often any thread but this one went to sleep again.
private func idle() -> (time: Double, wakeUps: Int) {
    Thread.sleep(forTimeInterval: 6)
    let switches = sleeps()
    let time = clock()
    Thread.sleep(forTimeInterval: 2)
    let used = clock() - time
    let after = sleeps()
    let wakeUps = after.map { thread, count in count - (switches[thread] ?? 0) }.reduce(0, +)
    return (Double(used) * 1_000_000 / Double(CLOCKS_PER_SEC), wakeUps)
}

/// How often each thread but this one has gone to sleep.
private func sleeps() -> [String: Int] {
    var counts: [String: Int] = [:]
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
    for thread in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    where !own.hasSuffix("/" + thread) {
        guard let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("voluntary_ctxt_switches") })
        else { continue }
        counts[thread] = line.split(separator: "\t").last.flatMap { Int($0) }
    }
    return counts
}

/// This program as another process.
private final class Writer {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var text = ""

    init(_ location: VaultLocation) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--writer", location.folder, location.deviceKeyFile]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
    }

    deinit {
        do { try input.fileHandleForWriting.close() } catch { process.terminate() }
        process.waitUntilExit()
    }

    func save(_ number: Int) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(number)\n".utf8)) }

    func times() throws -> (start: Int, end: Int) {
        while !text.contains("\n") {
            let bytes = output.fileHandleForReading.availableData
            guard !bytes.isEmpty else { throw BenchError(status: errSecIO) }
            text += String(decoding: bytes, as: UTF8.self)
        }
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        text = ""
        guard numbers.count == 2 else { throw BenchError(status: errSecIO) }
        return (numbers[0], numbers[1])
    }
}
