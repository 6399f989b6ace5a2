// SPDX-License-Identifier: Apache-2.0
// Room for a secret that arrives bit by bit: from a terminal, or from another process.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Memory as `SecretBytes` has it, of a fixed size, that is filled from one end and emptied from the other.
///
/// ```swift
/// let buffer = SecretBuffer(capacity: 4096)
/// guard buffer.read(from: descriptor) > 0, let secret = buffer.secret(in: 0..<buffer.count) else { return }
/// ```
///
/// For one thread. Does not protect against another process of the same user that may read this one's memory.
public final class SecretBuffer {
    /// Owns the memory, and is never given out: what it holds changes.
    private let memory: SecretBytes
    private let region: UnsafeMutableRawBufferPointer
    public private(set) var count = 0

    public var capacity: Int { region.count }

    public init(capacity: Int) {
        var region = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        memory = SecretBytes(count: capacity) { region = $0 }
        self.region = region
    }

    public subscript(index: Int) -> UInt8 {
        precondition(index < count, "beyond the end of a secret buffer")
        return withRegion { $0[index] }
    }

    /// Reads once, straight into the buffer; says what `read` says, with `errno`. Zero too if there is no room.
    public func read(from descriptor: Int32) -> Int {
        let result = withRegion { region in
            let room = region[count...]
            #if canImport(Darwin)
                return Darwin.read(descriptor, region.baseAddress?.advanced(by: room.startIndex), room.count)
            #elseif canImport(Musl)
                return Musl.read(descriptor, region.baseAddress?.advanced(by: room.startIndex), room.count)
            #else
                return Glibc.read(descriptor, region.baseAddress?.advanced(by: room.startIndex), room.count)
            #endif
        }
        count += max(0, result)
        return result
    }

    /// - Returns: `false` if there is no room.
    public func append(_ byte: UInt8) -> Bool {
        guard count < capacity else { return false }
        withRegion { $0[count] = byte }
        count += 1
        return true
    }

    public func firstIndex(of byte: UInt8) -> Int? {
        withRegion { $0[..<count].firstIndex(of: byte) }
    }

    /// Forgets the first bytes, and moves the others up.
    public func removeFirst(_ number: Int) {
        precondition(number <= count, "beyond the end of a secret buffer")
        withRegion { region in
            region.copyMemory(from: UnsafeRawBufferPointer(rebasing: region[number..<count]))
            wipeMemory(UnsafeMutableRawBufferPointer(rebasing: region[(count - number)..<count]))
        }
        count -= number
    }

    /// A copy of some of the bytes; `nil` if the range is empty.
    public func secret(in range: Range<Int>) -> SecretBytes? {
        guard !range.isEmpty else { return nil }
        precondition(range.upperBound <= count, "beyond the end of a secret buffer")
        return withRegion { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    private func withRegion<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        withExtendedLifetime(memory) { body(region) }
    }
}

extension SecretBytes {
    /// Whether two entries of the user are the same. It takes longer for equal beginnings, so it is not for comparing
    /// with what an attacker sends.
    public func holdsSameBytes(as other: SecretBytes) -> Bool {
        withUnsafeBytes { own in other.withUnsafeBytes { own.elementsEqual($0) } }
    }
}
