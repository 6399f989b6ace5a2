// SPDX-License-Identifier: Apache-2.0
// A disk without a free byte: reading, deleting and changing the keybag work, saving says that it is full.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

/// Each test mounts a small file system of its own, which only its processes see.
@Suite(.enabled(if: FullDisk.canMount, "this user may not mount a file system in a namespace of its own"))
struct FullDiskTests {
    @Test func vault_closedBeforeTheDiskWasFull_isReadAndDeletedFrom() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add gone value-2; vault add-and-close last value-3
            fill; vault read kept; vault read last
            vault delete gone; fill; vault read gone; vault read kept
            """)
        #expect(
            lines.steps == [
                "done", "done", "done", "full", "value-1", "value-3", "done", "full", "failed itemNotFound", "value-1",
            ])
    }

    @Test func vault_copiedWithASparseReserve_isDeletedFrom() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add gone value-2
            truncate -s 0 $disk/vault/vault.reserve; truncate -s 1M $disk/vault/vault.reserve
            vault add last value-3; fill; vault delete gone; vault read gone; vault read kept
            """)
        #expect(lines.steps == ["done", "done", "done", "full", "done", "failed itemNotFound", "value-1"])
    }

    @Test func vault_inUseWhenTheDiskGetsFull_isReadAndDeletedFrom() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add gone value-2
            fill; vault read kept; vault delete gone; vault read gone; vault read kept
            """)
        #expect(lines.steps == ["done", "done", "full", "value-1", "done", "failed itemNotFound", "value-1"])
    }

    @Test func vault_whoseWALWasOnlyBegunWhenTheDiskGotFull_isRead() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; head -c 32 $disk/vault/vault.db-wal >$1/header
            vault add-and-close last value-2; cat $1/header >$disk/vault/vault.db-wal
            chmod 600 $disk/vault/vault.db-wal; fill; vault read kept; stat -c %s $disk/vault/vault.db-wal
            """)
        #expect(lines.steps == ["done", "done", "full", "value-1", "32"])
    }

    @Test func vault_withChangesInItsWALAndNoSpaceForTheIndex_isRead() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add last value-2
            : >$disk/vault/vault.db-shm; fill; vault read kept; vault read last
            """)
        #expect(lines.steps == ["done", "done", "full", "value-1", "value-2"])
    }

    @Test func vault_withChangesInItsWAL_isExaminedOnAFullDisk() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add last value-2; vault examine; fill; vault examine
            """)
        #expect(lines.steps == ["done", "done", "no problem", "full", "no problem"])
    }

    /// The index is empty, as after a process was ended that had no space for it.
    @Test func vault_withChangesInItsWALAndNoSpaceForTheIndex_isExamined() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add last value-2
            : >$disk/vault/vault.db-shm; fill; vault examine
            """)
        #expect(lines.steps == ["done", "done", "full", "no problem"])
    }

    @Test func vault_withChangesInItsWALAndNoIndex_isExaminedOnAFullDisk() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add last value-2
            rm $disk/vault/vault.db-shm; fill; vault examine; vault read last; vault examine
            """)
        #expect(lines.steps == ["done", "done", "full", "no problem", "value-2", "no problem"])
    }

    @Test func vault_withChangesInItsWALAndNoIndex_isDeletedFromOnAFullDisk() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add gone value-2
            rm $disk/vault/vault.db-shm; fill; vault add more value-3
            vault delete gone; vault read gone; vault read kept
            """)
        #expect(lines.steps == ["done", "done", "full", "failed diskFull", "done", "failed itemNotFound", "value-1"])
    }

    @Test func deletionInATransaction_onAFullDisk_works() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; vault add gone value-2; vault add-and-close last value-3; fill
            vault delete-in-transaction gone; fill; vault delete-in-transaction last; vault read last; vault read kept
            """)
        #expect(
            lines.steps == ["done", "done", "done", "full", "done", "full", "done", "failed itemNotFound", "value-1"])
    }

    @Test(arguments: ["delete-and-add last more", "add more value"])
    func transactionThatStores_onAFullDisk_isRefusedAndLeavesTheReserve(change: String) throws {
        let lines = try FullDisk().run(
            """
            vault add-and-close last value-3; fill
            for time in 1 2 3; do vault \(change); size; done
            vault read last; vault read more; vault delete last; vault read last; vault examine
            """)
        let refused = Array(repeating: ["failed diskFull", "\(Reserve.size)"], count: 3).joined()
        #expect(
            lines.steps == ["done", "full"] + refused + [
                "value-3", "failed itemNotFound", "done", "failed itemNotFound", "no problem",
            ])
    }

    @Test func save_whereNoFileCanBeMade_isRefusedAsOnAFullDisk() throws {
        let lines = try FullDisk().run(
            """
            vault add-and-close kept value-1
            mount -o remount,nr_inodes=$(df --output=iused $disk | tail -1 | tr -d ' ') $disk
            vault add more value-2; vault read kept
            """)
        #expect(lines.steps == ["done", "failed diskFull", "value-1"])
    }

    @Test func vault_withChangesInItsWALAndNoFileForTheIndex_isRead() throws {
        let lines = try FullDisk().run(Self.withoutIndex + "vault read kept; vault read last")
        #expect(lines.steps == ["done", "done", "value-1", "value-2"])
    }

    @Test func vault_withChangesInItsWALAndNoFileForTheIndex_isExamined() throws {
        let lines = try FullDisk().run(
            Self.withoutIndex + "vault examine; test -e $disk/vault/vault.db-shm || echo 'no index'")
        #expect(lines.steps == ["done", "done", "no problem", "no index"])
    }

    @Test func vault_withChangesInItsWALAndNoFileForTheIndex_isDeletedFromAndNotSavedTo() throws {
        let lines = try FullDisk().run(
            Self.withoutIndex + "vault add more value-3; vault delete kept; vault read kept; vault read last")
        #expect(
            lines.steps == ["done", "done", "failed diskFull", "done", "failed itemNotFound", "value-2"])
    }

    #if DEBUG
        /// The reader has its index in memory, so writers do not see that it reads, and overwrite what it reads.
        @Test func item_changedDuringAReadWithoutTheFileOfTheIndex_isReadAgain() throws {
            let lines = try FullDisk().run(
                Self.withoutIndex + """
                    mkfifo $1/in $1/out
                    "$exerciser" read-paused $disk/vault $key kept <$1/in >$1/out &
                    exec 3>$1/in 4<$1/out
                    read line <&4; echo $line
                    mount -o remount,nr_inodes=1000 $disk; vault update kept value-3
                    echo go >&3; cat <&4
                    """)
            #expect(lines.steps == ["done", "done", "rowsRead", "done", "value-3", "done"])
        }
    #endif

    /// Two items in the WAL, no index, and no space for one more file.
    private static let withoutIndex = """
        vault add kept value-1; vault add last value-2
        rm $disk/vault/vault.db-shm
        mount -o remount,nr_inodes=$(df --output=iused $disk | tail -1 | tr -d ' ') $disk

        """

    @Test func save_onAFullDisk_isRefusedAndLeavesTheReserve() throws {
        let lines = try FullDisk().run(
            """
            vault add kept value-1; fill
            for name in 1 2 3 4 5 6 7 8; do vault add-large $name; done
            size; vault delete kept; vault read kept
            """)
        let refused = Array(repeating: "failed diskFull", count: 8)
        #expect(lines.steps == ["done", "full"] + refused + ["\(Reserve.size)", "done", "failed itemNotFound"])
    }

    @Test func deletions_oneAfterTheOtherOnAFullDisk_allWork() throws {
        let names = (1...8).map(String.init).joined(separator: " ")
        let lines = try FullDisk().run(
            """
            for name in \(names); do vault add $name value; done
            fill
            for name in \(names); do vault delete $name; fill; done
            vault count
            """)
        let expected =
            Array(repeating: "done", count: 8) + ["full"] + Array(repeating: ["done", "full"], count: 8).joined()
        #expect(lines.steps == expected + ["0"])
    }

    /// The index of the newest format would need 110 KB.
    @Test func vaultOfAnOlderFormat_whoseIndexHasNoSpace_isAddedTo() throws {
        let source = try TestVault()
        try source.engine.transaction(as: Query(.genericPassword)) { (requests) throws(KeychainError) in
            for number in 1...4000 {
                try requests.add(.genericPassword("exerciser", "\(number)", value: "v"), accessGroups: .unrestricted)
            }
        }
        try source.vault.close()
        try PlainDatabase(source.databaseFile).run("DROP INDEX item_minor; PRAGMA user_version = 3")
        let lines = try FullDisk().run(
            """
            mkdir -m 700 $disk/vault; mkdir -m 700 -p $1/key; cp -p \(source.location.deviceKeyFile) $key
            cp -p \(source.databaseFile) \(source.location.lockFile) $disk/vault
            fill; truncate -s -102400 $disk/fill; vault add new value-1; vault read new
            truncate -s -1024000 $disk/fill; vault add newer value-2; vault read newer; vault examine
            """)
        #expect(lines.steps == ["full", "done", "value-1", "done", "value-2", "no problem"])
    }

    /// In one transaction the deletion would need more than the reserve in the WAL.
    @Test func manyItems_onAFullDisk_areDeleted() throws {
        let lines = try FullDisk(mebibytes: 48).run(
            """
            vault add-many 10000; vault add-and-close last value; fill
            vault delete-all; fill; vault count; vault examine
            """)
        #expect(lines.steps == ["done", "done", "full", "done", "full", "0", "no problem"])
    }

    /// The database has no space for what is only in the WAL. A removal that filled the space with its own part would be stuck.
    @Test(arguments: [40_000, 60_000, 80_000, 100_000])
    func manyItems_onAFullDiskWithChangesInTheWAL_areDeleted(size: Int) throws {
        let lines = try FullDisk(mebibytes: 48).run(
            """
            vault add-many 10000; vault add-and-close last value; vault add-of-size more \(size); fill
            vault delete-all; fill; vault count; vault examine
            """)
        #expect(lines.steps == ["done", "done", "done", "full", "done", "full", "0", "no problem"])
    }

    @Test func itemOfAnySize_onAFullDisk_isDeleted() throws {
        let lines = try FullDisk(mebibytes: 32).run(
            """
            vault add-of-size small 500000; vault add-of-size large 3000000; vault add-and-close last value; fill
            vault delete small; fill; vault delete large; fill; vault delete last; vault count; vault examine
            """)
        #expect(
            lines.steps == [
                "done", "done", "done", "full", "done", "full", "done", "full", "done", "0", "no problem",
            ])
    }

    /// Without space in the database file the WAL could not be moved there, and each deletion would make it longer.
    @Test(arguments: ["add-of-size large 3000000", "add-many 4000"])
    func changes_onlyInTheWALWhenTheDiskGetsFull_areTruncatedByADeletion(addition: String) throws {
        let lines = try FullDisk(mebibytes: 32).run(
            """
            vault add first value-1; vault add second value-2; vault \(addition); fill
            vault delete first; stat -c %s $disk/vault/vault.db-wal; fill; vault delete second; vault read second
            vault examine
            """)
        #expect(
            lines.steps == [
                "done", "done", "done", "full", "done", "0", "full", "done", "failed itemNotFound", "no problem",
            ])
    }

    @Test func reserve_ofALargeValue_growsWithItAndShrinksWhenItIsDeleted() throws {
        let lines = try FullDisk(mebibytes: 32).run(
            """
            vault add-of-size large 3000000; size; vault add-of-size medium 1000000; vault delete large; size
            vault delete medium; size
            """)
        let sizes = [1, 4, 6].map { lines.steps.indices.contains($0) ? Int(lines.steps[$0]) ?? 0 : 0 }
        #expect(sizes[0] > 3_000_000)
        #expect((1_000_001..<sizes[0]).contains(sizes[1]))
        #expect(sizes[2] == Reserve.size)
    }

    @Test func largeValue_withoutSpaceToRemoveIt_isNotSaved() throws {
        let lines = try FullDisk(mebibytes: 32).run(
            """
            vault add-and-close kept value; fill; truncate -s -9000000 $disk/fill
            vault add-of-size large 4000000; vault read large; size
            truncate -s -5000000 $disk/fill; vault add-of-size large 4000000; fill; vault delete large; vault read large
            """)
        #expect(
            lines.steps == [
                "done", "full", "failed diskFull", "failed itemNotFound", "\(Reserve.size)", "done", "full", "done",
                "failed itemNotFound",
            ])
    }

    /// Where a file may not have the size of the reserve, the value is stored without: the kernel would end the process.
    @Test func largeValue_underALimitOfTheFileSize_isSaved() throws {
        let lines = try FullDisk(mebibytes: 32).run(
            """
            ulimit -S -f 2900; vault add-of-size large 1000000; size
            ulimit -S -f unlimited; vault delete large; vault count
            """)
        #expect(lines.steps == ["done", "\(Reserve.size)", "done", "0"])
    }

    @Test func reserve_givenUpOnAFullDisk_isMadeAgainWhenThereIsSpace() throws {
        let lines = try FullDisk().run(
            """
            vault add gone value; fill; vault delete gone
            rm $disk/fill; vault add-and-close more value; vault add-and-close again value; size
            """)
        #expect(lines.steps == ["done", "full", "done", "done", "done", "\(Reserve.size)"])
    }

    @Test func protector_removedOnAFullDisk_isGoneAndTheItemsAreSealedAgain() throws {
        let names = (1...20).map(String.init).joined(separator: " ")
        let lines = try FullDisk().run(
            """
            vault protect old
            for name in \(names); do vault add-and-close $name value; done
            fill; vault change remove-passphrase; vault openers; vault state; vault read 20; vault rotating
            """)
        let added = Array(repeating: "done", count: 20)
        #expect(lines.steps == ["done"] + added + ["full", "done", "device-key", "unlocked", "value", "false"])
    }

    @Test func keybag_onAFullDisk_isChanged() throws {
        let lines = try FullDisk().run(
            """
            vault protect old; vault add-and-close kept value; fill
            vault change passphrase; vault read kept
            """)
        #expect(lines.steps == ["done", "done", "full", "done", "value"])
    }
}

