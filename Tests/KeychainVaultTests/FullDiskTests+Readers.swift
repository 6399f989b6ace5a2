// SPDX-License-Identifier: Apache-2.0
// A full disk beside a process that keeps the vault open: the WAL gets longer, and must still be moved in the end.

import KeychainTestSupport
import Testing

@testable import KeychainVault

extension FullDiskTests {
    /// What the reader has not seen has no space in the database yet.
    @Test(arguments: ["", "vault add-of-size unseen 100000 >$1/log"])
    func deletions_besideAReaderOnAFullDisk_workAgainOnceItHasEnded(addition: String) throws {
        let lines = try FullDisk(mebibytes: 8).run(
            """
            for name in $(seq 20) last; do vault add-of-size $name 60000; done >$1/log
            \(Self.startReader)
            \(addition)
            fill
            for name in $(seq 20); do vault delete $name; done >$1/log
            head -1 $1/log; tail -1 $1/log | cut -d ' ' -f 1-2
            tail -1 $1/log | grep -c "Process $reader (exerciser) is reading the vault"
            \(Self.endReader)
            fill; vault delete last; vault read last | cut -c 1-40
            fill; vault delete 20; vault read 20 | cut -c 1-40; vault examine
            """)
        #expect(
            lines.steps == [
                "reading", "full", "done", "failed diskFull", "1", "done",
                "full", "done", "failed itemNotFound", "full", "done", "failed itemNotFound", "no problem",
            ])
    }

    /// A process that is killed leaves the WAL and its index as they are.
    @Test func protector_afterAReaderWasKilledOnAFullDisk_isRemoved() throws {
        let lines = try FullDisk(mebibytes: 8).run(
            """
            vault protect old
            for name in $(seq 20); do vault add-of-size $name 60000; done >$1/log
            for name in $(seq 21 30); do vault add $name value; done >$1/log
            \(Self.startReader)
            vault add-of-size unseen 100000; fill
            for name in $(seq 30); do vault delete $name; done >$1/log; tail -1 $1/log | cut -d ' ' -f 1-2
            kill -9 $reader; cat <&4; fill
            vault change remove-passphrase; vault openers; vault rotating; vault examine
            """)
        #expect(
            lines.steps == [
                "done", "reading", "done", "full", "failed diskFull", "full", "done", "device-key", "false",
                "no problem",
            ])
    }

    /// It is smaller than what is kept for the WAL while there are readers.
    @Test func vault_withAPartOfItsReserve_isDeletedFrom() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add-and-close gone value-2
            truncate -s 100K $disk/vault/vault.reserve; fill; vault delete gone; vault read gone; vault read kept
            """)
        #expect(lines.steps == ["done", "done", "full", "done", "failed itemNotFound", "value-1"])
    }

    private static let startReader = """
        mkfifo $1/in $1/out
        "$exerciser" hold-read $disk/vault $key <$1/in >$1/out &
        reader=$!; exec 3>$1/in 4<$1/out; read line <&4; echo $line
        """

    private static let endReader = "exec 3>&-; cat <&4"
}
