// SPDX-License-Identifier: Apache-2.0
// Which class keys the rows say that they are sealed under.

/// The class key that a row says it is sealed under.
struct ClassKeyName: Hashable, Sendable {
    /// Of an accessibility class.
    let keyClass: UInt8
    let generation: UInt32
}

/// How many rows are sealed under each class key, in use and in quarantine.
struct KeyUse {
    var items: [ClassKeyName: Int] = [:]
    var quarantined: [ClassKeyName: Int] = [:]

    func needs(_ name: ClassKeyName) -> Bool { items[name] != nil || quarantined[name] != nil }
}
