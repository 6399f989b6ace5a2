// SPDX-License-Identifier: Apache-2.0
// What a program pays that has just started: the time until its first value, and its memory. This program plays it.

import Foundation
import KeychainKit
import KeychainServices
import KeychainVault

/// What a fresh process does before it ends.
enum FreshProgram: String {
    /// Nothing: what the program costs without a vault.
    case nothing
    /// Reads one value.
    case read
    /// Reads one value and prints its own memory.
    case memory
    /// Prints its own memory.
    case memoryOfNothing

    func run(_ location: VaultLocation) throws {
        if self == .read || self == .memory {
            let store = SecretStore(service: "com.example.service", store: Vault.at(location))
            guard try store.read(Data.self, for: "account-0") != nil else {
                throw BenchError(status: errSecItemNotFound)
            }
        }
        if self == .memory || self == .memoryOfNothing {
            let (all, own) = try Self.memory()
            print(all, own)
        }
    }

    /// In KiB: all of it in RAM, and what no other process shares.
    private static func memory() throws -> (all: Int, own: Int) {
        let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
        func kibibytes(_ name: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
        return (kibibytes("Rss"), kibibytes("Private_Dirty") + kibibytes("Private_Clean"))
    }

    /// Starts this program and waits for its end.
    ///
    /// - Returns: What it printed.
    @discardableResult
    func start(_ location: VaultLocation) throws -> [Int] {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--fresh", location.folder, location.deviceKeyFile, rawValue]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchError(status: errSecIO) }
        return text.split { !$0.isNumber }.compactMap { Int($0) }
    }
}

/// The processes take turns, with and without a read.
func measureFreshProcesses(_ bench: Bench) throws {
    var timing = Timing()
    let location = bench.location
    try timing.run(
        rounds: 9, count: 7,
        [
            ("a process that does nothing", { _ in try FreshProgram.nothing.start(location) }),
            ("a process that reads one value", { _ in try FreshProgram.read.start(location) }),
        ])
    report(timing, [("a process that does nothing", nil), ("a process that reads one value", nil)])
    let first = timing.median("a process that reads one value") - timing.median("a process that does nothing")
    Row(name: "  the read in it, opening included", micros: first, floor: nil, base: 1).print()
    try measureMemory(location)
}

private func measureMemory(_ location: VaultLocation) throws {
    var (all, own): ([Double], [Double]) = ([], [])
    for _ in 0..<9 {
        let (with, without) = (
            try FreshProgram.memory.start(location), try FreshProgram.memoryOfNothing.start(location)
        )
        guard with.count == 2, without.count == 2 else { throw BenchError(status: errSecIO) }
        all.append(Double(with[0] - without[0]))
        own.append(Double(with[1] - without[1]))
    }
    print(
        "  " + "memory for reading one value".padding(toLength: 42, withPad: " ", startingAt: 0)
            + String(format: "%9.1f MiB, of it private %.1f", Timing.median(all) / 1024, Timing.median(own) / 1024))
}
