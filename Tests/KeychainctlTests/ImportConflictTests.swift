// SPDX-License-Identifier: Apache-2.0
// Importing what exists already, trial imports, and removing the source.

import Foundation
import Testing

@Suite("import of what exists")
struct ImportConflictTests {
    private let tool: Tool
    private static let machine = "machine a login b password new\n"

    init() throws { tool = try Tool() }

    private var source: URL { tool.home.appendingPathComponent("source") }
    private var sourceExists: Bool { FileManager.default.fileExists(atPath: source.path) }

    /// - Parameter server: Without a protocol, as earlier imports stored it.
    private func storeOld(_ value: String = "old", server: String = "a") throws {
        try #require(try tool.run("set", "--server", server, "-a", "b", input: Data(value.utf8)).status == 0)
    }

    private func importSource(_ text: String = machine, _ options: String = "") throws -> Tool.Run {
        try Data(text.utf8).write(to: source)
        return try tool.shell("\"$CTL\" import netrc source \(options)")
    }

    private var value: String { get throws { try tool.run("get", "--server", "a", "-a", "b").text } }

    @Test func dryRun_ofANewEntry_storesNothingAndMakesNoVault() throws {
        let run = try importSource(Self.machine, "--dry-run")
        #expect(run.status == 0 && run.text.hasPrefix("would add"), "\(run.everything)")
        #expect(!FileManager.default.fileExists(atPath: tool.database.path))
    }

    @Test func dryRun_ofAReplacement_changesNothing() throws {
        try storeOld()
        #expect(try importSource(Self.machine, "--dry-run --replace").text.hasPrefix("would replace"))
        #expect(try value == "old")
    }

    /// In a dump, the default type of authentication is `dflt`; programs store none.
    @Test(arguments: [("dflt", "unchanged"), ("form", "added")])
    func itemOfADump_withTheDefaultAuthentication_isTheItemOfOtherPrograms(type: String, result: String) throws {
        try tool.prepare("add-internet-password -a al -s git.ex -r htps -w pw")
        let dump = """
            keychain: "/Users/u/Library/Keychains/login.keychain-db"
            version: 512
            class: "inet"
            attributes:
                "acct"<blob>="al"
                "atyp"<blob>="\(type)"
                "path"<blob>=<NULL>
                "port"<uint32>=0x00000000\u{20}
                "ptcl"<uint32>="htps"
                "srvr"<blob>="git.ex"
            data:
            "pw"

            """
        let run = try tool.importText("keychain-dump", dump)
        #expect(run.status == 0 && run.text.hasPrefix(result), "\(run.everything)")
        #expect(try tool.listed().count == (type == "dflt" ? 1 : 2))
    }

    @Test func import_again_changesNothing() throws {
        _ = try importSource()
        let run = try importSource()
        #expect(run.status == 0 && run.text.hasPrefix("unchanged"), "\(run.everything)")
    }

    // MARK: - Labels and comments

    private static func entries(_ groups: String...) -> String {
        "Group,Title,Username,Password,URL\n" + groups.map { "Database/\($0),t,u,p,\n" }.joined()
    }

    private var comments: [String?] { get throws { try tool.listed().map { $0["comment"] as? String } } }

    @Test(arguments: ["", "--keep", "--dry-run"])
    func entry_withAnotherComment_isReportedAsUnchangedWithTheReason(options: String) throws {
        _ = try tool.importText("keepassxc", Self.entries("Old"))
        let run = try tool.importText("keepassxc", Self.entries("New"), options)
        #expect(run.status == 0 && run.text.hasPrefix("unchanged "), "\(run.everything)")
        #expect(run.text.hasSuffix(": the source has another comment, which --replace sets\n"), "\(run.everything)")
        #expect(try comments == ["Group: Old"])
    }

    @Test func entry_withAnotherComment_setsItOnRequest() throws {
        _ = try tool.importText("keepassxc", Self.entries("Old"))
        let trial = try tool.importText("keepassxc", Self.entries("New"), "--replace --dry-run")
        #expect(try trial.text.hasPrefix("would replace ") && comments == ["Group: Old"], "\(trial.everything)")
        let run = try tool.importText("keepassxc", Self.entries("New"), "--replace")
        #expect(run.status == 0 && run.text.hasPrefix("replaced "), "\(run.everything)")
        #expect(try comments == ["Group: New"])
    }

