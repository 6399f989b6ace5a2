// SPDX-License-Identifier: Apache-2.0
// Builds messages to a TPM.

#if TPM
    import SecretMemory

    /// The fields of a message, most significant byte first.
    struct MessageWriter {
        private(set) var bytes: [UInt8] = []

        /// - Parameter capacity: Must suffice for a message with a secret. Growth would leave copies in memory.
        init(capacity: Int = 1024) { bytes.reserveCapacity(capacity) }

        mutating func put(_ number: some FixedWidthInteger & UnsignedInteger) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func put(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

        /// A size of two bytes, then that many bytes (TPM2B).
        mutating func put(sized more: some Collection<UInt8>) {
            put(UInt16(clamping: more.count))
            put(more)
        }

        mutating func put(sized secret: SecretBytes?) {
            put(UInt16(clamping: secret?.count ?? 0))
            secret?.withUnsafeBytes { put($0) }
        }

        /// A structure with its size in front.
        mutating func putSized(_ body: (inout MessageWriter) -> Void) {
            let start = bytes.count
            put(UInt16(0))
            body(&self)
            replace(at: start, with: UInt16(clamping: bytes.count - start - 2))
        }

        /// Writes the final number over a placeholder of the same size.
        mutating func replace(at index: Int, with number: some FixedWidthInteger & UnsignedInteger) {
            withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(index..<index + $0.count, with: $0) }
        }

        mutating func wipe() { bytes.wipe() }
    }

    extension [UInt8] {
        /// Overwrites the bytes, of which there must be no other copy.
        mutating func wipe() { withUnsafeMutableBytes { wipeMemory($0) } }
    }
#endif
