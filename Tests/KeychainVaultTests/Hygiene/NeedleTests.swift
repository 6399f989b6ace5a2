// SPDX-License-Identifier: Apache-2.0
// After every operation, however it ended: no secret in the memory of the process, in a core dump, a file or a message.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

@Suite(.enabled(if: ProcessMemory.isAvailable, "\(ProcessMemory.requirement)"))
struct NeedleTests {
    @Test(arguments: NeedleRow.all.flatMap(\.cases))
    func secrets_afterAnOperation_areInNoMemoryCoreFileOrMessage(_ entry: NeedleCase) throws {
        let found = try NeedleFindings(entry)
        #expect(found.says(entry.says), "\(found.messages)")
        #expect(found.core.filter { !NeedleResidue.allows($0, entry) } == [])
        #expect(found.memory.filter { !NeedleResidue.allows($0, entry) } == [])
        #expect(found.elsewhere == found.keptInFiles)
    }

    // MARK: - The search

    @Test func secret_leftOnPurpose_isFoundWhereverItWasLeft() throws {
        let found = try NeedleFindings(NeedleCase(operation: "leave", outcome: .ok, says: "done", preparations: []))
        #expect(found.core.contains { $0.needle == "value 11" })
        #expect(found.memory.contains { $0.needle == "value 11" })
        let places = Set(found.elsewhere.filter { $0.needle == "value 11" }.map(\.place))
        #expect(places == ["left", "left-unlinked (deleted)", "a message"])
    }

    /// That the keys looked for are the right ones, and that what is left out of core dumps is told from the rest.
    @Test func keys_whileTheVaultIsOpen_areInMemoryThatNoCoreDumpHolds() throws {
        let found = try NeedleFindings(NeedleCase(operation: "read", outcome: .ok, says: "done", preparations: []))
        let keys: Set = ["metadata key 6", "value key 6", "wrapping keys"]
        #expect(keys.subtracting(found.openMemory.map(\.needle)) == [])
        #expect(keys.intersection(found.core.map(\.needle)) == [])
    }

    @Test func needle_inAnySpelling_isFound() {
        let needle = Needle(name: "needle", bytes: PlantedBytes.passphrase(10))
        let search = NeedleSearch([needle])
        for spelling in needle.spellings {
            for start in 0..<4 {
                let hay = Data(count: 1000) + spelling[start..<(start + 20)] + Data(count: 100)
                #expect(search.names(in: hay) == ["needle"])
            }
        }
        #expect(search.names(in: Data(count: 5000)) == [])
        #expect(search.names(in: Data(PlantedBytes.passphrase(11))) == [])
    }

    // MARK: - Core dumps by the kernel

    private static let writesCores: Bool = {
        let pattern = FileManager.default.contents(atPath: "/proc/sys/kernel/core_pattern") ?? Data()
        return String(decoding: pattern, as: UTF8.self).hasPrefix("core")
    }()

    /// With secret memory, and with the kind of memory that is used where there is none.
    @Test(
        .enabled(if: NeedleTests.writesCores, "the kernel does not write core dumps to the current folder"),
        arguments: ["granted", "refused"])
    func keys_whileTheVaultIsOpen_areInNoCoreDumpOfTheKernel(_ secretMemory: String) throws {
        let vault = try NeedleVault([])
        let folder = vault.test.root + "/core"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let script = #"cd "$0" && ulimit -c unlimited && exec "$@""#
        let command = vault.test.exerciserArguments(["hold-open", secretMemory])
        let words = [Exerciser.path] + command
        let environment = ["KEYCHAIN_UNLOCK_CACHE": "process", "LD_BIND_NOW": "1"]
        let child = try ChildProcess("/bin/bash", ["-c", script, folder] + words, environment: environment)
        #expect(try child.start().finish().output == "ready\n")
        let cores = try vault.test.files().filter { $0.key.hasPrefix(folder) }
        #expect(cores.count == 1)
        // What is in any case in a core dump, else an empty file would do.
        let known = Needle(name: "folder", bytes: Array(vault.test.location.folder.utf8))
        let search = NeedleSearch(try vault.needles() + [known])
        for bytes in cores.values {
            let names = search.names(in: bytes)
            #expect(names.contains("folder") && names.subtracting(["folder"]).isSubset(of: NeedleResidue.ofTheLastCall))
        }
    }
}
