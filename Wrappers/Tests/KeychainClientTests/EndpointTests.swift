// SPDX-License-Identifier: Apache-2.0
// Closures that a test has replaced, and those that it has left out.

import Foundation
import KeychainClient
@_spi(Wrappers) import KeychainKit
import Synchronization
import Testing
import Valet
import WrapperStores

#if IssueReporting
    import IssueReporting
#endif

#if IssueReporting
    /// Keeps what is reported.
    private final class RecordingReporter: IssueReporter {
        private let state = Mutex<[String?]>([])

        var messages: [String?] { state.withLock { $0 } }

        func reportIssue(
            _ message: @autoclosure () -> String?, severity: IssueSeverity, fileID: StaticString,
            filePath: StaticString, line: UInt, column: UInt
        ) {
            let message = message()
            state.withLock { $0.append(message) }
        }
    }
#endif

/// Calls each closure of a client.
private func calls(_ client: KeychainClient) -> [(name: String, call: @Sendable () async throws -> Void)] {
    let user = UserData(email: "e", firstName: "f", lastName: "l", identifier: "i")
    return [
        ("getUserData", { _ = try await client.getUserData() }),
        ("setUserData", { try await client.setUserData(user) }),
        ("deleteUserData", { try await client.deleteUserData() }),
        ("getJwtToken", { _ = try await client.getJwtToken() }),
        ("setJwtToken", { try await client.setJwtToken("t") }),
        ("deleteJwtToken", { try await client.deleteJwtToken() }),
        ("getDeviceData", { _ = try await client.getDeviceData() }),
        ("setDeviceData", { try await client.setDeviceData(DeviceData(endpointArn: "arn")) }),
        ("deleteDeviceData", { try await client.deleteDeviceData() }),
        ("getUserIdentifier", { _ = try await client.getUserIdentifier() }),
    ]
}

@Suite("Closures of a client")
struct EndpointTests {
    /// What a call ends with, and that it was reported, where reports are turned on.
    private func failure(_ body: @escaping @Sendable () async throws -> Void) async -> KeychainClient.Failure? {
        var failure: KeychainClient.Failure?
        #if IssueReporting
            let reporter = RecordingReporter()
            await withIssueReporters([reporter]) {
                do { try await body() } catch { failure = error as? KeychainClient.Failure }
            }
            #expect(reporter.messages == [failure?.errorDescription])
        #else
            do { try await body() } catch { failure = error as? KeychainClient.Failure }
        #endif
        return failure
    }

    @Test(arguments: [KeychainClient.unimplemented, .testValue, KeychainClient()])
    func endpoint_thatIsNotImplemented_reportsItselfAndThrows(client: KeychainClient) async {
        for (name, call) in calls(client) {
            #expect(await failure(call) == .unimplemented(endpoint: name))
        }
    }

    @Test func endpoint_thatIsReplaced_isTheOnlyOneThatAnswers() async throws {
        var client = KeychainClient.unimplemented
        client.getJwtToken = { "test-token" }
        #expect(try await client.getJwtToken() == "test-token")
        let unset = client
        #expect(await failure { try await unset.setJwtToken("t") } == .unimplemented(endpoint: "setJwtToken"))
    }

    @Test func endpoint_calledWithALabel_isTheClosure() async throws {
        let user = UserData(email: "e", firstName: "f", lastName: "l", identifier: "i")
        let client = KeychainClient.inMemory()
        try await client.setUserData(userData: user)
        try await client.setJwtToken(token: "t")
        try await client.setDeviceData(deviceData: DeviceData(endpointArn: "arn"))
        #expect(try await client.getUserData() == user)
        #expect(try await client.getJwtToken() == "t")
        #expect(try await client.getDeviceData()?.endpointArn == "arn")
    }

    @Test func failures_sayWhatToDoAndNoValues() {
        let failures: [KeychainClient.Failure] = [
            .unimplemented(endpoint: "getJwtToken"), .incompleteUserData(missing: ["email"]),
            .unreadable(key: "userData"),
        ]
        for failure in failures { #expect(failure.localizedDescription == failure.errorDescription) }
        #expect(failures[1].errorDescription?.contains("email") == true)
    }

    @Test func previewValue_isEmptyAndInMemory() async throws {
        let client = KeychainClient.previewValue
        #expect(try await client.getJwtToken() == nil)
        try await client.setJwtToken("t")
        #expect(try await KeychainClient.previewValue.getJwtToken() == nil)
    }

    @Test func inMemory_beginsWithWhatItIsGiven() async throws {
        let user = UserData(email: "e", firstName: "f", lastName: "l", identifier: "i")
        let client = KeychainClient.inMemory(
            userData: user, jwtToken: "t", deviceData: DeviceData(endpointArn: "arn"))
        #expect(try await client.getUserData() == user)
        #expect(try await client.getUserIdentifier() == "i")
        #expect(try await client.getJwtToken() == "t")
        #expect(try await client.getDeviceData()?.endpointArn == "arn")
    }

    // MARK: - The current one

    @Test func current_withoutOne_isUnimplemented() async {
        let failure = await failure { _ = try await KeychainClient.current.getJwtToken() }
        #expect(failure == .unimplemented(endpoint: "getJwtToken"))
    }

    @Test func current_isThatOfTheTaskAndItsChildren() async throws {
        try await KeychainClient.withValue(.inMemory(jwtToken: "t")) {
            let own = try await KeychainClient.current.getJwtToken()
            async let ofChild = KeychainClient.current.getJwtToken()
            let ofTask = try await Task { try await KeychainClient.current.getJwtToken() }.value
            let all = [own, try await ofChild, ofTask]
            #expect(all == ["t", "t", "t"])
        }
    }

    @Test func values_replaceSomeClosuresOfTheCurrentClient() async throws {
        try await KeychainClient.withValue(.inMemory(jwtToken: "t")) {
            try await KeychainClient.withValues {
                $0.getUserIdentifier = { "test-user-id" }
            } operation: {
                let identifier = try await KeychainClient.current.getUserIdentifier()
                let token = try await KeychainClient.current.getJwtToken()
                #expect((identifier, token) == ("test-user-id", "t"))
            }
            let identifier = try await KeychainClient.current.getUserIdentifier()
            #expect(identifier == nil)
        }
    }

    @Test func values_ofSynchronousCode_areThoseOfTheOperation() async throws {
        func synchronousCode() -> KeychainClient {
            KeychainClient.withValues {
                $0.getJwtToken = { "test-token" }
            } operation: {
                KeychainClient.withValue(KeychainClient.current) { KeychainClient.current }
            }
        }
        let client = synchronousCode()
        #expect(try await client.getJwtToken() == "test-token")
    }

    @Test func error_ofAnOperation_isRethrown() {
        struct Refusal: Error {}
        func run() throws {
            try KeychainClient.withValues({ $0.getJwtToken = { nil } }, operation: { throw Refusal() })
        }
        #expect(throws: Refusal.self) { try run() }
    }
}
