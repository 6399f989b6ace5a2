// SPDX-License-Identifier: Apache-2.0
// Questions by programs as ssh uses them.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Synchronization
import Testing

@Suite("askpass")
struct AskpassAuthenticatorTests {
    private let scripts: Scripts

    init() throws { scripts = try Scripts() }

    private func outcome(
        _ path: String, isNew: Bool = false, attempt: Int = 1, reason: String = "A test",
        timeout: Duration = .testLimit
    ) -> Result<Data, KeychainError> {
        Result { () throws(KeychainError) in
            let question = AuthenticationQuestion(.passphrase, isNew: isNew, reason: reason, attempt: attempt)
            let answer = try AskpassAuthenticator(program: path, timeout: timeout).ask(question)
            guard case .secret(let secret) = answer else { return Data() }
            return secret.withUnsafeBytes { Data($0) }
        }
    }

    private func failure(_ path: String, timeout: Duration = .testLimit) -> KeychainError? {
        guard case .failure(let failure) = outcome(path, timeout: timeout) else { return nil }
        return failure
    }

    @Test(arguments: ["printf 'ab c\\n'", "printf 'ab c'", "printf 'ab c\\nmore\\n'"])
    func output_ofTheProgram_isTheAnswerUpToTheEndOfTheLine(body: String) throws {
        #expect(outcome(try scripts.script(body)) == .success(Data("ab c".utf8)))
    }

