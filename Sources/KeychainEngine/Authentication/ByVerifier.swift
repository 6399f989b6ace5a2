// SPDX-License-Identifier: Apache-2.0
// Values that belong to one verifier.

/// One value for each verifier that still exists.
///
/// An identifier alone is not enough: a new store may get the address of one that is gone, and the key of another store
/// would then make items of the new one look damaged, or seal them for ever.
struct ByVerifier<Value> {
    private struct Entry {
        weak var verifier: (any UserVerifier)?
        let value: Value
    }

    private var entries: [ObjectIdentifier: Entry] = [:]

    subscript(verifier: any UserVerifier) -> Value? {
        get {
            guard let entry = entries[ObjectIdentifier(verifier)], entry.verifier === verifier else { return nil }
            return entry.value
        }
        set {
            removeAll { _ in false }
            entries[ObjectIdentifier(verifier)] = newValue.map { Entry(verifier: verifier, value: $0) }
        }
    }

    /// Removes some values, and those of verifiers that are gone.
    mutating func removeAll(where isRemoved: (Value) -> Bool) {
        entries = entries.filter { $0.value.verifier != nil && !isRemoved($0.value.value) }
    }
}
