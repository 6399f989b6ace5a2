// SPDX-License-Identifier: Apache-2.0
// Answers to LoadCredential= of systemd.

import Foundation
import KeychainTestSupport
import Testing

@Suite("credential-server", .enabled(if: Tool.hasPython, "Python 3 with sqlite3 is not installed."))
struct CredentialServerTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store(service: "web.service", account: "db-password")
    }

    @Test func credential_ofAUnit_isTheValueOfItsItem() throws {
        let answer = try tool.credential()
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(answer.isValue(secret))
        #expect(answer.errors.isEmpty)
    }

    @Test(arguments: [Data(), Data([0, 10, 255, 10]), Data(repeating: 7, count: 300_000)])
    func credential_ofAnyBytes_isSentUnchanged(_ value: Data) throws {
        try tool.store(value, service: "web.service", account: "key", "--allow-empty")
        let answer = try tool.credential("key", of: "web.service")
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(answer.isValue(value))
    }

    @Test func credential_ofAnInstance_isThatOfItsTemplateUnlessItHasItsOwn() throws {
        try tool.store(otherSecret, service: "web@.service", account: "db-password")
        #expect(try tool.credential("db-password", of: "web@1.service").isValue(otherSecret))
        try tool.store(service: "web@1.service", account: "db-password")
        #expect(try tool.credential("db-password", of: "web@1.service").isValue(secret))
    }

    /// An end of the stream alone would be an empty credential.
    @Test(arguments: [("db-password", "other.service"), ("other", "web.service"), ("db-password", "web@1.service")])
    func credential_withoutItem_isRefusedAndNotEmpty(_ name: String, _ unit: String) throws {
        let answer = try tool.credential(name, of: unit)
        #expect(answer.status == 3)
        #expect(answer.isRefusal)
        #expect(answer.errors.contains("'\(name)'") && answer.errors.contains("'\(unit)'"))
    }

    @Test func credential_ofSeveralItems_isRefused() throws {
        try tool.store(otherSecret, service: "web.service", account: "db-password", "--access-group", "other")
        let answer = try tool.credential()
        #expect(answer.status == 4)
        #expect(answer.isRefusal)
    }

    @Test func credential_largerThanSystemdAccepts_isRefused() throws {
        try tool.store(Data(repeating: 7, count: 1 << 20 + 1), service: "web.service", account: "large")
        let answer = try tool.credential("large", of: "web.service")
        #expect(answer.status == 18)
        #expect(answer.isRefusal)
    }

    @Test func credential_ofALockedVault_isRefusedUntilAKeyIsGiven() throws {
        let locked = try LockableTool()
        try locked.withKey("set -s web.service -a db-password", input: secret)
        let refused = try locked.tool.credential()
        #expect(refused.status == 5, "\(refused.errors)")
        #expect(refused.isRefusal)
        let answer = try locked.tool.credential(
            Tool.Asking(arguments: ["--recovery-key-fd", "3"], file: locked.keyOnPaper.path))
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(answer.isValue(secret))
    }

    @Test(arguments: [
        nil, "", "web.service/db-password", "a/unit/web.service", "a/unit/web.service/", "a/unit//db-password",
        "/unit/web.service/db-password", "a/unit/web.service/db-password/x", "a/slice/web.service/db-password",
        "a b/unit/web.service/db-password", "a/unit/web service/db-password", "a/unit/web.service/db\0password",
        "a/unit/web.service/é", "a/unit/web.service/..", "a/unit/web.service/a:b",
    ])
    func address_ofAnotherForm_isRefusedAndNotRepeated(_ address: String?) throws {
        let answer = try tool.credential(Tool.Asking(address: address))
        #expect(answer.status == 64, "\(answer.errors)")
        #expect(answer.isRefusal)
        #expect(!answer.errors.contains("db-password"))
    }

    @Test func address_thatIsAPath_isRefused() throws {
        let answer = try tool.credential(Tool.Asking(address: "socket", isPath: true))
        #expect(answer.status == 64, "\(answer.errors)")
        #expect(answer.isRefusal)
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can become another user."))
    func peer_thatIsAnotherUser_isRefused() throws {
        let answer = try tool.credential(Tool.Asking(user: 65534))
        #expect(answer.status == 7, "\(answer.errors)")
        #expect(answer.isRefusal)
    }

    @Test func peer_thatLeaves_isReported() throws {
        let answer = try tool.credential(Tool.Asking(leaves: true))
        #expect(answer.status == 17, "\(answer.errors)")
        #expect(!answer.errors.contains("correct horse"))
    }

    @Test func socket_thatOnlyListens_isRefused() throws {
        #expect(try tool.credential(Tool.Asking(leaves: true, isListening: true)).status == 64)
    }

    @Test(arguments: [["--frob"], ["--passphrase-fd", "x"], ["--recovery-key"]])
    func option_thatIsWrong_isARefusal(_ arguments: [String]) throws {
        let answer = try tool.credential(Tool.Asking(arguments: arguments))
        #expect(answer.status == 64 && answer.isRefusal, "\(answer.errors)")
    }

    @Test(arguments: ["</dev/null", "<&-", "</", "<file"])
    func standardInput_thatIsNoConnection_isRefused(_ input: String) throws {
        try secret.write(to: tool.home.appendingPathComponent("file"))
        let run = try tool.shell("\"$CTL\" credential-server \(input)")
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
    }

    @Test(arguments: ["--passphrase-fd 0", "--recovery-key"])
    func secret_thatCannotBeGiven_isRefused(_ options: String) throws {
        #expect(try tool.shell("\"$CTL\" credential-server \(options) </dev/null").status == 64)
    }
}
