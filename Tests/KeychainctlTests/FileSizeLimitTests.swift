// SPDX-License-Identifier: Apache-2.0
// Verbs of a program that may only write small files.

import Foundation
import Testing

struct FileSizeLimitTests {
    /// The first limits are below the size of the WAL's index, at which SQLite reports failures of other kinds.
    @Test(arguments: ["set -s example.com -a bob", "delete -s example.com -a alice", "rotate"])
    func verb_withALimitOfTheFileSize_namesTheLimit(_ line: String) throws {
        let tool = try Tool()
        try tool.store()
        let index = "$HOME/.local/share/swift-keychain/vault.db-shm"
        for limit in [0, 4, 16] {
            // The limit holds for the file of this test with its errors, too.
            let run = try tool.shell(
                """
                rm -f "\(index)"
                { (ulimit -f \(limit); "$CTL" \(line)); echo "status $?" >&2; } 2>&1 | cat >&2
                """, input: otherSecret)
            #expect(run.errors.hasSuffix("status 9\n"), "\(limit): \(run.errors)")
            #expect(run.errors.contains("ulimit -f"), "\(limit): \(run.errors)")
        }
        #expect(try tool.get() == secret)
        #expect(try tool.run("doctor").status == 0)
    }
}
