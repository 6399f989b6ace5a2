// SPDX-License-Identifier: Apache-2.0
// What an app and its widget share in plain sight.

import Foundation
import KeychainKit
import Testing

@testable import LGTVControl

@Suite("App group")
struct AppGroupTests {
    /// Defaults of a group of its own, that end with the test.
    private final class Group {
        let manager = AppGroupManager(appGroupID: "group.swift-keychain.test." + UUID().uuidString)

        var file: URL {
            let environment = ProcessInfo.processInfo.environment
            let folder = environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
            return URL(fileURLWithPath: folder).appendingPathComponent(manager.appGroupID + ".plist")
        }

        deinit {
            UserDefaults(suiteName: manager.appGroupID)?.removePersistentDomain(forName: manager.appGroupID)
            if FileManager.default.fileExists(atPath: file.path) {
                do { try FileManager.default.removeItem(at: file) } catch { print("left behind: \(file.path)") }
            }
        }
    }

    @Test func sharedGroup_isThatOfTheEntitlements() {
        #expect(AppGroupManager.shared.appGroupID == "group.com.DaraConsultingInc.LGTVRemoteWidget")
    }

    @Test func text_set_isReadAndRemoved() {
        let group = Group()
        #expect(group.manager.getString(forKey: "status") == nil)
        #expect(group.manager.setString("connected", forKey: "status"))
        #expect(group.manager.getString(forKey: "status") == "connected")
        group.manager.setString(nil, forKey: "status")
        #expect(group.manager.getString(forKey: "status") == nil)
    }

    /// The defaults are in plain sight, so they have a redaction. It must not be taken for the secret.
    @Test func secretInAValue_isNeitherWrittenNorRead() throws {
        let group = Group()
        group.manager.set(["password": SecretValue("n33dle")], forKey: "login")
        #expect(group.manager.get([String: SecretValue].self, forKey: "login") == nil)
        let written = group.manager.get([String: String].self, forKey: "login")
        #expect(written != nil && written?["password"] != "n33dle")
    }

    @Test func value_set_isReadAsItsTypeOnly() {
        let group = Group()
        #expect(group.manager.set(["HDMI_1", "HDMI_2"], forKey: "inputs"))
        #expect(group.manager.get([String].self, forKey: "inputs") == ["HDMI_1", "HDMI_2"])
        #expect(group.manager.get(Int.self, forKey: "inputs") == nil)
        group.manager.set([String]?.none, forKey: "inputs")
        #expect(group.manager.get([String].self, forKey: "inputs") == nil)
    }

    @Test func value_thatCannotBeEncoded_isNotWritten() {
        let group = Group()
        #expect(!group.manager.set(Double.nan, forKey: "volume"))
    }

    #if os(Linux)
        @Test func text_set_isInTheFileAtOnce() throws {
            let group = Group()
            group.manager.setString("pairing", forKey: "status")
            let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: group.file), format: nil)
            #expect((list as? [String: String])?["status"] == "pairing")
        }
    #endif
}
