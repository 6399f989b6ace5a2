// SPDX-License-Identifier: Apache-2.0
// A process that uses a vault, for tests that need another process: to be killed, starved or raced.

import Foundation
import KeychainEngine
import KeychainVault

// vault-exerciser FOLDER DEVICE-KEY COMMAND [ARGUMENT …]; each finished step is a line on standard output.

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
    FileHandle.standardError.write(Data("usage: vault-exerciser FOLDER DEVICE-KEY COMMAND [ARGUMENT …]\n".utf8))
    exit(64)
}
let vault = Vault.at(
    try VaultLocation(folder: arguments[1], deviceKeyFile: arguments[2]),
    try exerciserSettings(ProcessInfo.processInfo.environment))
let exerciser = Exerciser(engine: Engine(store: vault))
let protection = Protection(vault: vault, exerciser: exerciser)
let rest = Array(arguments[4...])

switch arguments[3] {
case "script": exerciser.script(steps: Int(rest[0]) ?? 0)
case "swarm": exerciser.swarm(worker: Int(rest[0]) ?? 0, operations: Int(rest[1]) ?? 0)
case "add": exerciser.report { try exerciser.add(rest[0], rest[1]) }
case "update": exerciser.report { try exerciser.update(rest[0], rest[1]) }
case "read": exerciser.report { print(try exerciser.read(rest[0])) }
case "read-twice": exerciser.readTwice(rest[0], signal: rest[1])
case "delete": exerciser.report { try exerciser.delete(rest[0]) }
case "change": exerciser.report { try protection.change(rest[0]) }
case "unlock": exerciser.report { try protection.unlock(rest[0], seconds: rest.count > 1 ? Int(rest[1]) : nil) }
case "unlock-and-read":
    exerciser.report {
        try protection.unlock(rest[0], seconds: nil)
        print(try exerciser.read(rest[1]))
    }
case "lock": exerciser.report { try vault.lock(forgettingFirstUnlock: rest.first == "all") }
case "state": exerciser.report { print(try vault.lockState.rawValue) }
case "protect": exerciser.report { try protection.protect(rest[0]) }
case "hold-read": exerciser.report { try holdRead(arguments[1]) }
case "hold-database": exerciser.report { try holdDatabase(arguments[1]) }
case "delete-each": exerciser.deleteEach(rest[0], count: Int(rest[1]) ?? 0)
case "add-large": exerciser.report { try exerciser.add(rest[0], String(repeating: "v", count: 300_000)) }
case "add-and-close":
    exerciser.report {
        try exerciser.add(rest[0], rest[1])
        try Vault.closeAll()
    }
case "count": exerciser.report { print(try exerciser.count()) }
case "openers": exerciser.report { print(try vault.status().slots.compactMap(\.kind?.word).joined(separator: " ")) }
case "rotating": exerciser.report { print(try vault.status().isRotating) }
case "hold": exerciser.report { try protection.hold(rest[0]) }
case "observe": exerciser.observe(vault)
case "observe-and-fork": exerciser.report { try exerciser.observeAndFork(vault) }
case "add-and-wait": exerciser.report { try exerciser.addAndWait(rest[0]) }
case "backup": exerciser.report { try vault.backup(to: rest[0], replacing: true) }
case "restore": exerciser.report { try vault.restore(from: rest[0]) }
case "add-until-told":
    // Adds items one after the other until it is told to end, and tells each that is acknowledged.
    exerciser.addUntilTold(rest[0])
case "leftovers": Leftovers.wait(after: rest[0])
case "needles": await Needles(vault: vault, words: rest).run()
case "hold-open": exerciser.report { try Needles.holdOpen(vault, refusingSecretMemory: rest[0] == "refused") }
case "derive": Leftovers.report(rounds: UInt64(rest[0]) ?? 0)
case "crash-runs":
    CrashRuns(location: vault.location, settings: vault.settings).run(
        count: Int(rest[0]) ?? 0, seed: UInt64(rest[1]) ?? 0)
default: exit(64)
}
