// SPDX-License-Identifier: Apache-2.0
// Valets of two machines in a ring.

import KeychainEngine
import Testing
import WrapperStores

@testable import Valet

#if os(Linux)
    @Suite("Sharing between machines", .timeLimit(.minutes(60)))
    struct SharingTests {
        @Test(arguments: [CloudAccessibility.whenUnlocked, .afterFirstUnlock])
        func iCloudValet_setOnOneMachine_isReadOnTheOther(_ accessibility: CloudAccessibility) async throws {
            let machines = try await TwoMachines()
            func valet(_ store: any ItemStore) throws -> Valet {
                Valet.iCloudValet(with: try .named("app"), accessibility: accessibility).using(store)
            }
            let (laptop, desktop) = (try valet(machines.laptop), try valet(machines.desktop))
            try laptop.setString("1", forKey: "alice")
            try await machines.exchange()
            #expect(try desktop.string(forKey: "alice") == "1")
            try desktop.setString("2", forKey: "alice")
            try await machines.exchange()
            #expect(try content(laptop) == ["alice": "2"])
            try laptop.removeAllObjects()
            try await machines.exchange()
            #expect(try content(desktop) == [:])
        }

        @Test func valetThatIsNotOfICloud_staysOnItsMachine() async throws {
            let machines = try await TwoMachines()
            try valet(machines.laptop).setString("1", forKey: "alice")
            try await machines.exchange()
            #expect(try content(valet(machines.desktop)) == [:])
        }
    }
#endif
