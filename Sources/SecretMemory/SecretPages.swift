// SPDX-License-Identifier: Apache-2.0
// Pages for secrets, with the best protection that the system offers.

internal import CKeychainShims

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// How the memory of secrets is protected, from strong to weak.
public enum MemoryProtection: Sendable, Equatable {
    /// Removed from the kernel's own mappings (`memfd_secret`): never swapped or dumped, and not readable through the
    /// kernel by a debugger or root.
    case secretMemory
    /// Locked against swapping, and left out of core dumps.
    case locked
    /// Ordinary memory left out of core dumps: the system's limit for locked memory (`ulimit -l`) is used up.
    case swappable
}

/// Whole pages, unmapped on release.
final class SecretPages: @unchecked Sendable {
    // Unchecked, because a pointer is not Sendable. The properties never change; the owners of the parts decide who may
    // write to the memory.
    let bytes: UnsafeMutableRawBufferPointer
    let protection: MemoryProtection
    private let process = getpid()

    /// Tries the sizes in order: a small limit for locked memory may only allow smaller ones.
    convenience init(sizes: [Int]) {
        for protection in [MemoryProtection.secretMemory, .locked] {
            for size in sizes {
                guard let bytes = Self.map(size, protection) else { continue }
                self.init(bytes, protection)
                return
            }
        }
        // The address space is exhausted. Swift's own allocator would trap too.
        guard let bytes = Self.map(sizes[0], .swappable) else { preconditionFailure("no memory for a secret") }
        self.init(bytes, .swappable)
    }

    private init(_ bytes: UnsafeMutableRawBufferPointer, _ protection: MemoryProtection) {
        self.bytes = bytes
        self.protection = protection
        #if os(Linux)
            _ = madvise(bytes.baseAddress, bytes.count, MADV_DONTDUMP)
        #endif
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }

    /// `false` in the child of a fork.
    var areOfThisProcess: Bool { process == getpid() }

    /// Whether a forked child has a copy, instead of the parent's memory itself.
    var areCopiedByFork: Bool { protection != .secretMemory }
}

extension SecretPages {
    static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

    static func roundedUp(_ count: Int) -> Int { (count + pageSize - 1) / pageSize * pageSize }

    private static func map(_ size: Int, _ protection: MemoryProtection) -> UnsafeMutableRawBufferPointer? {
        switch protection {
        case .secretMemory: mapSecret(size)
        case .locked: mapLocked(size)
        case .swappable: mapPrivate(size)
        }
    }

    private static func mapSecret(_ size: Int) -> UnsafeMutableRawBufferPointer? {
        let descriptor = Int32(keychain_secret_memory())
        guard descriptor >= 0 else { return nil }
        // The mapping keeps the memory alive; programs that are started from here inherit neither.
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(size)) == 0 else { return nil }
        return pages(mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), size)
    }

    private static func mapLocked(_ size: Int) -> UnsafeMutableRawBufferPointer? {
        guard let bytes = mapPrivate(size) else { return nil }
        if mlock(bytes.baseAddress, size) == 0 { return bytes }
        munmap(bytes.baseAddress, size)
        return nil
    }

    private static func mapPrivate(_ size: Int) -> UnsafeMutableRawBufferPointer? {
        pages(mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0), size)
    }

    private static func pages(_ address: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawBufferPointer? {
        address == MAP_FAILED ? nil : UnsafeMutableRawBufferPointer(start: address, count: size)
    }
}
