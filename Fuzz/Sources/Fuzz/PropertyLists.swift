// SPDX-License-Identifier: Apache-2.0
// Property lists from files.

import Foundation
import KeychainAdoption
import KeychainEngine

enum PropertyLists {
    static func entitlements(_ bytes: Data) {
        guard let entitlements = try? Entitlements(bytes, path: "/entitlements", team: "TEAM") else { return }
        require(bytes.count <= Entitlements.sizeLimit, "no more than the limit is read")
        let names = entitlements.groups.map { Array($0.utf8) }
        require(Set(names).count == names.count, "each group is there once")
        let again = try? Entitlements(bytes, path: "/entitlements", team: "TEAM")
        require(again == entitlements, "reading is deterministic: \(entitlements.groups) \(again?.groups ?? [])")
    }

    static func file(_ bytes: Data) {
        let file = PropertyListFile(URL(fileURLWithPath: Scratch.write(bytes, "defaults.plist")))
        guard (try? file.propertyListValue(forKey: "key")) != nil else { return }
        guard (try? file.removeValues(forKeys: ["key"])) != nil else { return }
        let value = (try? file.propertyListValue(forKey: "key")) ?? nil
        require(value == nil, "what was removed is gone")
    }
}
