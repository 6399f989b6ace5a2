// SPDX-License-Identifier: Apache-2.0
// Property lists of entitlements, the contents of a program's folder, and services for a program that has them.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import KeychainVault

/// Entitlements, spelled with Apple's own keys.
func propertyList(
    _ entitlements: Entries, _ format: PropertyListSerialization.PropertyListFormat = .xml
) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: entitlements, format: format, options: 0)
}

/// The groups of a program with these entitlements.
func groups(_ entitlements: Entries, team: String? = nil) throws -> [String] {
    try Entitlements(try propertyList(entitlements), path: "app.entitlements", team: team).groups
}

extension StoreKind {
    /// Services over a fresh store for a program with these entitlements.
    func services(entitlements: Entries) throws -> Services {
        try services(groups: try groups(entitlements))
    }
}

extension TemporaryFolder {
    /// What `AccessGroups.ofEnvironment` takes for the program; nothing has to be there.
    var program: String { path + "/app" }
    /// Where entitlements lie beside it.
    var entitlements: String { program + ".entitlements" }

    func write(_ bytes: Data, to name: String = "app.entitlements") throws {
        try bytes.write(to: URL(fileURLWithPath: path + "/" + name))
    }

    /// Why a program here is refused; `nil` if it is not.
    func refusal(_ environment: [String: String] = [:]) -> KeychainError? {
        do throws(KeychainError) {
            _ = try AccessGroups.ofEnvironment(environment, executable: program)
            return nil
        } catch {
            return error
        }
    }
}
