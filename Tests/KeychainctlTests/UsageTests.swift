// SPDX-License-Identifier: Apache-2.0
// The command line: what is refused, and that nothing refused is repeated if it may be a secret.

import Foundation
import Testing

@Suite("usage")
struct UsageTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let verbs = [
        "", "set", "get", "list", "delete", "init", "unlock", "lock", "protect", "protect list", "protect add",
        "protect remove", "protect change", "protect adopt", "rotate", "status", "doctor", "watch-session",
        "quarantine", "quarantine list", "quarantine restore", "quarantine purge", "backup", "restore", "export",
        "import-archive", "run", "inject", "edit", "copy", "generate", "otp", "move", "rename", "search",
        "history", "undo", "expire", "key", "key list", "key generate", "key import", "key public", "key export",
        "key sign",
        "key verify", "key delete", "ssh-agent", "certificate", "certificate import", "certificate list",
        "certificate show", "certificate export", "certificate delete", "identity", "identity import", "identity list",
        "identity export", "identity delete",
    ]

    @Test(arguments: [
        "list --match 'h\\'", "list --synchronizable --no-synchronizable", "run", "run --", "run true",
        "run --env X=y -- true", "run --env X -- true", "run --registry h -- true",
        "run --env 'X-Y=keychain://s/a' -- true", "inject --replace", "edit", "copy", "copy -s s --clear-after 172801",
        "copy -s s --clear-after 3d", "copy -s s --clear-after 5y", "copy -s s --clear-after x",
        "copy -s s --clear-after d",
        "generate -s s", "generate -s s -a a --length 0", "generate -s s -a a --length 4097",
        "generate -s s -a a --characters =a", "generate -s s -a a --characters most", "otp", "otp -s s --at -1",
        "move -s s -a a", "move -s s -a a --to-server h", "move --server h --to-service s", "search", "search ''",
        "list --match '[a'", "set -s s -a a --keep-value", "set -s s -a a --keep-value --label x --allow-empty",
        "set -s s", "set -a a", "set", "get", "get -a a", "get -s s --server h", "get -s s --port 80",
        "get --server h --port 0", "get --server h --port 65536", "get --server h --protocol xx", "delete -a a",
        "set -s s -a a --from-fd -1", "set -s s -a a --from-fd x", "set -s s -a a --from-fd 77", "frobnicate",
        "get -ss", "list --frob", "unlock --passphrase-fd x", "unlock --key-fd -1", "unlock --timeout 5y",
        "unlock --recovery-key --credential", "init --passphrase-fd x", "init --no-device-key", "protect add",
        "protect add fingerprint", "protect add key-file", "protect remove", "protect remove x", "protect frobnicate",
        "protect add passphrase --new-passphrase-fd x", "protect add passphrase --new-key-fd 3",
        "backup", "restore", "quarantine restore", "quarantine purge", "quarantine purge 1 --all",
        "quarantine restore one", "quarantine frobnicate", "export", "import-archive", "export f --clear-text xml",
        "import-archive f --merge --replace", "key generate", "key generate p256", "key generate --tag t",
        "key generate p256 --tag ''", "key sign", "key verify --tag t", "key export --tag t --replace", "key delete",
        "key delete --tag t --application-label 00", "key delete --application-label 0", "key export",
        "key frobnicate",
        "key export f --tag t --clear-text --file-passphrase-fd 3", "key import --tag t --file-passphrase-fd 0",
    ])
    func commandLine_thatIsWrong_isUsage(line: String) throws {
        let run = try tool.shell("\"$CTL\" \(line)")
        #expect(run.status == 64)
        #expect(run.errors.hasPrefix("keychainctl: "))
        #expect(run.output.isEmpty)
    }

    /// What is stored there could not be read back.
    @Test(arguments: [
        "set -s s -a a --access-group", "move -s s -a a --to-access-group", "delete -s s --all --access-group",
        "key generate ed25519 --tag t --access-group", "import env /dev/null --access-group",
        "certificate import /dev/null --access-group", "identity import /dev/null --access-group",
        "key list --access-group", "certificate list --access-group", "export f --clear-text json --only-group",
        "sync init --folder f --access-group",
    ])
    func accessGroup_ofTheKeychainItself_isUsage(line: String) throws {
        let run = try tool.shell("\"$CTL\" \(line) swift-keychain.sync")
        #expect(run.status == 64 && run.errors.contains("belong to the keychain itself"), "\(run.everything)")
    }

    @Test(arguments: [
        "set -s s -a a hunter2", "set hunter2", "set -s s -a a -- hunter2", "set -s s -a a --password hunter2",
        "set -s s -a a --password=hunter2", "set -s s -a a --value hunter2", "set -s s -a a -w hunter2",
        "set -s s -a a -phunter2", "set -s s -a a -w=hunter2", "set -s s -a a --from-fd hunter2",
        "set -s s -a a --from-fd=hunter2", "get -s s -a a hunter2", "list hunter2", "delete -s s -a a hunter2",
        "status hunter2", "set -s s -a a --allow-empty=hunter2",
        "unlock hunter2", "unlock --passphrase-fd hunter2", "unlock --passphrase hunter2", "unlock --timeout hunter2",
        "init hunter2", "init --passphrase hunter2", "init --passphrase-fd hunter2", "lock hunter2", "rotate hunter2",
        "protect hunter2", "protect add passphrase hunter2", "protect add hunter2", "protect remove hunter2",
        "protect change passphrase --new-passphrase-fd hunter2", "doctor hunter2", "watch-session hunter2",
        "get -s s --recovery-key hunter2", "sett hunter2", "--frob hunter2", "get --server h --port hunter2",
        "get -s s --protocol hunter2", "set --server https://u:hunter2@h/ -a a",
        "set --server https://h/?token=hunter2 -a a", "set --server hunter2://h -a a", "quarantine purge hunter2",
        "quarantine list hunter2", "backup f hunter2", "export f hunter2", "import-archive f hunter2",
        "export f --recipient hunter2", "export f --clear-text hunter2", "export f --file-passphrase-fd hunter2",
        "run hunter2", "run --env hunter2 -- true",
        "run --env X=hunter2 -- true", "run --hunter2 -- true", "inject hunter2", "edit -s s hunter2",
        "copy -s s hunter2", "generate -s s -a a hunter2", "generate -s s -a a --characters hunter2",
        "otp -s s hunter2",
        "move -s s --to-account b hunter2", "search x hunter2", "copy -s s --clear-after hunter2",
        "list --match [hunter2", "history hunter2", "history --keep hunter2", "undo -s s hunter2",
        "undo -s s --to hunter2",
        "expire hunter2 -s s", "expire 90d -s s hunter2", "get -s s --history hunter2", "list --expires-within hunter2",
        "key hunter2", "key list hunter2", "key delete --tag t hunter2", "key public --tag t hunter2",
        "key generate hunter2 --tag t", "key import --tag t --file-passphrase-fd hunter2", "key sign --tag t f hunter2",
        "ssh-agent hunter2", "certificate hunter2", "certificate list hunter2", "certificate import f hunter2",
        "certificate show --fingerprint hunter2", "certificate delete -n x hunter2",
        "certificate export f -n x hunter2",
        "identity list hunter2", "identity import f --file-passphrase-fd hunter2", "identity delete -t t hunter2",
        "identity export f -t t hunter2",
    ])
    func commandLine_withAValueOnIt_isRefusedWithoutRepeatingIt(line: String) throws {
        let run = try tool.shell("echo x | \"$CTL\" \(line)")
        #expect(run.status == 64)
        #expect(!run.everything.contains("hunter2"), "\(run.everything)")
        #expect(try tool.listed().isEmpty)
    }

    @Test func commandLine_withAWordTooMany_saysThatValuesDoNotBelongThere() throws {
        #expect(try tool.run("set", "-s", "s", "-a", "a", "x").errors.contains("never go on the command line"))
    }

    @Test(arguments: ["protect add --help", "get --help"])
    func help_namesTheCredential(line: String) throws {
        #expect(try tool.shell("\"$CTL\" \(line)").text.contains("swift-keychain.key"))
    }

    @Test(arguments: ["unlock --timeout 5y", "copy -s s --clear-after 5y", "list --expires-within 5y"])
    func time_thatIsNone_isToldItsUnits(line: String) throws {
        let errors = try tool.shell("\"$CTL\" \(line)").errors
        for unit in ["seconds (90 or 90s)", "minutes (15m)", "hours (8h)", "days (2d)"] {
            #expect(errors.contains(unit))
        }
    }

    @Test func commandLine_thatIsNotText_isRefused() throws {
        let run = try tool.shell("printf x | \"$CTL\" set -s s -a \"$(printf 'a\\377')\"")
        #expect(run.status == 64)
        #expect(run.errors.contains("UTF-8"))
    }

    @Test(arguments: verbs)
    func help_ofEveryVerb_hasExamples(verb: String) throws {
        let run = try tool.shell("\"$CTL\" \(verb) --help")
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(run.text.contains("EXAMPLES\n  keychainctl "))
    }

    @Test func help_ofEveryVerb_fitsEightyColumns() throws {
        let verbs = Swift.Set(Self.verbs).union(try declaredVerbs())
        #expect(verbs.isSuperset(of: ["sync init", "helper install", "ssh-agent", "security"]))
        for verb in verbs.sorted() {
            let text = try tool.shell("\"$CTL\" \(verb) --help").text
            // The drop-in for macOS's command has the usage of that, on standard error.
            #expect(text.hasPrefix("OVERVIEW: ") || verb == "security", "\(verb)")
            let long = text.split(separator: "\n").filter { $0.count > 80 }
            #expect(long.isEmpty, "\(verb)")
            #expect(!text.contains("\n      keychainctl"), "\(verb)")
            // A line that was wrapped begins at the margin, and would be another command for a person who copies it.
            let examples = (text.components(separatedBy: "EXAMPLES\n").last ?? "").components(separatedBy: "\n")
            let isWrapped = zip(examples, examples.dropFirst()).contains { line, next in
                line.hasPrefix("  ") && !next.isEmpty && !next.hasPrefix("  ")
            }
            #expect(!isWrapped, "\(verb)")
        }
    }

    /// Every command with its subcommands, also those that no list shows.
    private func declaredVerbs() throws -> [String] {
        let dump = try JSONDecoder().decode(Dump.self, from: try tool.run("--experimental-dump-help").output)
        return dump.command.verbs(after: [])
    }

    private struct Dump: Decodable {
        let command: Command

        struct Command: Decodable {
            let commandName: String
            let subcommands: [Command]?

            func verbs(after words: [String]) -> [String] {
                (subcommands ?? []).flatMap { command in
                    let own = words + [command.commandName]
                    return [own.joined(separator: " ")] + command.verbs(after: own)
                }
            }
        }
    }

    @Test func help_ofTheTool_tellsEveryExitCode() throws {
        let lines = try tool.run("--help").text.split(separator: "\n").map { $0.drop { $0 == " " } }
        let told = lines.compactMap { $0.firstMatch(of: /^(\d+)  [a-z]/).flatMap { Int($0.output.1) } }
        #expect(told == [0, 1] + Array(3...20) + [64])
    }

    @Test func version_askedFor_isThatOfTheChangelog() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let changes = try String(contentsOf: root.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(changes.firstMatch(of: /\n## (\d+\.\d+\.\d+)\n/)?.output.1)
        for verb in ["get", "history"] { #expect(try tool.run(verb, "--version").text == "\(newest)\n") }
        let run = try tool.run("--version")
        #expect(run.status == 0)
        #expect(run.text == "\(newest)\n")
        #expect(run.errors.isEmpty)
    }
}
