// SPDX-License-Identifier: Apache-2.0
// Changes by another process, each made when the one before has been seen.

import Foundation
import KeychainKit

struct OneByOne {
    let store: SecretStore
    let account: String
    /// Of the other process, which saves at each line that it gets.
    let writer: [String]

    /// Prints a line for each change that came.
    func report(count: Int) async throws {
        let (process, input) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = writer
        (process.standardInput, process.standardOutput) = (input, FileHandle.nullDevice)
        try process.run()
        defer {
            input.fileHandleForWriting.closeFile()
            process.waitUntilExit()
        }
        var changes = try await store.changes(for: account).makeAsyncIterator()
        for number in 0..<count {
            try input.fileHandleForWriting.write(contentsOf: Data("value-\(number)\n".utf8))
            guard let change = await changes.next() else { return }
            print(change.kind.rawValue)
        }
    }
}
