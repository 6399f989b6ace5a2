// SPDX-License-Identifier: Apache-2.0
// The class keys that rows name as their own.

/// The class key that a row names as its own.
struct ClassKeyName: Hashable, Sendable {
    /// The accessibility class.
    let keyClass: UInt8
    let generation: UInt32

    /// Both in one number, which sorts by class and then by generation.
    var number: UInt64 { UInt64(keyClass) << 32 | UInt64(generation) }
}

/// How many rows are sealed under each class key, items and quarantined rows.
struct KeyUse {
    var items: [ClassKeyName: Int] = [:]
    var quarantined: [ClassKeyName: Int] = [:]

    func needs(_ name: ClassKeyName) -> Bool { items[name] != nil || quarantined[name] != nil }
}
