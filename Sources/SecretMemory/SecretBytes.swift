// SPDX-License-Identifier: Apache-2.0
// Bytes that are not swapped, dumped or printed, and that are wiped on release.

internal import CKeychainShims

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Secret bytes in separate memory: as far as the system allows, other processes cannot read it and it is not swapped
/// out. It is left out of core dumps, and wiped on release.
///
/// ```swift
/// let key = SecretBytes.random(count: 32)
/// key.withUnsafeBytes { bytes in use(bytes) }
/// ```
///
/// This type only holds the memory of a secret: it cannot be compared, encoded or stored. APIs take passphrases and
/// keys in it. For secrets that a program saves and reads, KeychainKit has `SecretValue`, which uses this type for its
/// bytes.
///
/// A forked child can read secrets of the parent only as long as the parent keeps them. A secret that is created in the
/// child belongs to the child.
///
/// Does not protect against root, or against a debugger that makes this process read them (`hardenProcess()` protects
/// against debuggers of the same user).
public final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    // Unchecked: only `init` writes, through `fill`; afterwards it is read-only.
    private let block: SecretBlock
    public let count: Int
    /// Whether the pages are locked against swapping; `false` if the system's limit for locked memory is exhausted.
    public var isLocked: Bool { block.pages.protection != .swappable }

    /// How new secrets of this process are protected, up to 4096 bytes each.
    public static var protection: MemoryProtection { SecretArena.current.pages.protection }

    /// Reserves zeroed memory and lets `fill` write the secret into it, so that it never passes through other memory.
    public init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        precondition(count >= 0, "the number of bytes of a secret cannot be negative")
        self.count = count
        // An empty secret has a block like any other. Its users must reject it.
        block = SecretBlock(count: max(1, count))
        fill(UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<count]))
        // The C library copies through vector registers that other code may not use for long, and the dynamic linker saves all of them
        // on the stack at the first call of a function.
        keychain_scrub_registers()
    }

    /// Copies bytes that are secret already; the caller wipes the original.
    public convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// Fresh bytes from the system's random generator.
    public static func random(count: Int) -> SecretBytes {
        SecretBytes(count: count, fill: fillWithRandomBytes)
    }

    /// The bytes of two secrets, one after the other.
    public static func concatenating(_ first: SecretBytes, _ second: SecretBytes) -> SecretBytes {
        SecretBytes(count: first.count + second.count) { target in
            first.withUnsafeBytes { target.copyMemory(from: $0) }
            second.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: target[first.count...]).copyMemory(from: $0)
            }
        }
    }

    /// The first bytes of a secret.
    func prefix(_ length: Int) -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(length))) }
    }

    /// Passes the bytes to `body`. The pointer must not be used after it returns.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: block.bytes[..<count]))
    }

    public var description: String { "SecretBytes(\(count) bytes)" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    deinit { block.release() }
}

/// Overwrites memory with zeros. The compiler cannot remove this.
public func wipeMemory(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let address = bytes.baseAddress else { return }
    #if canImport(Darwin)
        memset_s(address, bytes.count, 0, bytes.count)
    #else
        explicit_bzero(address, bytes.count)
    #endif
}
