// SPDX-License-Identifier: Apache-2.0
// A buffer for a secret that arrives in pieces, from a terminal or another process.

internal import CKeychainShims

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Memory of a fixed size with the protection of `SecretBytes`. It is filled at one end and emptied at the other.
///
/// ```swift
/// let buffer = SecretBuffer(capacity: 4096)
/// guard buffer.read(from: descriptor) > 0, let secret = buffer.secret(in: 0..<buffer.count) else { return }
/// ```
///
/// For use by one thread. Does not protect against another process of the same user that may read this process's
/// memory.
public final class SecretBuffer {
    /// Owns the memory. It is not passed out, because its content changes.
    private let memory: SecretBytes
    private let region: UnsafeMutableRawBufferPointer
    public private(set) var count = 0

    public var capacity: Int { region.count }

    public init(capacity: Int) {
        var region = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        memory = SecretBytes(count: capacity) { region = $0 }
        self.region = region
    }

    /// A buffer with the content of another one, which is emptied and wiped: a secret that grows exists once.
    package convenience init(capacity: Int, moving other: SecretBuffer) {
        precondition(other.count <= capacity, "a secret buffer without room for the content of another one")
        self.init(capacity: capacity)
        other.withRegion { theirs in
            withRegion { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: theirs[..<other.count])) }
        }
        keychain_scrub_registers()
        count = other.count
        other.removeFirst(count)
    }

    public subscript(index: Int) -> UInt8 {
        precondition(index < count, "beyond the end of a secret buffer")
        return withRegion { $0[index] }
    }

    /// Reads once, directly into the buffer. Returns the result of `read`, which sets `errno`; also zero if there is no
    /// room.
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

    /// Removes the first bytes, and moves the others to the front.
    public func removeFirst(_ number: Int) {
        precondition(number <= count, "beyond the end of a secret buffer")
        withRegion { region in
            region.copyMemory(from: UnsafeRawBufferPointer(rebasing: region[number..<count]))
            wipeMemory(UnsafeMutableRawBufferPointer(rebasing: region[(count - number)..<count]))
        }
        keychain_scrub_registers()
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
    /// Whether two entries of the user are equal. The time depends on the content, so do not use it to compare with
    /// data of an attacker.
    public func holdsSameBytes(as other: SecretBytes) -> Bool {
        withUnsafeBytes { own in other.withUnsafeBytes { own.elementsEqual($0) } }
    }
}
