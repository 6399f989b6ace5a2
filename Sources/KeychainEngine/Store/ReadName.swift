// SPDX-License-Identifier: Apache-2.0
// The bytes that name a read.

/// Writes the name of a read into memory of a fixed size. Every part has a length, so that no two reads have the same name.
package struct ReadName {
    /// In bytes. Reads with longer names are not remembered.
    package static let longest = 256

    /// What the parts of a name are. The reads of different interfaces never have the same name.
    package enum Kind: Int {
        /// The place and the account of a value.
        case account
        /// A search for one value.
        case query
    }

    private let memory: UnsafeMutableRawBufferPointer
    private var count = 0
    private var fits = true

    /// Runs `body` with the name that `parts` writes; `nil` if it is too long.
    package static func with<Result>(
        _ kind: Kind, _ parts: (inout ReadName) -> Void, _ body: (UnsafeRawBufferPointer) -> Result?
    ) -> Result? {
        withUnsafeTemporaryAllocation(byteCount: longest, alignment: 8) { memory in
            var name = ReadName(memory: memory)
            name.put(kind.rawValue)
            parts(&name)
            return name.fits ? body(UnsafeRawBufferPointer(rebasing: memory[..<name.count])) : nil
        }
    }

    private init(memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    package mutating func put(_ number: Int) { withUnsafeBytes(of: number) { write($0) } }

    /// Its bytes, since Swift takes composed and decomposed characters for equal.
    package mutating func put(_ text: String?) {
        guard var text else { return put(-1) }
        text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }

    package mutating func put(_ bytes: UnsafeRawBufferPointer) {
        put(bytes.count)
        write(bytes)
    }

    /// The groups of the program that reads.
    package mutating func put(_ accessGroups: AccessGroups) {
        put(accessGroups.names?.count ?? -1)
        for group in accessGroups.names ?? [] { put(group) }
        put(accessGroups.defaultGroup)
    }

    private mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard fits, bytes.count <= memory.count - count else { return fits = false }
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }
}
