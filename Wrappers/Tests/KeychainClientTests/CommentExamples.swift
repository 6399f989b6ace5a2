// SPDX-License-Identifier: Apache-2.0
// The examples of the comments and the article of KeychainClient, word for word: each ends where the expectations begin.

import Foundation
import KeychainClient
import Testing
import Valet

import class KeychainKit.MemoryStore

@Suite("Examples of the comments on clients")
struct CommentExamples {
    private let valet: Valet

    init() throws {
        let identifier = try #require(Identifier(nonEmpty: "com.example.examples"))
        valet = Valet.valet(with: identifier, accessibility: .whenUnlocked).using(MemoryStore())
    }

    private func run() async throws { _ = try await KeychainClient.current.getJwtToken() }

    @Test func live_inItsExample_keepsTheToken() async throws {
        let client = KeychainClient.live(valet: valet)
        try await client.setJwtToken("t0ken")
        let token = try await client.getJwtToken()
        #expect(token == "t0ken")
        try await client.deleteJwtToken()
        try await client.setJwtToken(token: "t0ken")
        let hasToken = try valet.containsObject(forKey: KeychainKeys.jwtToken)
        #expect(hasToken)
    }

    @Test func unimplemented_inItsExample_answersWhatItIsTold() async throws {
        var client = KeychainClient.unimplemented
        client.getJwtToken = { "test-token" }
        #expect(try await client.getJwtToken() == "test-token")
        func made() -> KeychainClient {
            let client = KeychainClient(getJwtToken: { "test-token" }, setJwtToken: { _ in })
            return client
        }
        #expect(try await made().getJwtToken() == "test-token")
        func inMemory() -> KeychainClient {
            let client = KeychainClient.inMemory(jwtToken: "test-token")
            return client
        }
        #expect(try await inMemory().getJwtToken() == "test-token")
    }

    @Test func records_inTheirExamples_areMade() {
        let user = UserData(email: "alice@example.com", firstName: "Alice", lastName: "Liddell", identifier: "42")
        #expect(user.identifier == "42")
        let device = DeviceData(endpointArn: "arn:aws:sns:eu-central-1:123456789012:endpoint/app")
        #expect(device.endpointArn.hasPrefix("arn:"))
    }

    @Test func failure_inItsExample_namesWhatIsMissing() async throws {
        let client = KeychainClient.live(valet: valet)
        try valet.setString("a@example.com", forKey: KeychainKeys.email)
        var user: UserData?
        var completed: [String] = []
        func complete(_ keys: [String]) { completed = keys }
        do {
            user = try await client.getUserData()
        } catch KeychainClient.Failure.incompleteUserData(let missing) {
            complete(missing)
        }
        #expect(user == nil)
        #expect(completed == ["firstName", "lastName", "identifier"])
    }

    @Test func current_inItsExamples_isTheOneThatWasGiven() async throws {
        try await KeychainClient.withValue(.live(valet: valet)) {
            try await run()
        }
        try await KeychainClient.withValues {
            $0.getJwtToken = { "test-token" }
        } operation: {
            try await run()
        }
        let given = KeychainClient.inMemory(jwtToken: "t0ken")
        let read = try await KeychainClient.withValue(given) {
            let token = try await KeychainClient.current.getJwtToken()
            return token
        }
        #expect(read == "t0ken")
    }
}
