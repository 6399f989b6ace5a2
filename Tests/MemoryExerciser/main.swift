// SPDX-License-Identifier: Apache-2.0
// A process that uses secret memory and the kernel keyring, for tests that need another process.

import CTestShims
import Foundation
import SecretMemory

// memory-exerciser COMMAND [ARGUMENT …]; each finding is a line on standard output.

let arguments = CommandLine.arguments
guard arguments.count >= 2 else {
    FileHandle.standardError.write(Data("usage: memory-exerciser COMMAND [ARGUMENT …]\n".utf8))
    exit(64)
}
// A process that starts out possessing nothing finds most traps.
_ = test_join_new_session_keyring()

switch arguments[1] {
case "key-read": KeyringExerciser(arguments[2]).read()
case "key-hold": KeyringExerciser(arguments[2]).hold()
case "key-fork": KeyringExerciser(arguments[2]).fork()
case "key-thread": KeyringExerciser(arguments[2]).thread()
case "key-store": KeyringExerciser(arguments[2]).store(arguments[3])
case "key-race": KeyringExerciser(arguments[2]).race(Int(arguments[3]) ?? 0)
case "key-refused": KeyringExerciser(arguments[2]).refused()
case "memory-protection": MemoryExerciser.protection()
case "memory-release": MemoryExerciser.release(Int(arguments[2]) ?? 0)
case "memory-fork": MemoryExerciser.fork(Int(arguments[2]) ?? 0)
case "harden": MemoryExerciser.harden()
default: exit(64)
}