/// Runs shell commands beside a small file system that only they see.
struct FullDisk {
    /// Whether a namespace with a mount of its own can be made here.
    static let canMount: Bool = {
        guard let unshare = Programs.installed("unshare") else { return false }
        let result = try? ChildProcess.run(unshare, ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        return result?.status == 0
    }()

    private static let prelude = """
        set -u
        disk=$1/disk; exerciser=$2
        mkdir -m 700 $disk && mount -t tmpfs -o size=$3k,mode=700 tmpfs $disk || exit 77
        key=$1/key/device.key
        vault() { verb=$1; shift; "$exerciser" "$verb" "$disk/vault" "$key" "$@" | head -1; }
        fill() {
            dd if=/dev/zero of=$disk/fill bs=4096 oflag=append conv=notrunc 2>/dev/null
            test "$(df --output=avail $disk | tail -1 | tr -d ' ')" = 0 && echo full
        }
        size() { stat -c %s $disk/vault/vault.reserve; }

        """

    /// The size of the file system.
    private let kibibytes: Int

    init(mebibytes: Int = 4) { kibibytes = mebibytes << 10 }

    init(kibibytes: Int) { self.kibibytes = kibibytes }

    struct Result {
        /// What each step said; of a failure its reason alone.
        let steps: [String]
    }

    func run(_ script: String) throws -> Result {
        let unshare = try #require(Programs.installed("unshare"))
        let folder = try TemporaryFolder("keychain-full")
        defer { withExtendedLifetime(folder) {} }
        let child = try ChildProcess.run(
            unshare, ["-rm", "sh", "-c", Self.prelude + script, "sh", folder.path, Exerciser.path, "\(kibibytes)"])
        #expect(child.errors == "")
        return Result(steps: child.lines.map(Self.step))
    }

    private static func step(_ line: String) -> String {
        guard line.hasPrefix("failed") else { return line }
        return line.split(separator: " ").prefix(2).joined(separator: " ")
    }
}
