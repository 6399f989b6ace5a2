// SPDX-License-Identifier: Apache-2.0
// An app whose item asks for the user, as a process of its own, with a real program that asks.

import Foundation
import KeychainServices
import KeychainTestSupport
import KeychainVault
import SecretMemory
import Testing

@Suite("Programs that ask")
struct AskingProgramTests {
    private let folder: TemporaryFolder

    /// A vault with a passphrase, which the device key opens.
    init() throws {
        folder = try TemporaryFolder("keychain-entitlements")
        var settings = VaultSettings()
        settings.scryptCost = .cheap
        let location = try VaultLocation(folder: folder.path + "/vault", deviceKeyFile: folder.path + "/key/device.key")
        try Vault(location, settings).addProtector(ProtectorSecret(.passphrase, SecretBytes(text: "tell nobody")))
    }

    /// - Parameters:
    ///   - askpass: What the program in the place of ssh-askpass does.
    ///   - limits: Commands for the shell before it becomes the program.
    private func run(_ command: String, askpass: String? = nil, limits: String = "true") throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", limits + #"; exec "$0" "$1""#, Programs.built("asking-app"), command]
        process.environment = [
            "HOME": folder.path, "KEYCHAIN_VAULT": folder.path + "/vault", "PATH": "/usr/bin:/bin",
            "KEYCHAIN_DEVICE_KEY": folder.path + "/key/device.key", "KEYCHAIN_ANCHORS": "file",
            // The terminal of the user who runs the tests is not used.
            "KEYCHAIN_AUTHENTICATOR": askpass == nil ? "none" : "askpass",
        ]
        if let askpass {
            let path = folder.path + "/askpass"
            try Data("#!/bin/sh\n\(askpass)\n".utf8).write(to: URL(fileURLWithPath: path))
            chmod(path, 0o700)
            process.environment?["KEYCHAIN_ASKPASS"] = path
        }
        process.standardOutput = output
        try process.run(limitedTo: .testLimit)
        let text = String(decoding: try output.fileHandleForReading.readAll(), as: UTF8.self)
        try process.waitForEnd()
        return text.split(separator: "\n").map(String.init)
    }

    private static let right = #"echo $1 >> "$HOME/questions"; echo "tell nobody""#

    private var questions: [Substring] {
        get throws {
            let path = folder.path + "/questions"
            guard FileManager.default.fileExists(atPath: path) else { return [] }
            return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        }
    }

    @Test func item_readWithTheRightAnswer_isRead() throws {
        #expect(try run("add") == ["0"])
        #expect(try run("read", askpass: Self.right) == ["protected", "0"])
        #expect(try questions.count == 1)
    }

    @Test func item_readWhereNobodyCanBeAsked_isInteractionNotAllowed() throws {
        #expect(try run("add") == ["0"])
        #expect(try run("read") == ["\(errSecInteractionNotAllowed)"])
        #expect(try run("read-with-context") == ["\(errSecInteractionNotAllowed)"])
    }

    @Test func item_readWithWrongAnswers_isAuthenticationFailed() throws {
        #expect(try run("add") == ["0"])
        #expect(try run("read", askpass: "echo wrong") == ["\(errSecAuthFailed)"])
    }

    @Test func item_readWithADismissedQuestion_isCancelled() throws {
        #expect(try run("add") == ["0"])
        #expect(try run("read", askpass: "exit 1") == ["\(errSecUserCanceled)"])
    }

    @Test func item_readTwiceWithOneContext_asksOnceAndInItsWords() throws {
        #expect(try run("add") == ["0"])
        #expect(try run("read-with-context", askpass: Self.right) == ["protected", "protected", "0"])
        #expect(try questions.count == 1)
        #expect(try questions.first?.contains("see the secret of alice") == true)
    }

    @Test(arguments: ["KEYCHAIN_AUTHENTICATOR=terminl", "KEYCHAIN_ASKPASS=askpass"])
    func item_readWithAMistakeInTheEnvironment_isNotAvailable(variable: String) throws {
        #expect(try run("add") == ["0"])
        #expect(try run("read", askpass: Self.right, limits: "export \(variable)") == ["-25291"])
        #expect(try run("read-with-context", askpass: Self.right, limits: "export \(variable)") == ["-25291"])
    }

    @Test func evaluation_withTheRightAnswer_isReplied() throws {
        #expect(try run("evaluate", askpass: Self.right) == ["0"])
    }

    /// No thread can have a stack of 256 TiB. The reply comes all the same, and does not keep the program waiting for ever.
    @Test(.timeLimit(.minutes(60))) func evaluation_whereNoThreadCanBeMade_isSystemCancel() throws {
        #expect(try run("evaluate", askpass: Self.right, limits: "ulimit -s 274877906944") == ["-4"])
        #expect(try questions.isEmpty)
    }

    @Test func item_deleted_asksNobody() throws {
        #expect(try run("add") == ["0"])
        #expect(try run("delete") == ["0"])
        #expect(try run("delete") == ["\(errSecItemNotFound)"])
    }
}
