// SPDX-License-Identifier: Apache-2.0
// `generate`: its passwords, and the items that they are stored in.

import Foundation
import Testing

@Suite("generate")
struct GenerateTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func password_isStoredAndNotPrinted() throws {
        let run = try tool.run("generate", "-s", "example.com", "-a", "alice")
        #expect(run.status == 0 && run.output.isEmpty, "\(run.errors)")
        let value = String(decoding: try tool.get(), as: UTF8.self)
        #expect(value.wholeMatch(of: /[a-zA-Z0-9]{24}/) != nil)
        #expect(run.errors.contains("142.9 bits") && !run.errors.contains(value))
    }

    @Test func password_withPrint_isTheStoredOne() throws {
        let run = try tool.run("generate", "-s", "example.com", "-a", "alice", "--print")
        #expect(try run.output == tool.get())
    }

    @Test(arguments: [
        ("digits", "0123456789"), ("hex", "0123456789abcdef"), ("=xyz", "xyz"), ("=äöxx", "äöx"),
    ])
    func password_ofASet_hasOnlyItsCharacters(set: String, characters: String) throws {
        let run = try tool.run("generate", "-s", "s", "-a", "a", "--length", "200", "--characters", set, "--print")
        #expect(run.text.count == 200)
        #expect(Swift.Set(run.text) == Swift.Set(characters))
    }

    @Test func item_thatExists_isKept() throws {
        try tool.store()
        #expect(try tool.run("generate", "-s", "example.com", "-a", "alice").status == 4)
        #expect(try tool.get() == secret)
    }

    @Test func item_thatExistsAndIsToBeReplaced_hasTheNewPassword() throws {
        try tool.store()
        #expect(try tool.run("generate", "-s", "example.com", "-a", "alice", "--replace").status == 0)
        #expect(try tool.get().count == 24)
    }

    // MARK: - Words

    /// 2048 different words of four letters, and whatever else.
    private func writeList(_ more: String = "", to path: String = "list") throws {
        let letters = "bdfghjkmnprstvwz".map { String($0) }
        var words: [String] = []
        for first in letters {
            for second in ["a", "e", "i", "o", "u", "y", "x", "q"] {
                for third in letters { words.append(first + second + third + "a") }
            }
        }
        let text = words.joined(separator: "\n") + "\n" + more
        try Data(text.utf8).write(to: tool.home.appendingPathComponent(path))
    }

    private func generateWords(_ number: Int, _ others: String...) throws -> Tool.Run {
        try tool.shell(
            "\"$CTL\" generate -s s -a a --word-list list --print --words \(number) \(others.joined(separator: " "))")
    }

    @Test func phrase_hasWordsOfTheListAndSaysItsEntropy() throws {
        try writeList()
        let run = try generateWords(6)
        #expect(run.text.wholeMatch(of: /[a-z]{4}( [a-z]{4}){5}/) != nil, "\(run.everything)")
        #expect(run.errors.contains("6 out of 2048 words with 66.0 bits") && !run.errors.contains(run.text))
        #expect(try tool.get(service: "s", account: "a") == run.output)
    }

    /// The same word twice would have twice the probability.
    @Test func list_withAWordTwice_countsItOnce() throws {
        try writeList("baba\nbaba\r\n\n11111\tbaba\n")
        #expect(try generateWords(1).errors.contains("out of 2048 words with 11.0 bits"))
    }

    @Test func phrases_ofSeveralRuns_differ() throws {
        try writeList()
        let texts = try (0..<3).map { _ in try generateWords(8, "--replace").text }
        #expect(Swift.Set(texts).count == 3)
    }

    @Test func separator_isBetweenTheWords() throws {
        try writeList()
        #expect(try generateWords(3, "--separator .-").text.wholeMatch(of: /[a-z]{4}\.-[a-z]{4}\.-[a-z]{4}/) != nil)
    }

    @Test(arguments: [
        ("two words\n", "", "Line 2049"), ("\u{200B}x\n", "", "Line 2049"),
        ("yo-yo\n", "--separator -", "of the separator"),
        (String(repeating: "x", count: 65) + "\n", "", "at most 64 bytes"),
    ])
    func list_thatIsNoListOfWords_isAnErrorAndStoresNothing(others: String, options: String, words: String) throws {
        try writeList(others)
        let run = try generateWords(6, options)
        #expect(run.status == 64 && run.output.isEmpty && run.errors.contains(words), "\(run.everything)")
        #expect(try tool.listed().isEmpty)
    }

    @Test func list_thatIsShort_isAnError() throws {
        try Data((0..<1023).map { "word\($0)\n" }.joined().utf8).write(to: tool.home.appendingPathComponent("list"))
        let run = try generateWords(6)
        #expect(run.status == 64 && run.errors.contains("1023 different words"), "\(run.everything)")
    }

    @Test func list_withoutEnd_isTooLarge() throws {
        let run = try tool.shell("\"$CTL\" generate -s s -a a --words 6 --word-list /dev/zero")
        #expect(run.status == 18, "\(run.everything)")
    }

    @Test func list_thatIsMissing_isAnError() throws {
        #expect(try generateWords(6).status == 13)
    }

    @Test(arguments: ["--words 0", "--words 65", "--words 6 --length 9", "--separator x", "--word-list list"])
    func options_thatContradict_areAnError(options: String) throws {
        #expect(try tool.shell("\"$CTL\" generate -s s -a a \(options)").status == 64)
    }

    /// The usual list has names and forms that are left out.
    @Test(.enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"))
    func usualList_givesOnlyPlainWords() throws {
        try writeList("Aachen\nit's\n\u{E9}t\u{E9}\nab\n", to: "words")
        let run = try tool.shellWithOwnMounts(
            "mount -t tmpfs none /usr/share; mkdir /usr/share/dict; cp words /usr/share/dict/words; "
                + "\"$CTL\" generate -s s -a a --words 1")
        #expect(run.status == 0 && run.errors.contains("out of 2048 words"), "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"))
    func usualList_thatIsMissing_isAnErrorThatSaysWhatToDo() throws {
        let run = try tool.shellWithOwnMounts(
            "mount -t tmpfs none /usr/share; \"$CTL\" generate -s s -a a --words 6")
        #expect(run.status == 13 && run.errors.contains("--word-list"), "\(run.everything)")
    }

    @Test func passwords_ofSeveralRuns_differ() throws {
        let texts = try (0..<3).map { try tool.run("generate", "-s", "s", "-a", "\($0)", "--print").text }
        #expect(Swift.Set(texts).count == 3)
    }
}