    @Test func entry_withoutACommentOfItsOwn_isUnchangedWithoutAReason() throws {
        _ = try tool.importText("keepassxc", Self.entries("Old"))
        let run = try tool.importText("keepassxc", Self.entries(""), "--replace")
        #expect(run.status == 0 && run.text == "unchanged      u at t (line 2)\n", "\(run.everything)")
    }

    @Test func entry_thatIsInTheSourceTwice_hasTheFirstCommentAndSaysSo() throws {
        let run = try tool.importText("keepassxc", Self.entries("Old", "New"))
        #expect(run.status == 0 && run.text.hasPrefix("added "), "\(run.everything)")
        let reason = "the source has another comment for it before this (line 2), which counts"
        #expect(run.text.hasSuffix("unchanged      u at t (line 3): \(reason)\n"), "\(run.everything)")
        #expect(try comments == ["Group: Old"])
    }

    private static let decisions: [(options: String, status: Int, expected: String)] = [
        ("", 4, "old"), ("--keep", 0, "old"), ("--replace", 0, "new"),
    ]

    @Test(arguments: decisions, ["a", "https://a"])
    func item_withAnotherValue_isReplacedOnlyOnRequest(
        decision: (options: String, status: Int, expected: String), server: String
    ) throws {
        try storeOld(server: server)
        #expect(try importSource(Self.machine, decision.options).status == Int32(decision.status))
        #expect(try value == decision.expected)
        #expect(try tool.listed().count == 1)
    }

    @Test(arguments: ["", "--protocol ftp"])
    func item_withoutAProtocolAndTheSameValue_isTheEntry(options: String) throws {
        try storeOld("new")
        let run = try importSource(Self.machine, options)
        #expect(run.status == 0 && run.text.hasPrefix("unchanged"), "\(run.everything)")
        #expect(try tool.listed().count == 1)
    }

    /// The file names the protocol, so an item without one is another.
    @Test func entry_thatNamesItsProtocol_isAddedBesideAnItemWithout() throws {
        try storeOld("new")
        let run = try importSource("machine a port ftp login b password new\n")
        #expect(run.status == 0 && run.text.hasPrefix("added"), "\(run.everything)")
    }

    @Test func source_withTwoValuesForOneName_importsTheFirstAndSaysSo() throws {
        let run = try importSource(Self.machine + "machine a login b password other\n", "--replace")
        #expect(run.status == 1 && run.text.contains("another value for this name before it (line 1)"))
        #expect(try value == "new")
    }

    @Test func source_withOneEntryTwice_reportsTheItemThatIsKeptTwice() throws {
        try storeOld()
        let run = try importSource(Self.machine + Self.machine)
        #expect(run.status == 4 && run.errors.contains("2 kept."), "\(run.everything)")
        #expect(!run.everything.contains("unchanged"), "\(run.everything)")
    }

    @Test(arguments: [
        ("netrc", "machine m login a password one password two\n"), ("env", "# only a comment\n"),
        ("chrome", "name,url,username,password\nx,https://h/,a,p\n"),
    ])
    func source_thatIsNotTakenWhole_isNotRemoved(format: String, text: String) throws {
        try Data(text.utf8).write(to: source)
        let run = try tool.shell("\"$CTL\" import \(format) source --remove-source")
        #expect(run.status != 0, "\(run.everything)")
        #expect(try Data(contentsOf: source) == Data(text.utf8))
    }

    @Test func twoImports_atOnce_storeEachEntryOnce() throws {
        let many = (0..<40).map { "machine h\($0) login a password p\($0)\n" }.joined()
        try Data(many.utf8).write(to: source)
        let run = try tool.shell(
            "printf 'one\\ntwo\\n' | xargs -P 2 -I{} sh -c '\"$CTL\" import netrc source > {}' || exit; cat one two | grep -c ^added"
        )
        #expect(run.status == 0 && run.text == "40\n", "\(run.everything)")
    }

    @Test func import_afterAnInterruptedOne_addsTheRest() throws {
        let many = (0..<30).map { "machine h\($0) login a password p\($0)\n" }.joined()
        _ = try importSource(String(many.prefix(200)).split(separator: "\n").dropLast().joined(separator: "\n"))
        let run = try importSource(many)
        #expect(run.status == 0 && run.text.contains("unchanged") && run.text.contains("added"), "\(run.everything)")
        #expect(try tool.listed().count == 30)
    }

