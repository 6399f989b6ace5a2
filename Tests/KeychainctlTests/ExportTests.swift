// SPDX-License-Identifier: Apache-2.0
// `export` and `import-archive` from the command line.

import Foundation
import KeychainTestSupport
import Testing

@Suite("export")
struct ExportTests {
    private let tool: Tool
    private let sealing = "--recipient \(Tool.testRecipient)"

    init() throws {
        tool = try Tool()
        try tool.write(Data((Tool.testIdentity + "\n").utf8), to: "key")
    }

    private func export(_ options: String) throws -> Tool.Run { try tool.shell("\"$CTL\" export items.age \(options)") }

    /// Another vault, which is empty.
    private func otherTool(with file: String = "items.age") throws -> Tool {
        let other = try Tool()
        try other.write(try tool.file(file), to: file)
        try other.write(try tool.file("key"), to: "key")
        return other
    }

    // MARK: - There and back

    private static let count = ArchiveExtent.items

    @Test func items_ofAllClasses_areEqualAfterExportAndImport() throws {
        let given = ExportedItems.lines(Self.count)
        #expect(try tool.take(given).errors.contains("Added: \(Self.count)."))
        let lines = try tool.exportedLines()
        let (items, wanted) = (
            try lines.map { try json(Data($0.utf8)) }, try given.split(separator: 0x0A).dropFirst().map { try json($0) }
        )
        #expect(items.count == Self.count)
        // By their values, so that not each is compared with each.
        let known = Dictionary(grouping: items) { "\($0["class"] ?? "") \($0["value"] ?? "")" }
        for wanted in wanted {
            let alike = known["\(wanted["class"] ?? "") \(wanted["value"] ?? "")"] ?? []
            #expect(alike.contains { holds($0, wanted) }, "\(wanted)")
        }
        #expect(try export(sealing).status == 0)
        let other = try otherTool()
        #expect(try other.run("import-archive", "items.age", "--identity", "key", "--yes").status == 0)
        #expect(try other.exportedLines() == lines)
        ArchiveExtent.record("items of all classes, exported, imported into an empty vault, and compared", Self.count)
    }

