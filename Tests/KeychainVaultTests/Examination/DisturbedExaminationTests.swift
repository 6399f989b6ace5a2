// SPDX-License-Identifier: Apache-2.0
// Examinations of a vault that other processes open, write and close all the time.

#if DEBUG
    import Foundation
    import KeychainEngine
    import Testing

    @testable import KeychainVault

    struct DisturbedExaminationTests {
        /// The vault is closed each time that the examination opens it. Without the WAL the file is then older than what
        /// this machine has seen.
        @Test func vault_writtenDuringEachAttempt_isNotCalledOlder() throws {
            let test = try TestVault()
            try test.engine.add(.genericPassword("s", "a", value: "v"))
            try test.vault.close()
            let other = test.another()
            let write: @Sendable () throws -> Void = {
                try other.engine.add(.genericPassword("s", UUID().uuidString, value: "v"))
            }
            var problems: [Finding] = []
            try Mishap.at(.examinationOpened, write) {
                try Mishap.at(.rowsRead, { try other.close() }) {
                    problems = Vault.examine(test.location).filter { $0.severity == .problem }
                }
            }
            #expect(problems == [])
            #expect(try test.engine.text(.genericPassword("s", "a")) == "v")
        }
    }
#endif
