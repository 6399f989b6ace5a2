// SPDX-License-Identifier: Apache-2.0
// The parts that commands share.

#if TPM
    extension MessageWriter {
        mutating func putHeader(_ code: CommandCode, _ tag: UInt16 = Tag.noSessions) {
            put(tag)
            // The size, which is known in the end
            put(UInt32(0))
            put(code.rawValue)
        }

        /// The message with its size.
        var finished: [UInt8] {
            var message = self
            message.replace(at: 2, with: UInt32(bytes.count))
            return message.bytes
        }
    }

    /// A point of P-256 as a parameter: both coordinates, each with its size (TPMS_ECC_POINT).
    struct EncodedPoint {
        let bytes: [UInt8]

        /// - Parameter point: 65 bytes (ANSI X9.63)
        init(_ point: [UInt8]) {
            var writer = MessageWriter(capacity: 68)
            writer.put(sized: point[1..<33])
            writer.put(sized: point[33..<65])
            bytes = writer.bytes
        }
    }
#endif