    private func json(_ line: Data) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
    }

    /// Whether an item has everything that was given. A keychain adds the parts of its name that were left out.
    private func holds(_ item: [String: Any], _ given: [String: Any]) -> Bool {
        let texts = ["class", "accessibility", "value"].allSatisfy { item[$0] as? String == given[$0] as? String }
        guard texts, let own = item["attributes"] as? [String: NSObject],
            let wanted = given["attributes"] as? [String: NSObject]
        else { return false }
        return wanted.allSatisfy { own[$0.key] == $0.value }
    }

    private func hasFile(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: tool.home.appendingPathComponent(name).path)
    }

    @Test(.enabled(if: Tool.hasMemoryFolder, "/dev/shm is not a folder in memory"))
    func export_toStandardOutput_isTheFileThatItWouldWrite() throws {
        try tool.store()
        #expect(try tool.run("export", "items.json", "--clear-text", "json").status == 0)
        let clear = try tool.run("export", "-", "--clear-text", "json")
        #expect(try clear.status == 0 && clear.output == tool.file("items.json"), "\(clear.everything)")
        #expect(try tool.shell("\"$CTL\" export - \(sealing) > items.age").status == 0)
        let other = try otherTool()
        #expect(try other.run("import-archive", "items.age", "--identity", "key", "--yes").status == 0)
        #expect(try other.get() == secret && !hasFile("-"))
    }

    @Test(arguments: [
        "export - --clear-text json --replace", "backup -", "key export - --tag t --replace",
        "certificate export - --name n --replace",
    ])
    func standardOutput_whereAFileIsNeeded_isRefused(command: String) throws {
        try tool.store()
        let run = try tool.shell("\"$CTL\" \(command)")
        #expect(run.status == 64 && run.output.isEmpty && !hasFile("-"), "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func export_toATerminal_isRefused() throws {
        try tool.store()
        let dialogue = try tool.dialogue("export", "-", "--clear-text", "json")
        #expect(dialogue.status == 64 && !dialogue.screen.contains("Y29ycmVj"), "\(dialogue.screen)")
    }

    @Test func passphrase_enteredTwice_opensTheFileAgain() throws {
        try tool.store()
        let twice = try tool.dialogue(
            "export", "items.age", steps: [("file: ", .type("open sesame\n")), ("again: ", .type("open sesame\n"))])
        #expect(twice.status == 0, "\(twice.screen)")
        let other = try otherTool()
        let once = try other.dialogue(
            "import-archive", "items.age", steps: [("file: ", .type("open sesame\n")), ("[y/N]", .type("y\n"))])
        #expect(once.status == 0, "\(once.screen)")
        #expect(try other.get() == secret)
    }

    @Test func vectorOfVersion1_withItsPassphrase_isRead() throws {
        let vector = Tool.testsFolder.appendingPathComponent("Vectors/exports/version-1.age").path
        let run = try tool.shell(
            "echo 'correct horse battery' | \"$CTL\" import-archive '\(vector)' --yes --file-passphrase-fd 0")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try tool.get() == Data("s3cret".utf8))
        #expect(try tool.run("get", "--server", "git.example.com").output == Data([0x61, 0xFF, 0, 0x62]))
    }

    // MARK: - Merging

    @Test func import_ofWhatDiffers_keepsItUnlessReplaceIsGiven() throws {
        try tool.store()
        #expect(try export(sealing).status == 0)
        try tool.store(otherSecret)
        try tool.store(account: "bob")
        let kept = try tool.run("import-archive", "items.age", "--identity", "key", "--yes")
        #expect(kept.status == 4 && kept.errors.contains("0 new, 0 equal, 1 different"), "\(kept.errors)")
        #expect(kept.errors.contains("Decide with --replace or --merge."))
        #expect(try tool.get() == otherSecret)
        let merged = try tool.run("import-archive", "items.age", "--identity", "key", "--yes", "--merge")
        #expect(merged.status == 0, "\(merged.errors)")
        #expect(try tool.get() == otherSecret)
        let replaced = try tool.run("import-archive", "items.age", "--identity", "key", "--yes", "--replace")
        #expect(replaced.errors.contains("Replaced: 1."), "\(replaced.errors)")
        #expect(try tool.get() == secret)
        #expect(try tool.get(account: "bob") == secret)
    }

    @Test func import_ofNewAndDifferentItems_addsTheNewOnesAndTellsOfTheOthers() throws {
        try #require(
            try tool.take(ExportedItems.document([ExportedItems.login("zoe"), ExportedItems.login("bob")])).status == 0)
        try tool.must("\"$CTL\" delete -s s -a zoe; printf other | \"$CTL\" set -s s -a bob")
        let run = try tool.run("import-archive", "given.json", "--yes")
        #expect(run.status == 4 && run.errors.contains("Different: generic-password 's' 'bob'"), "\(run.errors)")
        #expect(run.errors.contains("Added: 1.") && run.errors.contains("Decide with --replace or --merge."))
        #expect(try tool.listed().count == 2)
    }

    @Test func import_asADryRun_showsWhatItWouldDoAndChangesNothing() throws {
        #expect(try tool.take(ExportedItems.document([ExportedItems.login("zoe")]), "--dry-run").text.contains("add "))
        #expect(try tool.listed().isEmpty)
    }

    @Test(arguments: [("", 4), ("--merge", 0), ("--replace", 0)])
    func import_asADryRunOfWhatDiffers_endsAsTheImportWould(options: String, status: Int32) throws {
        let document = ExportedItems.document([ExportedItems.login("zoe")])
        try #require(try tool.take(document).status == 0)
        try tool.must("printf other | \"$CTL\" set -s s -a zoe")
        let run = try tool.take(document, "--dry-run \(options)")
        #expect(run.status == status && run.errors.contains("This was a dry run"), "\(run.everything)")
    }

    @Test func import_withoutATerminal_takesYes() throws {
        #expect(try tool.take(ExportedItems.document([ExportedItems.login("zoe")]), "").status == 64)
        #expect(try tool.listed().isEmpty)
    }

    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"), arguments: ArchiveExtent.kills)
    func import_killedAtAnyWriteCall_isFinishedByAnotherOne(_ kills: ArchiveExtent.Kills) throws {
        let given = ExportedItems.lines(kills.items)
        #expect(try tool.take(given, "--dry-run").status == 0)
        let lines = try Tool()
        #expect(try lines.take(given).status == 0)
        let (wanted, calls) = (try lines.exportedLines(), "write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat2")
        var (call, tried, ends) = (1, 0, false)
        while !ends {
            let other = try otherTool(with: "given.json")
            let kill = "strace -f -qq -o trace -e trace=\(calls) -e inject=\(calls):signal=KILL:when=\(call)"
            ends = try other.shell("\(kill) \"$CTL\" import-archive given.json --yes").status == 0
            let again = try other.run("import-archive", "given.json", "--yes")
            #expect(again.status == 0, "call \(call): \(again.errors)")
            #expect(try other.exportedLines() == wanted, "call \(call)")
            tried += ends ? 0 : 1
            call += kills.step
        }
        #expect(call > 200)
        ArchiveExtent.record("kills of an import of \(kills.items) items, after which another one finished it", tried)
    }

    // MARK: - Damage

    /// Each is one that no item of the file may survive.
    @Test func file_withAnyByteFlipped_isAnErrorAndAddsNothing() throws {
        try tool.store()
        #expect(try export(sealing).status == 0)
        let (whole, other) = (try tool.file("items.age"), try otherTool())
        // All bytes would take a minute: a process for each.
        for index in stride(from: 0, to: whole.count, by: ArchiveExtent.byteStep) {
            var spoiled = whole
            spoiled[index] ^= 1 << UInt8(index % 8)
            try other.write(spoiled, to: "items.age")
            let run = try other.run("import-archive", "items.age", "--identity", "key", "--yes")
            #expect([7, 8].contains(run.status), "byte \(index): \(run.errors)")
        }
        #expect(try other.listed().isEmpty)
        ArchiveExtent.record("bytes of a file, each changed, after which the file is an error", whole.count)
    }

    /// Changes a byte at a time, and expects that each file is an error.
    ///
    /// - Parameter options: How the file is opened.
    private func expectErrors(_ statuses: [Int32], _ whole: Data, _ options: String, at positions: [Int]) throws {
        let other = try otherTool()
        try other.must("echo several words > words")
        for index in positions {
            var spoiled = whole
            spoiled[index] ^= 1 << UInt8(index % 8)
            try other.write(spoiled, to: "items.age")
            let run = try other.shell("\"$CTL\" import-archive items.age --yes \(options)")
            #expect(statuses.contains(run.status), "byte \(index): \(run.errors)")
        }
        #expect(try other.listed().isEmpty)
    }

    /// Each attempt takes the time of scrypt, so these are the ends of each word of the header, and of the rest.
    @Test func fileOfAPassphrase_withAByteOfAnyFieldFlipped_isAnErrorAndAddsNothing() throws {
        try tool.store()
        try tool.must("echo several words > words")
        let options = "--file-passphrase-fd 3 3< words"
        #expect(try export(options).status == 0)
        let parts = ArchiveParts(try tool.file("items.age"))
        #expect(parts.header.map(\.count) == [21, 1, 2, 1, 6, 1, 22, 1, 2, 1, 43, 1, 3, 1, 43, 1])
        #expect(parts.chunks.count == 1)
        let positions = (parts.header + [parts.nonce] + parts.chunks).flatMap { [$0.lowerBound, $0.upperBound - 1] }
        // A passphrase opens no file that seems to be for recipients: 64.
        try expectErrors([7, 8, 64], parts.whole, options, at: Set(positions).sorted())
    }

    /// The items of the first chunks must not be added before the last one is read.
    @Test func fileOfSeveralChunks_withAByteOfAnyFlipped_isAnErrorAndAddsNothing() throws {
        for number in 1...3 { try tool.store(Data(repeating: 7, count: 70_000), account: "\(number)") }
        #expect(try export(sealing).status == 0)
        let parts = ArchiveParts(try tool.file("items.age"))
        #expect(parts.chunks.count == 5)
        let positions = parts.chunks.flatMap {
            [$0.lowerBound, $0.lowerBound + $0.count / 2, $0.upperBound - 17, $0.upperBound - 16, $0.upperBound - 1]
        }
        try expectErrors([8], parts.whole, "--identity key", at: positions)
    }

    @Test(arguments: [2, 4])
    func fileOfSeveralChunks_withoutItsLastOnes_isDamagedAndAddsNothing(count: Int) throws {
        for number in 1...3 { try tool.store(Data(repeating: 7, count: 70_000), account: "\(number)") }
        #expect(try export(sealing).status == 0)
        let parts = ArchiveParts(try tool.file("items.age"))
        let other = try otherTool()
        try other.write(parts.whole.prefix(parts.chunks[count - 1].upperBound), to: "items.age")
        #expect(try other.run("import-archive", "items.age", "--identity", "key", "--yes").status == 8)
        #expect(try other.listed().isEmpty)
    }

    @Test(arguments: [0, 10, 21, 300, -17, -1])
    func file_thatIsCut_isDamaged(_ length: Int) throws {
        try tool.store()
        #expect(try export(sealing).status == 0)
        let whole = try tool.file("items.age")
        try tool.write(length < 0 ? whole.dropLast(-length) : whole.prefix(length), to: "items.age")
        #expect(try tool.run("import-archive", "items.age", "--identity", "key", "--yes").status == 8)
    }

    @Test(arguments: [
        ("unknown flag", "[\"frob\"]", "default", 8), ("biometry", "[\"biometryAny\"]", "default", 8),
        ("two flags that exclude each other", "[\"or\",\"and\"]", "default", 64),
        ("group of the keychain itself", "null", "swift-keychain.sync", 8),
        ("group of tokens", "null", "com.apple.token", 8),
    ])
    func item_thatNoVaultHolds_isRefused(_ what: String, control: String, group: String, status: Int32) throws {
        let item = ExportedItems.login("x", control: control, group: group)
        #expect(try tool.take(ExportedItems.document([ExportedItems.login("y"), item])).status == status)
        #expect(try tool.listed().isEmpty, "\(what)")
    }

    @Test(arguments: [
        "\"date\":1e999", "\"number\":1.5", "\"number\":9223372036854775808", "\"text\":\"\\ud800\"", "\"data\":\"*\"",
        "\"frob\":1", "\"text\":\"a\",\"data\":\"\"", "\"text\":null",
    ])
    func attribute_thatIsMalformed_isRefusedWithoutBeingQuoted(_ value: String) throws {
        let item = ExportedItems.item("\"svce\":{\"text\":\"hunter2\"},\"labl\":{\(value)},")
        let run = try tool.take(ExportedItems.document([item]))
        #expect(run.status == 8, "\(run.errors)")
        #expect(!run.errors.contains("hunter2"))
    }

    @Test func file_withTwoItemsOfOneName_isRefused() throws {
        let item = ExportedItems.login("x")
        #expect(try tool.take(ExportedItems.document([item, item])).status == 8)
    }

    @Test(arguments: [513, 200_000])
    func file_nestedVeryDeeply_isRefused(depth: Int) throws {
        #expect(try tool.take(ExportedItems.document([String(repeating: "[", count: depth)])).status == 8)
    }

    // MARK: - What cannot be read

    @Test func export_withADamagedItem_writesNothingUnlessItIsSkipped() throws {
        try tool.store()
        try tool.damageItems()
        try tool.run("accept", "--yes").expectSuccess()
        try tool.store(account: "bob")
        let refused = try export(sealing)
        #expect(refused.status == 8 && refused.errors.contains("1 damaged item(s)"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/items.age"))
        let made = try export(sealing + " --skip-unreadable")
        #expect(made.status == 0 && made.errors.contains("Left out: 1 damaged item(s)"), "\(made.errors)")
    }

    @Test func export_ofAnItemThatRequiresTheUser_namesItWhereNobodyCanBeAsked() throws {
        let vault = try LockableTool()
        try vault.tool.shell("echo long passphrase > new").expectSuccess()
        try vault.withKey("protect add passphrase --new-passphrase-fd 4 4< new").expectSuccess()
        let item = ExportedItems.login("user", control: "[\"userPresence\"]")
        let taken = try vault.tool.take(
            ExportedItems.document([item, ExportedItems.login("x")]), "--yes --recovery-key-fd 3 3< paper")
        #expect(taken.status == 0, "\(taken.errors)")
        let run = try vault.tool.shell(
            "KEYCHAIN_AUTHENTICATOR=none \"$CTL\" export items.age \(sealing) --recovery-key-fd 3 3< paper")
        #expect(run.status == 5 && run.errors.contains("generic-password 's' 'user'"), "\(run.errors)")
        let skipped = try vault.tool.shell(
            "KEYCHAIN_AUTHENTICATOR=none \"$CTL\" export items.age --skip-unreadable \(sealing) --recovery-key-fd 3 3< paper"
        )
        #expect(skipped.status == 0 && skipped.errors.contains("holds 1 item"), "\(skipped.errors)")
    }

    @Test func export_ofALockedVault_isLockedOrTakesItsSecret() throws {
        let vault = try LockableTool()
        try vault.store()
        #expect(try vault.tool.shell("KEYCHAIN_AUTHENTICATOR=none \"$CTL\" export items.age \(sealing)").status == 5)
        let run = try vault.withKey("export items.age \(sealing)")
        #expect(run.status == 0, "\(run.errors)")
    }

    // MARK: - The file

    @Test func file_thatIsThere_takesReplace() throws {
        try tool.store()
        #expect(try export(sealing).status == 0)
        let before = try tool.file("items.age")
        #expect(try export(sealing).status == 4)
        #expect(try tool.file("items.age") == before)
        #expect(try export(sealing + " --replace").status == 0)
        #expect(try tool.file("items.age") != before)
    }

    @Test(arguments: ["dir", "/dev/full", ".local/share/swift-keychain/x", "dir/missing/x", ""])
    func file_whereNoneMayBe_isRefused(_ path: String) throws {
        try tool.store()
        let run = try tool.shell("mkdir dir; \"$CTL\" export '\(path)' --replace \(sealing)")
        #expect([13, 15].contains(run.status), "\(run.errors)")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func export_onATerminal_showsHowFarItIs() throws {
        try tool.take(ExportedItems.lines(250))
        let dialogue = try tool.dialogue("export", "items.age", "--recipient", Tool.testRecipient)
        #expect(dialogue.status == 0 && dialogue.screen.contains("100 items\r200 items"), "\(dialogue.screen)")
    }

    @Test func export_removesWhatAKilledOneHasLeft() throws {
        try tool.store()
        let run = try tool.shell(
            """
            for name in old new used; do : > .$name.unfinished-export; done; ln -s key .link.unfinished-export
            touch -d '1 hour ago' .old.unfinished-export .used.unfinished-export
            flock .used.unfinished-export "$CTL" export items.age \(sealing) 2> log; ls -A | grep unfinished
            """)
        #expect(run.text == ".link.unfinished-export\n.new.unfinished-export\n.used.unfinished-export\n")
    }

    @Test func clearText_isPrivateAndSaidToBeClear() throws {
        try tool.store()
        let run = try tool.shell("umask 0; \"$CTL\" export a.csv --clear-text csv; stat -c %a a.csv; tail -n 1 a.csv")
        #expect(run.errors.contains("in clear text"))
        #expect(run.text.hasPrefix("600\n") && run.text.hasSuffix(",text,correct horse\r\n"), "\(run.text)")
    }

    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"), arguments: ["write", "fsync", "linkat"])
    func export_thatFails_leavesNoFile(_ call: String) throws {
        try tool.store()
        let run = try tool.shell(
            "strace -f -qq -o trace -e inject=\(call):error=ENOSPC:when=1 \"$CTL\" export items.age \(sealing); ls -A > names; "
                + "grep -c -e items -e unfinished names")
        #expect(run.text == "0\n", "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"))
    func export_killedBeforeTheFileHasItsName_leavesNothing() throws {
        try tool.store()
        _ = try tool.shell(
            "strace -f -qq -o trace -e inject=linkat:signal=KILL:when=1 \"$CTL\" export a.csv --clear-text csv")
        #expect(try tool.shell("ls -A | grep -c -e csv -e unfinished").text == "0\n")
    }

    @Test(arguments: [
        "--recipient age1xyz", "--recipient \(Tool.testIdentity)", "--clear-text xml",
        "--clear-text json --recipient \(Tool.testRecipient)", "--only-group swift-keychain.sync --clear-text json",
        "--file-passphrase-fd x",
    ])
    func options_thatAreWrong_areRefusedWithoutBeingQuoted(_ options: String) throws {
        try tool.store()
        let run = try export(options)
        #expect(run.status == 64)
        #expect(!run.errors.contains(Tool.testIdentity))
    }

    @Test func group_alone_isExported() throws {
        let items = [ExportedItems.login("a", group: "one"), ExportedItems.login("b", group: "two")]
        #expect(try tool.take(ExportedItems.document(items)).status == 0)
        let run = try tool.shell(
            "\"$CTL\" export x.json --clear-text json --only-group one; grep -c '\"class\"' x.json")
        #expect(run.text == "1\n")
        #expect(try tool.shell("\"$CTL\" export y.json --clear-text json --only-group three").status == 3)
    }
}

extension Tool.Run {
    fileprivate func expectSuccess() { #expect(status == 0, "\(errors)") }
}

/// Where the parts of an encrypted file are.
private struct ArchiveParts {
    let whole: Data
    /// Its words, and the space or newline after each.
    let header: [Range<Int>]
    let nonce: Range<Int>
    let chunks: [Range<Int>]

    init(_ file: Data) {
        let end = (file.range(of: Data("\n--- ".utf8))?.upperBound ?? 0) + 44
        let separators = (0..<end).filter { [0x20, 0x0A].contains(file[$0]) }
        (whole, nonce) = (file, end..<end + 16)
        header = zip([-1] + separators, separators).flatMap { [$0 + 1..<$1, $1..<$1 + 1] }
        chunks = stride(from: nonce.upperBound, to: file.count, by: 65_552).map { $0..<min($0 + 65_552, file.count) }
    }
}
