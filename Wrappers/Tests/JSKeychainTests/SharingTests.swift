// SPDX-License-Identifier: Apache-2.0
// Items of two machines in a ring.

import JSKeychain
import KeychainEngine
import Testing
import WrapperStores

#if os(Linux)
    @Suite("Sharing between machines", .timeLimit(.minutes(60)))
    struct SharingTests {
        private func keychain(_ store: any ItemStore, isShared: Bool = true) -> JSKeychain {
            JSKeychain(configuration: .init(syncToICloud: isShared)).using(store)
        }

        @Test func itemThatSyncs_savedOnOneMachine_isReadOnTheOther() async throws {
            let machines = try await TwoMachines()
            let (laptop, desktop) = (keychain(machines.laptop), keychain(machines.desktop))
            try laptop.save("1")
            try await machines.exchange()
            #expect(try desktop.value() == "1")
            try desktop.save("2")
            try await machines.exchange()
            #expect(try laptop.value() == "2")
            try await laptop.delete(service: "app", account: "alice")
            try await machines.exchange()
            #expect(await !desktop.exists(service: "app", account: "alice"))
        }

        @Test func itemThatDoesNotSync_staysOnItsMachine() async throws {
            let machines = try await TwoMachines()
            try keychain(machines.laptop, isShared: false).save("1")
            try await keychain(machines.laptop).save(
                "2", service: "bound", account: "alice", accessibility: .whenUnlockedThisDeviceOnly)
            try await machines.exchange()
            for service in ["app", "bound"] {
                #expect(await !keychain(machines.desktop).exists(service: service, account: "alice"))
            }
        }
    }
#endif