    @Test func program_whenRun_getsTheQuestionAsItsOnlyArgument() throws {
        let path = try scripts.script("printf '%s' \"$#:$1\" >\(scripts.folder.path)/asked; echo x")
        _ = outcome(path, attempt: 2, reason: "Line\nbreak $(id)")
        #expect(
            try scripts.contents("asked") == "1:Wrong passphrase, try again.\nLine\\nbreak $(id)\nPassphrase: ")
    }

    @Test func program_whenRun_readsNothing() throws {
        #expect(outcome(try scripts.script("cat; echo x")) == .success(Data("x".utf8)))
    }

    @Test func program_thatFails_isCancelled() throws {
        #expect(failure(try scripts.script("echo ab; exit 1"))?.reason == .cancelled)
    }

    @Test func program_endedByASignal_isCancelled() throws {
        #expect(failure(try scripts.script("echo ab; kill -9 $$"))?.reason == .cancelled)
    }

    @Test func output_ofNothing_isCancelledAfterThreeTries() throws {
        #expect(failure(try scripts.script("echo; echo x >>\(scripts.folder.path)/calls"))?.reason == .cancelled)
        #expect(try scripts.contents("calls") == "x\nx\nx\n")
    }

    @Test func output_ofTheLongestLength_isTheAnswer() throws {
        let path = try scripts.script("head -c 1024 /dev/zero | tr '\\0' x; echo")
        #expect(outcome(path) == .success(Data(repeating: 0x78, count: 1024)))
    }

    @Test(arguments: ["head -c 1025 /dev/zero | tr '\\0' x; echo", "exec tr '\\0' x </dev/zero"])
    func output_thatIsTooLong_isTooLarge(body: String) throws {
        #expect(failure(try scripts.script(body))?.reason == .tooLarge)
    }

    @Test func program_thatIsMissing_isUnavailableAndNamed() throws {
        let path = scripts.folder.path + "/nothing"
        #expect(failure(path)?.reason == .unavailable)
        #expect(failure(path)?.message.contains(path) == true)
    }

    @Test func program_thatIsNotExecutable_isUnavailable() throws {
        #expect(failure(try scripts.script("echo ab", mode: "644"))?.reason == .unavailable)
    }

    @Test func program_thatIsAFolder_isUnavailable() {
        #expect(failure(scripts.folder.path)?.reason == .unavailable)
    }

    @Test func program_thatEverybodyMayChange_isUnsafe() throws {
        #expect(failure(try scripts.script("echo ab", mode: "757"))?.reason == .unsafeLocation)
    }

    /// What is done to the folders above the program, by their modes from the outer one, and whether it may be run then.
    @Test(arguments: [("755", "755", true), ("755", "777", false), ("777", "755", false), ("755", "1777", true)])
    func program_inAFolderThatEverybodyMayChange_isUnsafe(outer: String, inner: String, isSafe: Bool) throws {
        let folder = scripts.folder.path
        let made = try scripts.script("echo ab")
        try shell(
            "mkdir -p outer/inner; mv \(made) outer/inner/askpass; chmod \(outer) outer; chmod \(inner) outer/inner")
        for path in [folder + "/outer/inner/askpass", try linked("outer/inner/askpass")] {
            #expect(failure(path)?.reason == (isSafe ? nil : .unsafeLocation))
        }
    }

    @Test func program_behindALinkInAFolderThatEverybodyMayChange_isUnsafe() throws {
        let made = try scripts.script("echo ab")
        try shell("mkdir shared; chmod 777 shared; ln -s \(made) shared/askpass")
        #expect(failure(scripts.folder.path + "/shared/askpass")?.reason == .unsafeLocation)
        #expect(failure(made) == nil)
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give files to another user"),
        arguments: ["folder", "folder/askpass"])
    func program_thatAnotherUserMayReplace_isUnsafe(owned: String) throws {
        let made = try scripts.script("echo ab")
        try shell("mkdir folder; mv \(made) folder/askpass; chown 64203 \(owned)")
        let found = failure(scripts.folder.path + "/folder/askpass")
        #expect(found?.reason == .unsafeLocation)
        #expect(found?.message.contains("64203") == true)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files to another user"))
    func program_thatAnotherUserPutIntoASharedFolder_isUnsafe() throws {
        let made = try scripts.script("echo ab")
        try shell("mkdir sticky; chmod 1777 sticky; ln -s \(made) sticky/askpass; chown -h 64203 sticky/askpass")
        #expect(failure(scripts.folder.path + "/sticky/askpass")?.reason == .unsafeLocation)
    }

    private func linked(_ target: String) throws -> String {
        let name = UUID().uuidString
        try shell("ln -s \(target) \(name)")
        return scripts.folder.path + "/" + name
    }

    private func shell(_ line: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-ec", line]
        process.currentDirectoryURL = scripts.folder
        try process.run(limitedTo: .testLimit)
        try process.waitForEnd()
        try #require(process.terminationStatus == 0)
    }

    @Test(arguments: ["askpass", "./askpass", "", "/usr/bin/env\0x"])
    func program_notGivenByItsFullPath_isRefused(path: String) {
        #expect(failure(path)?.reason == .invalidParameter)
    }

    @Test(arguments: ["exec sleep 1000", "echo ab; exec sleep 1000", "trap '' TERM; while :; do sleep 1; done"])
    func program_thatHangs_isTimedOut(body: String) throws {
        #expect(failure(try scripts.script(body), timeout: .milliseconds(300))?.reason == .timedOut)
    }

    @Test func program_thatHangs_endsWithTheCancellation() throws {
        let folder = scripts.folder.path
        try #require(mkfifo(folder + "/started", 0o600) == 0)
        let path = try scripts.script("echo $$ >\(folder)/started; exec sleep 1000")
        let question = AuthenticationQuestion(.passphrase, reason: "A test")
        let pid = Mutex<Int32>(-1)
        let waiter = Thread {
            let line = (try? readNamedPipe(folder + "/started")) ?? Data()
            pid.withLock { $0 = Int32(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)) ?? -1 }
            question.cancellation.cancel()
        }
        waiter.start()
        #expect(throws: KeychainError(.cancelled, "Cancelled.")) {
            try AskpassAuthenticator(program: path).ask(question)
        }
        let number = pid.withLock { $0 }
        #expect(number > 0 && kill(number, 0) == -1 && errno == ESRCH)
    }

    @Test func question_cancelledBefore_startsNothing() throws {
        let path = try scripts.script("echo x >\(scripts.folder.path)/calls")
        let question = AuthenticationQuestion(.passphrase, reason: "A test")
        question.cancellation.cancel()
        #expect(throws: KeychainError.self) { try AskpassAuthenticator(program: path).ask(question) }
        #expect(!FileManager.default.fileExists(atPath: scripts.folder.path + "/calls"))
    }

    @Test func newSecret_givenTwiceTheSame_isTheAnswer() throws {
        #expect(outcome(try scripts.script("echo ab"), isNew: true) == .success(Data("ab".utf8)))
    }

    @Test func newSecret_alwaysDifferent_isCancelled() throws {
        let path = try scripts.script("echo x >>\(scripts.folder.path)/calls; wc -l <\(scripts.folder.path)/calls")
        guard case .failure(let failure) = outcome(path, isNew: true) else { throw Unexpected() }
        #expect(failure.reason == .cancelled)
    }

    private struct Unexpected: Error {}
}
