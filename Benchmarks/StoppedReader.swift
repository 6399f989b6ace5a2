// SPDX-License-Identifier: Apache-2.0
// How long writers wait for each other, with and without a stopped reader.

import CKeychainSQLite
import Foundation
import KeychainEngine
import KeychainServices
import KeychainVault

/// One of the writers: saves and removes, and prints how long each took in microseconds.
func writeAndRemove(_ location: VaultLocation, _ name: String) throws {
    let engine = Engine(store: Vault.at(location))
    for step in 0..<200 {
        var query = Query(.genericPassword, [.service: .string("writers"), .account: .string(name)])
        let start = DispatchTime.now().uptimeNanoseconds
        if step % 2 == 0 {
            query.value = Data("value".utf8)
            _ = try engine.add(query, accessGroups: .unrestricted)
        } else {
            try engine.delete(query, accessGroups: .unrestricted)
        }
        print((DispatchTime.now().uptimeNanoseconds - start) / 1000)
    }
}

func measureStoppedReader(parent: String) throws {
    print("eight writers, half of what they do are removals: the 99th percentile")
    let alone = try Contention(parent: parent).percentile99(besideReader: false)
    let beside = try Contention(parent: parent).percentile99(besideReader: true)
    Row(name: "without a reader", micros: alone, floor: nil, base: 1).print()
    Row(name: "beside a stopped reader", micros: beside, floor: "without", base: alone).print()
}

private struct Contention {
    let bench: Bench

    init(parent: String) throws { bench = try Bench(size: 1000, parent: parent) }

    func percentile99(besideReader: Bool) throws -> Double {
        // To other processes, a stopped process is only an open read transaction that does not continue.
        let reader = besideReader ? try OpenRead(bench.location.folder + "/vault.db") : nil
        let writers = try (0..<8).map { try start("writer-\($0)") }
        let times = writers.flatMap { process, output in
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return text.split(separator: "\n").compactMap { Double($0) }
        }
        reader?.end()
        guard times.count == 8 * 200 else { throw BenchError(status: errSecIO) }
        return times.sorted()[times.count * 99 / 100]
    }

    private func start(_ name: String) throws -> (Process, Pipe) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--contender", bench.location.folder, bench.location.deviceKeyFile, name]
        process.standardOutput = output
        try process.run()
        return (process, output)
    }
}

/// A read transaction.
private final class OpenRead {
    private var connection: OpaquePointer?

    init(_ path: String) throws {
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
            sqlite3_exec(connection, "BEGIN; SELECT count(*) FROM item", nil, nil, nil) == SQLITE_OK
        else { throw BenchError(status: errSecIO) }
    }

    func end() { sqlite3_close(connection) }
}
