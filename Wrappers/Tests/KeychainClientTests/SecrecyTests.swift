// SPDX-License-Identifier: Apache-2.0
// That no part of a token or of a user is printed, described or logged.

import Foundation
import KeychainClient
@_spi(Wrappers) import KeychainKit
import Testing
import Valet

private let parts = ["eyJhbGci", "s1gnature", "alice@example.com", "Liddell", "a-user-id"]

/// Does with a live client all there is to do, failures included.
private func useEverything() async throws {
    let memory = MemoryStore()
    guard let identifier = Valet.Identifier(nonEmpty: "com.example.secrecy") else { return }
    let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked).using(memory)
    let client = KeychainClient.live(valet: valet)
    let user = UserData(
        email: "alice@example.com", firstName: "Alice", lastName: "Liddell", identifier: "a-user-id")
    try await client.setJwtToken("eyJhbGciOiJIUzI1NiJ9.payload.s1gnature")
    _ = try await client.getJwtToken()
    try await client.setUserData(user)
    _ = try await client.getUserData()
    _ = try await client.getUserIdentifier()
    try await client.setDeviceData(DeviceData(endpointArn: "alice@example.com"))
    memory.lockState = .locked
    do { try await client.setJwtToken("eyJhbGci") } catch {}
    do { _ = try await client.getUserData() } catch {}
    memory.lockState = .unlocked
    try await client.deleteUserData()
    try await client.deleteJwtToken()
    try await client.deleteDeviceData()
}

@Suite("Secrecy of a client")
struct SecrecyTests {
    /// In a separate process, so that its whole output can be checked.
    @Test func client_thatDoesEverything_printsNothing() async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            try await useEverything()
            exit(0)
        }
        let output = try #require(result)
        let text = String(decoding: output.standardOutputContent + output.standardErrorContent, as: UTF8.self)
        for part in parts { #expect(!text.contains(part)) }
    }

    @Test func sources_ofBothModules_printNothing() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources").standardizedFileURL
        for module in ["KeychainClient", "Valet"] {
            let folder = root.appending(path: module)
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path())
            let sources = names.filter { $0.hasSuffix(".swift") }
            #expect(!sources.isEmpty)
            for source in sources {
                let text = try String(contentsOf: folder.appending(path: source), encoding: .utf8)
                let code = text.split(separator: "\n").filter { !$0.contains("///") }.joined(separator: "\n")
                for call in ["print(", "dump(", "NSLog(", "os_log(", "Logger(", "fputs(", "standardError", ".prefix("] {
                    #expect(!code.contains(call), "\(source): \(call)")
                }
            }
        }
    }

    @Test func records_describedInAnyWay_areRedacted() {
        let user = UserData(
            email: "alice@example.com", firstName: "Alice", lastName: "Liddell", identifier: "a-user-id")
        let device = DeviceData(endpointArn: "alice@example.com")
        var dumped = ""
        dump(user, to: &dumped)
        dump(device, to: &dumped)
        dump(["user": user], to: &dumped)
        let texts = [
            "\(user)", String(reflecting: user), "\([user])", "\(device)", String(reflecting: device), dumped,
            "\(Optional(user) as Any)",
        ]
        for text in texts {
            for part in parts + ["Alice"] { #expect(!text.contains(part), "\(text)") }
        }
    }

    @Test func records_areCodableAndComparable() throws {
        let user = UserData(email: "e", firstName: "f", lastName: "l", identifier: "i")
        let device = DeviceData(endpointArn: "arn")
        #expect(try JSONDecoder().decode(UserData.self, from: JSONEncoder().encode(user)) == user)
        #expect(try JSONDecoder().decode(DeviceData.self, from: JSONEncoder().encode(device)) == device)
    }
}
