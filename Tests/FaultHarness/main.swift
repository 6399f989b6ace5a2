// SPDX-License-Identifier: Apache-2.0
// fault-harness: faults, power cuts and interleavings, tried on real vaults.

import Foundation
import KeychainVault

signal(SIGPIPE, SIG_IGN)
do {
    try Command(Array(CommandLine.arguments.dropFirst())).run()
} catch {
    FileHandle.standardError.write(Data("fault-harness: \(error)\n".utf8))
    exit(70)
}
