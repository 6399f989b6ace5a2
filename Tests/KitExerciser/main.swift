// SPDX-License-Identifier: Apache-2.0
// A process that uses KeychainKit, for tests that need another process: to be killed or raced.

import Foundation
import KeychainKit
import KeychainTesting
import KeychainVault

// kit-exerciser FOLDER DEVICE-KEY COMMAND [ARGUMENT …]; each finished step is a line on standard output.

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
    FileHandle.standardError.write(Data("usage: kit-exerciser FOLDER DEVICE-KEY COMMAND [ARGUMENT …]\n".utf8))
    exit(64)
}
let vault = Vault.at(try VaultLocation(folder: arguments[1], deviceKeyFile: arguments[2]))
let store = SecretStore(service: "kit-exerciser", store: vault)
let rest = Array(arguments[4...])

func report(_ acknowledgement: String, _ body: () throws -> Void) {
    do {
        try body()
        print(acknowledgement)
    } catch let failure as KeychainError {
        print("failed", failure.reason.rawValue, failure.message)
    } catch {
        print("failed unknown")
    }
    fflush(nil)
}

switch arguments[3] {
case "increment":
    for step in 0..<(Int(rest[1]) ?? 0) {
        report("\(step)") { try store.update(Int.self, for: rest[0]) { $0 = ($0 ?? 0) + 1 } }
    }
case "transact":
    // Every step gives all items the same new value, and the odd ones remove half of them.
    for step in 0..<(Int(rest[0]) ?? 0) {
        report("\(step)") {
            try store.transaction { transaction in
                for item in 0..<(Int(rest[1]) ?? 0) {
                    if step % 2 == 1, item % 2 == 1 {
                        transaction.remove("item-\(item)")
                    } else {
                        try transaction.save("step-\(step)", for: "item-\(item)")
                    }
                }
            }
        }
    }
case "save": report("done") { try store.save(rest[1], for: rest[0]) }
case "remove": report("done") { try store.remove(rest[0]) }
case "save-at-each-line":
    // Tells the time at which it was done, of a clock that all processes share.
    while let line = readLine() {
        report("saved") { try store.save(line, for: rest[0]) }
        print(monotonicTime)
        fflush(nil)
    }
case "burst":
    for step in 0..<(Int(rest[0]) ?? 0) {
        report("\(step)") { try store.save("value-\(step)", for: "item-\(step % (Int(rest[1]) ?? 1))") }
    }
case "observe-another":
    let writer = Array(arguments[1...2]) + ["save-at-each-line", rest[0]]
    try await Latency(store: store, account: rest[0], writer: writer).report(count: Int(rest[1]) ?? 0)
case "hurry": hurry(store, worker: Int(rest[0]) ?? 0, operations: Int(rest[1]) ?? 0)
case "silent": await SilentReads(count: Int(rest[0]) ?? 0, deadline: .milliseconds(Int(rest[1]) ?? 0)).report()
default: exit(64)
}
