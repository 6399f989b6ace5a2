// SPDX-License-Identifier: Apache-2.0
// Exports and other programs: `age` in both directions, and the reader in Python.

import Foundation
import KeychainTestSupport
import Testing

@Suite("exports elsewhere")
struct ExportReaderTests {
    private let tool: Tool
    private let reader = "\(Tool.pythonForTests) '\(Tool.testsFolder.path)/FormatReader/read_export.py'"

    init() throws {
        tool = try Tool()
        try tool.write(Data((Tool.testIdentity + "\n").utf8), to: "key")
        #expect(try tool.take(ExportedItems.lines(40)).status == 0)
        #expect(try tool.shell("\"$CTL\" export clear.json --clear-text json").status == 0)
    }

    @Test(.enabled(if: Tool.hasAge, "age is not installed"))
    func export_decryptedByAge_isTheClearText() throws {
        let run = try tool.shell(
            "\"$CTL\" export items.age --recipient \(Tool.testRecipient) && age --decrypt --identity key items.age")
        #expect(run.output == (try tool.file("clear.json")), "\(run.errors)")
    }

    @Test(.enabled(if: Tool.hasAge, "age is not installed"), arguments: [1, 3])
    func fileOfAge_toSeveralRecipients_isImported(_ count: Int) throws {
        let others = (1..<count).map { _ in "--recipient \"$(age-keygen 2>&1 >/dev/null | cut -d ' ' -f 3)\"" }
        let recipients = (others + ["--recipient \(Tool.testRecipient)"]).joined(separator: " ")
        let run = try tool.shell(
            "age \(recipients) -o items.age clear.json && \"$CTL\" import-archive items.age --identity key --yes")
        #expect(run.status == 0 && run.errors.contains("40 equal"), "\(run.errors)")
    }

    @Test(.enabled(if: Tool.hasAge && Tool.hasPython, "age or Python is not installed"))
    func fileOfAge_withAPassphrase_isImported() throws {
        let made = try tool.dialogue(
            "-p", "-o", "items.age", "clear.json", program: ["age"],
            steps: [("Enter passphrase", .type("from age to us\n")), ("onfirm passphrase", .type("from age to us\n"))])
        try #require(made.status == 0, "\(made.screen)")
        let run = try tool.shell("echo from age to us | \"$CTL\" import-archive items.age --yes --file-passphrase-fd 0")
        #expect(run.status == 0 && run.errors.contains("40 equal"), "\(run.errors)")
    }

    @Test(.enabled(if: Tool.hasAge && Tool.hasPython, "age or Python is not installed"))
    func export_withAPassphrase_isDecryptedByAge() throws {
        #expect(
            try tool.shell("echo from us to age | \"$CTL\" export items.age --file-passphrase-fd 0").status == 0)
        let run = try tool.dialogue(
            "-d", "-o", "out.json", "items.age", program: ["age"],
            steps: [("Enter passphrase", .type("from us to age\n"))])
        try #require(run.status == 0, "\(run.screen)")
        #expect(try tool.file("out.json") == tool.file("clear.json"))
    }

    @Test(.enabled(if: Tool.hasAge, "age is not installed"))
    func fileOfAge_asText_isSaidToBeUnsupported() throws {
        let run = try tool.shell(
            "age -a -r \(Tool.testRecipient) -o items.age clear.json; \"$CTL\" import-archive items.age --identity key")
        #expect(run.status == 14 && run.errors.contains("armor"), "\(run.errors)")
    }

    @Test(
        .enabled(if: Tool.hasCryptography, "Python with 'cryptography' is missing (KEYCHAIN_TEST_PYTHON names one)"),
        arguments: [
            ("--recipient \(Tool.testRecipient)", "--identity \(Tool.testIdentity)"),
            ("--file-passphrase-fd 0 < pass", "< pass"),
        ])
    func export_readInPython_hasTheItems(sealing: String, opening: String) throws {
        try tool.write(Data("correct horse battery\n".utf8), to: "pass")
        let run = try tool.shell("\"$CTL\" export items.age \(sealing) && \(reader) items.age \(opening)")
        try #require(run.status == 0, "\(run.errors)")
        let found = try JSONSerialization.jsonObject(with: run.output) as? [String: [NSDictionary]]
        let wanted = try tool.exportedLines().map { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
        }
        #expect(found?["items"] == wanted.compactMap { $0 })
    }

    @Test(.enabled(if: Tool.hasCryptography, "Python with 'cryptography' is missing (KEYCHAIN_TEST_PYTHON names one)"))
    func vectorOfVersion1_readInPython_hasItsItems() throws {
        let vector = Tool.testsFolder.appendingPathComponent("Vectors/exports/version-1.age").path
        let run = try tool.shell("echo 'correct horse battery' | \(reader) '\(vector)'")
        #expect(run.status == 0 && run.text.contains("czNjcmV0"), "\(run.errors)")
    }
}
