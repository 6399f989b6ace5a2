// SPDX-License-Identifier: Apache-2.0
// `sync status` when the clock of an exchange was another one.

import Foundation
import KeychainEngine
import KeychainSync
import KeychainVault
import Testing

@Suite("clocks of sync")
struct SyncClockTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        let run = try tool.shell("mkdir shared && \"$CTL\" sync init --folder shared --name laptop")
        try #require(run.status == 0, "\(run.errors)")
    }

    /// This machine, as a program with another clock uses it.
    private func member(_ clock: @escaping @Sendable () -> UInt64) throws -> RingMember {
        let environment = tool.environment
        return RingMember(Vault(try .fromEnvironment(environment), try .fromEnvironment(environment)), clock: clock)
    }

    @Test func maximumAge_whereTheClockWasSetBackSinceTheLastExchange_fails() async throws {
        _ = try await member { RingMember.systemTime() + 86_400_000 }.exchange()
        let run = try tool.run("sync", "status", "--max-age", "2h")
        #expect(run.status == 13 && run.errors.contains("earlier than the last complete exchange"), "\(run.errors)")
        #expect(try tool.run("sync", "now").status == 0)
        #expect(try tool.run("sync", "status", "--max-age", "2h").status == 0)
    }

    @Test func noticeAndFailure_withoutATime_haveNullAsTheirTime() async throws {
        let item = "head -c 17000000 /dev/zero | \"$CTL\" set --synchronizable -s s -a large"
        try #require(try tool.shell(item).status == 0)
        let member = try member { 0 }
        _ = try await member.exchange()
        try #require(try tool.shell("mv shared away").status == 0)
        await #expect(throws: KeychainError.self) { try await member.exchange() }
        let output = try tool.run("sync", "status", "--json").output
        let status = try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any])
        let notices = try #require(status["notices"] as? [[String: Any]])
        #expect(!notices.isEmpty && notices.allSatisfy { $0["since"] is NSNull }, "\(notices)")
        let failure = try #require(status["failure"] as? [String: Any])
        #expect(failure["since"] is NSNull, "\(failure)")
    }
}
