// SPDX-License-Identifier: Apache-2.0
// Reads messages of a TPM, which may be false.

#if TPM
    /// A message ends too early, is too long, or says what this module did not ask for.
    struct MalformedMessage: Error {}

    /// A cursor over untrusted bytes: every read is checked, nothing traps.
    struct MessageReader {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: some Collection<UInt8>) { rest = ArraySlice(bytes) }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func bytes(_ count: Int) throws(MalformedMessage) -> [UInt8] {
            guard count >= 0, rest.count >= count else { throw MalformedMessage() }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }

        mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
            _: Number.Type = Number.self
        ) throws(MalformedMessage) -> Number {
            try bytes(MemoryLayout<Number>.size).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }

        /// A size of two bytes, then that many bytes (TPM2B).
        mutating func sized() throws(MalformedMessage) -> [UInt8] {
            try bytes(Int(try number(UInt16.self)))
        }

        /// A number of at most 32 bytes, which a TPM may send without its leading zeros.
        mutating func coordinate() throws(MalformedMessage) -> [UInt8] {
            let bytes = try sized()
            guard bytes.count <= 32 else { throw MalformedMessage() }
            return [UInt8](repeating: 0, count: 32 - bytes.count) + bytes
        }

        func end() throws(MalformedMessage) {
            guard isAtEnd else { throw MalformedMessage() }
        }
    }
#endif
