// SPDX-License-Identifier: Apache-2.0
// Items and selections for stores over the system's functions.

import Foundation
import KeychainEngine

extension Item {
    static func password(
        _ account: String, group: String = "com.example.first", value: String = "secret"
    ) -> Item {
        let attributes: Attributes = [
            .service: .string("example.com"), .account: .string(account), .accessGroup: .string(group),
            .synchronizable: .number(0), .creationDate: .date(1), .modificationDate: .date(1),
            .digest: .data(Data(count: 20)),
        ]
        return Item(
            itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(.whenUnlocked),
            value: Data(value.utf8))
    }

    func with(_ attribute: Attribute, _ text: String) -> Item {
        var copy = self
        copy.attributes[attribute] = .string(text)
        return copy
    }

    func with(value: String) -> Item {
        var copy = self
        copy.value = Data(value.utf8)
        return copy
    }

    func asking() throws(KeychainError) -> Item {
        var copy = self
        copy.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
        return copy
    }
}

extension Selection {
    static var passwords: Selection { Selection(itemClass: .genericPassword) }

    static func account(_ name: String) -> Selection {
        Selection(itemClass: .genericPassword, conditions: [.account: .string(name)])
    }
}