    // MARK: - Removing the source

    @Test func source_ofWhichEverythingIsStored_isRemoved() throws {
        #expect(try importSource(Self.machine, "--remove-source").status == 0)
        #expect(!sourceExists)
        #expect(try value == "new")
    }

    @Test(arguments: ["machine c login d\n", "machine a login b password x\n"])
    func source_ofWhichSomethingIsMissing_stays(text: String) throws {
        try storeOld()
        let run = try importSource(text, "--remove-source --keep")
        #expect(run.status != 0 && run.errors.contains("The source was not removed"), "\(run.everything)")
        #expect(sourceExists)
    }

    @Test(arguments: ["--dry-run --remove-source", "--keep --replace", "--whole", "--service x"])
    func options_thatContradict_areRefused(options: String) throws {
        #expect(try importSource(Self.machine, options).status == 64)
        #expect(sourceExists)
    }

    @Test func source_thatIsASymbolicLink_isNotImportedForRemoval() throws {
        try Data(Self.machine.utf8).write(to: tool.home.appendingPathComponent("file"))
        let run = try tool.shell("ln -s file source; \"$CTL\" import netrc source --remove-source")
        #expect(run.status == 64 && run.errors.contains("regular file"))
        #expect(try tool.listed().isEmpty)
    }

    /// Without its port, the first entry would have the item of the second one.
    @Test(arguments: ["unheard", "0", "65536", "-1"])
    func entry_whosePortIsUnknown_isSkippedAndReplacesNoOther(port: String) throws {
        let text = "machine a port \(port) login b password one\nmachine a login b password two\n"
        let run = try importSource(text, "--replace --remove-source")
        #expect(run.status == 1 && run.errors.contains("The source was not removed"), "\(run.everything)")
        #expect(run.text.contains("skipped        a (line 1): its port is neither"), "\(run.everything)")
        #expect(try sourceExists && value == "two")
    }

    /// What one program takes for the end of a comment, another does not.
    @Test(arguments: [
        ("netrc", "machine h login a password p\r# note\rmachine b login a password p\r"), ("env", "A=1\n\rB=2\n"),
        ("env", "# note\rB=2\nA=1\n"),
    ])
    func source_withALoneCarriageReturn_isRefused(format: String, text: String) throws {
        try Data(text.utf8).write(to: source)
        let run = try tool.shell("\"$CTL\" import \(format) source --remove-source")
        #expect(run.status != 0 && run.errors.contains("carriage return"), "\(run.everything)")
        #expect(sourceExists)
        #expect(try tool.listed().isEmpty)
    }

    /// What happens while the tool waits, and what it says then.
    static let events = [
        ("with open(path, 'a') as file: file.write('# more\\n')", "has changed"),
        (
            "old = os.stat(path); text = open(path).read(); open(path, 'r+').write(text.replace('p59', 'q59')); "
                + "os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))", "has changed"
        ),
        ("subprocess.run([program, 'delete', '--server', 'h0', '-a', 'a'], check=True)", "does not have all entries"),
    ]

    /// The report fills a small pipe, so that the tool waits in the middle.
    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"), arguments: events)
    func source_duringWhoseImportSomethingChanges_stays(event: String, words: String) throws {
        let many = (0..<60).map { "machine h\($0) login a password p\($0)\n" }.joined()
        try Data(many.utf8).write(to: source)
        let run = try tool.python(
            """
            import fcntl, os, subprocess, sys
            program, path = sys.argv[2:4]
            ours, theirs = os.pipe()
            fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, 4096)
            tool = subprocess.Popen([program, "import", "netrc", path, "--json", "--remove-source"],
                stdout=theirs, stderr=subprocess.PIPE)
            os.close(theirs)
            os.read(ours, 1)
            \(event)
            while os.read(ours, 4096):
                pass
            words = tool.communicate()[1].decode()
            print(tool.returncode != 0, "\(words)" in words, os.path.exists(path))
            """, Tool.executable, source.path)
        #expect(run.text == "True True True\n", "\(run.everything)")
    }
}
