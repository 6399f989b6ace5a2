// SPDX-License-Identifier: Apache-2.0
// A process of its own, for tests that need one: to be killed, starved, raced, traced or searched.
//
//   exerciser VERB [ARGUMENT …]
//
// This is the table of its verbs. Each finished step is a line on standard output. Nothing is set up before the verb is known:
// the vault, the session of the keyring and the treatment of signals belong to a group of verbs, and to no other.

import Foundation
import KeychainEngine
import KeychainVault

guard let verb = CommandLine.arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("usage: exerciser VERB [ARGUMENT …]; main.swift lists the verbs\n".utf8))
    exit(64)
}
let rest = Array(CommandLine.arguments.dropFirst(2))

switch verb {
// Items of a vault: FOLDER DEVICE-KEY [ARGUMENT …]
case "add": try VaultVerb(rest).acknowledge { try $0.items.add($0[0], $0[1]) }
case "add-large": try VaultVerb(rest).acknowledge { try $0.items.add($0[0], String(repeating: "v", count: 300_000)) }
case "add-of-size":
    try VaultVerb(rest).acknowledge { try $0.items.add($0[0], String(repeating: "v", count: $0.number(1))) }
case "add-many": try VaultVerb(rest).acknowledge { try $0.items.addMany($0.number(0)) }
case "add-and-close":
    try VaultVerb(rest).acknowledge {
        try $0.items.add($0[0], $0[1])
        try Vault.closeAll()
    }
case "add-and-wait": try VaultVerb(rest).acknowledge { try $0.items.addAndWait($0[0]) }
case "add-until-told": try VaultVerb(rest).run { $0.items.addUntilTold($0[0]) }
case "update": try VaultVerb(rest).acknowledge { try $0.items.update($0[0], $0[1]) }
case "read": try VaultVerb(rest).acknowledge { print(try $0.items.read($0[0])) }
case "read-paused":
    try VaultVerb(rest).acknowledge {
        pauseOnce(at: .rowsRead)
        print(try $0.items.read($0[0]))
    }
case "read-twice": try VaultVerb(rest).run { $0.items.readTwice($0[0], signal: $0[1]) }
case "delete": try VaultVerb(rest).acknowledge { try $0.items.delete($0[0]) }
case "delete-in-transaction": try VaultVerb(rest).acknowledge { try $0.items.delete($0[0], adding: nil) }
case "delete-and-add": try VaultVerb(rest).acknowledge { try $0.items.delete($0[0], adding: $0[1]) }
case "delete-all": try VaultVerb(rest).acknowledge { try $0.items.deleteAll() }
case "delete-each": try VaultVerb(rest).run { $0.items.deleteEach($0[0], count: $0.number(1)) }
case "count": try VaultVerb(rest).acknowledge { print(try $0.items.count()) }
case "script": try VaultVerb(rest).run { $0.items.script(steps: $0.number(0)) }
case "swarm": try VaultVerb(rest).run { $0.items.swarm(worker: $0.number(0), operations: $0.number(1)) }
case "register": try VaultVerb(rest).run { $0.items.count($0[0], to: $0.number(1)) }
case "crash-runs":
    try VaultVerb(rest).run {
        let runs = CrashRuns(location: $0.vault.location, settings: $0.vault.settings)
        runs.run(count: $0.number(0), seed: UInt64($0[1]) ?? 0)
    }

// A vault as a whole, and what opens it: FOLDER DEVICE-KEY [ARGUMENT …]
case "unlock":
    try VaultVerb(rest).acknowledge {
        try $0.protection.unlock($0[0], seconds: $0.arguments.count > 1 ? $0.number(1) : nil)
    }
case "unlock-and-read":
    try VaultVerb(rest).acknowledge {
        try $0.protection.unlock($0[0], seconds: nil)
        print(try $0.items.read($0[1]))
    }
case "lock": try VaultVerb(rest).acknowledge { try $0.vault.lock(forgettingFirstUnlock: $0.arguments.first == "all") }
case "state": try VaultVerb(rest).acknowledge { print(try $0.vault.lockState.rawValue) }
case "protect": try VaultVerb(rest).acknowledge { try $0.protection.protect($0[0]) }
case "change": try VaultVerb(rest).acknowledge { try $0.protection.change($0[0]) }
case "openers":
    try VaultVerb(rest).acknowledge {
        print(try $0.vault.status().slots.compactMap(\.kind?.word).joined(separator: " "))
    }
case "rotating": try VaultVerb(rest).acknowledge { print(try $0.vault.status().isRotating) }
case "examine": try VaultVerb(rest).acknowledge { print(problems(of: $0.vault)) }
case "examine-paused":
    try VaultVerb(rest).acknowledge {
        pause(at: .rowsRead)
        print(problems(of: $0.vault))
    }
case "backup": try VaultVerb(rest).acknowledge { try $0.vault.backup(to: $0[0], replacing: true) }
case "backup-paused":
    try VaultVerb(rest).acknowledge {
        pauseOnce(at: .backupCopied)
        try $0.vault.backup(to: $0[0])
    }
case "restore": try VaultVerb(rest).acknowledge { try $0.vault.restore(from: $0[0]) }
case "observe": try VaultVerb(rest).run { $0.items.observe($0.vault) }
case "observe-and-fork": try VaultVerb(rest).acknowledge { try $0.items.observeAndFork($0.vault) }
case "fork-and-end": try VaultVerb(rest).acknowledge { try $0.items.forkAndEnd($0[0]) }
case "fork-and-use-threads": try VaultVerb(rest).acknowledge { try $0.items.forkAndUseThreads() }
case "fork-and-read-again": try VaultVerb(rest).acknowledge { try $0.items.forkAndReadAgain($0.vault) }
case "fork-while-writing": try VaultVerb(rest).acknowledge { try $0.items.forkWhileWriting($0.vault) }
case "fork-in-a-transaction":
    try VaultVerb(rest).acknowledge { try $0.items.forkInATransaction($0.vault, adding: $0[0] == "adding") }
case "fork-while-locked": try VaultVerb(rest).acknowledge { try $0.items.forkWhileLocked($0.vault) }
case "fork-while-opening": try VaultVerb(rest).acknowledge { try $0.items.forkWhileOpening($0.vault) }
case "hold-read": try VaultVerb(rest).acknowledge { try holdRead($0.vault.location.folder) }
case "hold-database": try VaultVerb(rest).acknowledge { try holdDatabase($0.vault.location.folder) }

// Secrets that are looked for afterwards, in a vault: FOLDER DEVICE-KEY [ARGUMENT …]
case "hold": try VaultVerb(rest).acknowledge { try $0.protection.hold($0[0]) }
case "hold-open":
    try VaultVerb(rest).acknowledge { try Needles.holdOpen($0.vault, refusingSecretMemory: $0[0] == "refused") }
case "needles": try await Needles(VaultVerb(rest)).run()
case "ring":
    let verb = try VaultVerb(rest)
    try await NeedleRing(vault: verb.vault).run(verb.arguments)

// The same without a vault: ARGUMENT
case "residue": Residue.wait(after: rest[0])
case "derive": Residue.report(rounds: UInt64(rest[0]) ?? 0)

// KeychainKit over a vault: FOLDER DEVICE-KEY [ARGUMENT …]
case "save": try KitVerb(rest).save()
case "save-at-each-line": try KitVerb(rest).saveAtEachLine()
case "save-shared": try KitVerb(rest).saveShared()
case "remove": try KitVerb(rest).remove()
case "increment": try KitVerb(rest).increment()
case "transact": try KitVerb(rest).transact()
case "burst": try KitVerb(rest).burst()
case "hurry": try KitVerb(rest).hurry()
case "observe-another": try await KitVerb(rest).observeAnother()

// KeychainKit over a store that never answers: COUNT MILLISECONDS
case "silent": await SilentReads(count: Int(rest[0]) ?? 0, timeout: .milliseconds(Int(rest[1]) ?? 0)).report()

// Keys of the kernel's keyring, in a session of its own: NAME [ARGUMENT]
case "key-read": KeyringVerb(rest[0]).read()
case "key-hold": KeyringVerb(rest[0]).hold()
case "key-fork": KeyringVerb(rest[0]).fork()
case "key-thread": KeyringVerb(rest[0]).thread()
case "key-store": KeyringVerb(rest[0]).store(rest[1])
case "key-store-killed": KeyringVerb(rest[0]).storeKilled(rest[1])
case "key-remove": KeyringVerb.remove(rest)
case "key-race": KeyringVerb(rest[0]).race(Int(rest[1]) ?? 0)
case "key-refused": KeyringVerb(rest[0]).refused()

// Secret memory, and the process that has it: [BYTES]
case "memory-protection": MemoryVerb.protection()
case "memory-release": MemoryVerb.release(Int(rest[0]) ?? 0)
case "memory-fork": MemoryVerb.fork(Int(rest[0]) ?? 0)
case "harden": MemoryVerb.harden()

// One question: terminal|pinentry|askpass|explicit [OPTION …]
case "ask": try Question(QuestionOptions(rest)).ask()

// Questions before and after one of a forked child, which has its own program: PROGRAM PROGRAM
case "ask-around-a-fork": try Question.aroundAFork(rest[0], inTheChild: rest[1])

default: exit(64)
}
