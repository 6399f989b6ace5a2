// SPDX-License-Identifier: Apache-2.0
// Which of several items of one server and account is meant.

import KeychainKit

/// A name is complete without the parts that most items do not have. Items without these parts are preferred, so that an
/// item with more of them does not make the other one ambiguous.
struct ItemPreference {
    /// The parts that were asked for, in which matching items do not differ.
    var namesSecurityDomain = false
    var namesProtocol = false
    var namesPort = false
    var namesPath = false

    /// Docker's and Firefox's items have a security domain. They are meant only if no others match.
    ///
    /// - Parameter item: Its item; `nil` if its name is damaged.
    func among<Found>(_ found: [Found], _ item: (Found) -> KeychainItem?) -> [Found] {
        let usual = found.filter { namesSecurityDomain || item($0)?.securityDomain == nil }
        let considered = usual.isEmpty ? found : usual
        let plain = considered.filter { item($0).map(isPlain) ?? false }
        return plain.count == 1 ? plain : considered
    }

    private func isPlain(_ item: KeychainItem) -> Bool {
        (namesPort || item.port == nil) && (namesProtocol || item.protocol == nil) && (namesPath || item.path == nil)
    }
}
