// SPDX-License-Identifier: Apache-2.0
// What it costs to start the tool, before it does anything.

import Foundation
import KeychainServices
import KeychainVault

/// The processor time of `keychainctl --version`, beside that of this program doing nothing.
struct Starting {
    let bench: Bench

    /// Of 15 pairs, the first quarter: what else the machine does never makes a start faster.
    func ratio() throws -> Double {
        let tool = try Self.tool()
        var ratios: [Double] = []
        for _ in 0..<15 {
            let floor = try Self.time { try FreshProgram.nothing.start(bench.location) }
            ratios.append(try Self.time { try Self.run(tool) } / floor)
        }
        return ratios.sorted()[ratios.count / 4]
    }

    /// The one that was built beside this program.
    private static func tool() throws -> URL {
        let tool = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("keychainctl")
        guard FileManager.default.isExecutableFile(atPath: tool.path) else {
            print("There is no '\(tool.path)' to measure. Build it first: Scripts/install.sh release")
            throw BenchError(status: errSecItemNotFound)
        }
        return tool
    }

    private static func run(_ tool: URL) throws {
        let process = Process()
        (process.executableURL, process.arguments) = (tool, ["--version"])
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchError(status: errSecIO) }
    }

    /// The processor time of the processes that have ended meanwhile, in seconds.
    private static func time(_ body: () throws -> Void) rethrows -> Double {
        let before = childTime()
        try body()
        return childTime() - before
    }

    private static func childTime() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }
}
