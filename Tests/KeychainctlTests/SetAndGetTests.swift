// SPDX-License-Identifier: Apache-2.0
// Storing values and getting them back, byte for byte.

import Foundation
import Testing

@Suite("set and get")
struct SetAndGetTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test(arguments: [
        Data("plain".utf8), Data("with a newline\n".utf8), Data("\r\n\r\n".utf8), Data([0]), Data([0, 1, 2, 0, 255]),
        Data(0...255), Data("ünïcödé 🔑".utf8), Data("--help".utf8),
    ])
    func value_ofAnyBytes_comesBackUnchanged(value: Data) throws {
        try tool.store(value)
        #expect(try tool.get() == value)
    }

    @Test func value_ofOneMebibyte_comesBackUnchanged() throws {
        let value = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) })
        try tool.store(value)
        #expect(try tool.get() == value)
    }

    @Test func value_fromASlowPipe_isReadToItsEnd() throws {
        #expect(try tool.shell("{ printf a; printf b | cat; printf c; } | \"$CTL\" set -s s -a a").status == 0)
        #expect(try tool.get(service: "s", account: "a") == Data("abc".utf8))
    }

    @Test func value_fromADescriptor_isReadFromThere() throws {
        let run = try tool.shell(
            "printf 'from\\0three' > f; \"$CTL\" set -s s -a a --from-fd 3 3< f; r=$?; rm f; exit $r")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try tool.get(service: "s", account: "a") == Data("from\0three".utf8))
    }

    @Test func value_fromDescriptorZero_isStandardInput() throws {
        try tool.store(secret, service: "s", account: "a", "--from-fd", "0")
        #expect(try tool.get(service: "s", account: "a") == secret)
    }

    @Test func value_fromADescriptor_leavesStandardInputUnread() throws {
        let run = try tool.shell("echo three > f; echo one | { \"$CTL\" set -s s -a a --from-fd 3 3< f; cat; }")
        #expect(run.text == "one\n")
    }

    @Test func value_thatIsEmpty_isRefused() throws {
        let run = try tool.run("set", "-s", "s", "-a", "a")
        #expect(run.status == 64)
        #expect(run.errors.contains("--allow-empty"))
    }

    @Test func value_thatIsEmptyAndRefused_storesNothing() throws {
        try tool.store()
        try tool.run("set", "-s", "example.com", "-a", "alice")
        #expect(try tool.get() == secret)
    }

    @Test func value_thatIsEmptyAndAllowed_comesBackEmpty() throws {
        try tool.store(Data(), service: "s", account: "a", "--allow-empty")
        #expect(try tool.get(service: "s", account: "a").isEmpty)
    }

    @Test func set_whenItWorks_printsNothing() throws {
        #expect(try tool.run("set", "-s", "s", "-a", "a", input: secret).everything.isEmpty)
    }

    @Test func get_withoutAccount_takesTheOnlyItem() throws {
        try tool.store()
        #expect(try tool.run("get", "-s", "example.com").output == secret)
    }

    @Test func get_withSeveralMatches_tellsHowManyAndShowsNone() throws {
        try tool.store(account: "alice")
        try tool.store(otherSecret, account: "bob")
        let run = try tool.run("get", "-s", "example.com")
        #expect(run.status == 4)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("2 items match"))
    }

    @Test func get_withALabel_picksTheItemThatHasIt() throws {
        try tool.store(account: "alice", "--label", "one")
        try tool.store(otherSecret, account: "bob", "--label", "two")
        #expect(try tool.run("get", "-s", "example.com", "--label", "two").output == otherSecret)
    }

    @Test func names_thatBeginWithADash_areTakenAfterAnEqualsSign() throws {
        #expect(try tool.run("set", "--service=-s", "--account=--a", input: secret).status == 0)
        #expect(try tool.run("get", "--service=-s", "--account=--a").output == secret)
    }

    @Test func names_thatAreEmpty_areNamesToo() throws {
        try tool.store(service: "", account: "")
        #expect(try tool.get(service: "", account: "") == secret)
    }

    @Test func tool_withEntitlementsInItsEnvironment_reachesEveryGroup() throws {
        try tool.store(secret, account: "alice", "--access-group", "any")
        var environment = tool.environment
        environment["KEYCHAIN_ENTITLEMENTS"] = "/missing.entitlements"
        let run = try tool.run("get", "-s", "example.com", "-a", "alice", environment: environment)
        #expect(run.output == secret)
    }
}
