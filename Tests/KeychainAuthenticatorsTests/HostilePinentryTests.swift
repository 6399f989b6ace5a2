// SPDX-License-Identifier: Apache-2.0
// Programs in pinentry's place that do not keep to the protocol: each question has an end, and an outcome.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

/// One after the other: there is only one question at a time, and waiting for its turn takes from its time.
@Suite("a pinentry that is none", .serialized)
struct HostilePinentryTests {
    private let scripts: Scripts

    init() throws { scripts = try Scripts() }

    /// A pinentry that keeps to the protocol until it is asked for the secret.
    private static func polite(_ answer: String) -> String {
        """
        echo OK ready
        while read -r line; do
            case $line in
            GETPIN) \(answer) ;;
            *) echo OK ;;
            esac
        done
        """
    }

    private func outcome(
        _ body: String, isNew: Bool = false, timeout: Duration = .testLimit, patience: Duration = .testLimit
    ) throws -> Result<Data, KeychainError> {
        let path = try scripts.script(body)
        let authenticator = PinentryAuthenticator(program: path, timeout: timeout, patience: patience)
        return Result { () throws(KeychainError) in
            let answer = try authenticator.ask(AuthenticationQuestion(.passphrase, isNew: isNew, reason: "A test"))
            guard case .secret(let secret) = answer else { return Data() }
            return secret.withUnsafeBytes { Data($0) }
        }
    }

    private func reason(
        _ body: String, timeout: Duration = .testLimit, patience: Duration = .testLimit
    ) throws -> KeychainError.Reason? {
        guard case .failure(let failure) = try outcome(body, timeout: timeout, patience: patience) else { return nil }
        return failure.reason
    }

    @Test(arguments: [
        ("printf 'D %%41b%%25\\nOK\\n'", "Ab%"),
        ("printf 'D a\\nD b\\nOK\\n'", "ab"),
        ("printf '# comment\\nS STATUS x\\nS\\nD ab\\nOK\\n'", nil),
        ("printf '# comment\\nS STATUS x\\nD ab\\nOK bye\\n'", "ab"),
        ("printf 'D ab\\nOK\\r\\n'", "ab"),
        ("printf 'D a%%\\nOK\\n'", nil), ("printf 'D a%%4\\nOK\\n'", nil), ("printf 'D a%%4g\\nOK\\n'", nil),
        ("printf 'ERR\\n'", nil), ("printf 'ERR x\\n'", nil), ("printf 'INQUIRE y\\n'", nil), ("printf '\\n'", nil),
    ])
    func line_ofTheAnswer_isTheSecretOrGarbage(answer: String, secret: String?) throws {
        switch try outcome(Self.polite(answer)) {
        case .success(let data): #expect(data == secret.map { Data($0.utf8) })
        case .failure(let failure): #expect(secret == nil && failure.reason == .unavailable, "\(failure)")
        }
    }

    @Test(arguments: [
        (83_886_179, KeychainError.Reason.cancelled), (83_886_278, .cancelled), (99, .cancelled),
        (83_886_142, .timedOut),
    ])
    func error_byNumber_isItsReason(code: Int, expected: KeychainError.Reason) throws {
        #expect(try reason(Self.polite("echo ERR \(code) words; exit")) == expected)
    }

    @Test func end_whileAsking_isCancelled() throws {
        #expect(try reason(Self.polite("exit 1")) == .cancelled)
    }

    @Test(arguments: [
        "exit 0", "echo hello", "echo OK ready; exit", "echo OK; read -r line; echo nonsense; cat >/dev/null",
        "exec cat /dev/zero", "exec yes 'S still busy'", "head -c 100000 /dev/zero | tr '\\0' x; exec sleep 1000",
        "exec sleep 1000", "trap '' TERM; while :; do sleep 1; done",
    ])
    func program_thatIsNoPinentry_isUnavailable(body: String) throws {
        #expect(try reason(body, patience: .seconds(5)) == .unavailable)
    }

    @Test func answer_withoutEnd_isUnavailable() throws {
        #expect(try reason(Self.polite("exec yes 'D aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'")) == .unavailable)
    }

    @Test func answer_thatNeverComes_isTimedOut() throws {
        #expect(try reason(Self.polite("exec sleep 1000"), timeout: .seconds(1)) == .timedOut)
    }

    @Test func question_whileAnotherIsOpen_waitsForItsTurn() throws {
        let folder = scripts.folder.path
        try #require(mkfifo(folder + "/asking", 0o600) == 0)
        let first = try scripts.script(Self.polite("echo asking >\(folder)/asking; exec sleep 1000"))
        let question = AuthenticationQuestion(.passphrase, reason: "A test")
        let ended = DispatchSemaphore(value: 0)
        let asking = PinentryAuthenticator(program: first, timeout: .testLimit, patience: .testLimit)
        Thread.detachNewThread {
            #expect(throws: KeychainError.self) { try asking.ask(question) }
            ended.signal()
        }
        _ = try readNamedPipe(folder + "/asking")
        let second = "echo started >\(folder)/second; " + Self.polite("echo D ab; echo OK")
        #expect(try reason(second, timeout: .milliseconds(100)) == .timedOut)
        #expect(!FileManager.default.fileExists(atPath: folder + "/second"))
        question.cancellation.cancel()
        #expect(ended.wait(timeout: .now() + 600) == .success)
    }

    /// The child is killed during its question.
    @Test func question_afterThatOfAKilledChild_isAsked() throws {
        let answering = try scripts.script(Self.polite("echo D ab; echo OK"))
        let killing = try scripts.script(Self.polite("kill -9 $PPID; exit"))
        let lines = try Exerciser.run("ask-around-a-fork", answering, killing)
        let answer = Conversation.answer("ab")
        #expect(lines == [answer, "child ended by 9", answer])
    }

    @Test func newSecret_fromAProgramThatCannotRepeat_isAskedForTwice() throws {
        let body = Self.polite("count=$((count + 1)); if [ $count -le 2 ]; then echo D ab; fi; echo OK")
        #expect(try outcome(body, isNew: true) == .success(Data("ab".utf8)))
    }

    @Test func answer_withoutData_isGivenUpAfterThreeTries() throws {
        #expect(try reason(Self.polite("echo GETPIN >>\(scripts.folder.path)/calls; echo OK")) == .cancelled)
        #expect(try scripts.contents("calls") == "GETPIN\nGETPIN\nGETPIN\n")
    }

    @Test func program_afterTheQuestion_isReaped() throws {
        let pid = "echo $$ >\(scripts.folder.path)/pid; "
        _ = try outcome(pid + Self.polite("echo D ab; echo OK"))
        let number = try #require(Int32(try scripts.contents("pid").trimmingCharacters(in: .newlines)))
        #expect(kill(number, 0) == -1 && errno == ESRCH)
    }

    @Test func program_whenStarted_inheritsNoDescriptor() throws {
        let leak = open("/dev/null", O_RDONLY)
        defer { close(leak) }
        _ = try outcome("ls /proc/self/fd >\(scripts.folder.path)/open; exit")
        // Standard input, the redirected output, the errors, and the folder that `ls` reads.
        #expect(try scripts.contents("open").split(separator: "\n").count == 4)
    }
}
