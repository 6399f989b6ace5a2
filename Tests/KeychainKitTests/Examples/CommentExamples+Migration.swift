// SPDX-License-Identifier: Apache-2.0
// The examples of the comments on migration, word for word.

import Foundation
import KeychainAdoption
import KeychainKit
import Testing

extension CommentExamples {
    @Test(arguments: ["s3cret", #"{"user":"alice","password":"s3cret","version":1}"#])
    func migration_inItsExamples_readsOlderValues(saved: String) throws {
        struct OldLogin: Codable {
            var user: String
            var password: String
            var version: Int
        }
        struct Login: Codable {
            var user: String
            var password: String
            var isCurrent = true
        }
        try store.save(saved, for: "alice")
        let migration = SecretMigration(to: Login.self)
            .from(OldLogin.self) { Login(user: $0.user, password: $0.password) }
            .from(String.self) { Login(user: "alice", password: $0) }
        let login = try store.read(migration, for: "alice")
        #expect(login?.user == "alice" && login?.password == "s3cret")
        #expect(try store.read(Login.self, for: "alice")?.isCurrent == true)
    }

    @Test func items_inTheirExample_move() throws {
        try store.save("s3cret", for: "alice")
        let shared = SecretStore(service: "com.example.app", accessGroup: "com.example.shared")
        try store.move(to: shared)
        #expect(try shared.read(for: "alice") == "s3cret")
    }

    @Test func defaults_inTheirExample_areTakenIn() throws {
        try store.adopt(["apiToken": "alice"], from: UserDefaults.standard)
        #expect(try store.read(for: "alice") == "s3cret")
    }

    @Test func file_inItsExample_losesWhatIsTakenIn() throws {
        let url = FileManager.default.temporaryDirectory.appending(component: "\(UUID()).plist")
        defer { unlink(url.path) }
        try PropertyListEncoder().encode(["apiToken": "s3cret"]).write(to: url)
        try store.adopt(["apiToken": "alice"], from: PropertyListFile(url))
        #expect(try store.read(for: "alice") == "s3cret")
        #expect(try PropertyListFile(url).propertyListValue(forKey: "apiToken") == nil)
    }
}

/// Stands for the user's.
private enum UserDefaults {
    static let standard = Settings()

    struct Settings: PlaintextSource {
        func propertyListValue(forKey key: String) -> Any? { key == "apiToken" ? "s3cret" : nil }
        func removeValues(forKeys keys: [String]) {}
    }
}
