// SPDX-License-Identifier: Apache-2.0
// What a build without swift-nio says when it is to connect.

#if !LGTVControl
    import KeychainKit
    import LGTVControl
    import Testing
    import WrapperStores

    @Suite("Without the trait")
    struct WithoutTraitTests {
        private let manager = LGTVControlManager().using(MemoryStore())

        @Test func connecting_saysWhichTraitIsMissing() async {
            let (manager, mac) = (manager, "02:00:5E:10:00:01")
            let calls: [() async throws -> Void] = [
                { try await manager.connect(ip: "192.0.2.14", mac: mac) }, { try await manager.wakeTV(mac: mac) },
                { try await manager.submitPairingCode("1") },
                { try await manager.sendCommand("ssap://audio/volumeUp") },
            ]
            for call in calls {
                let error = await failure(call) as? ConnectionError
                #expect(error?.reason == .unavailable)
                #expect(error?.message.contains(#"traits: ["LGTVControl"]"#) == true)
            }
        }

        @Test func credentials_workAllTheSame() {
            manager.saveCredentials(.living)
            #expect(manager.loadCredentials() == .living)
        }
    }
#endif
