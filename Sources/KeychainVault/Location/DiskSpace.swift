// SPDX-License-Identifier: Apache-2.0
// How large a file may become.

import Foundation

enum DiskSpace {
    /// The bytes that this user may still use on the disk of a path; `nil` if the system does not tell.
    static func free(at path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return bytes(UInt64(status.f_bavail), ofSize: UInt64(status.f_frsize))
    }

    /// At most half of the largest number, so that the size of a file can be added: some file systems over networks tell of more
    /// space than any number of bytes.
    static func bytes(_ blocks: UInt64, ofSize size: UInt64) -> Int {
        let (bytes, isBeyond) = blocks.multipliedReportingOverflow(by: size)
        return isBeyond ? .max / 2 : min(Int(clamping: bytes), .max / 2)
    }

    /// The system's limit on the size of files that this process writes; `nil` if there is none. Beyond it the kernel sends a signal
    /// that ends the process.
    static var limitOfFiles: Int? {
        var limit = rlimit()
        #if canImport(Glibc)
            guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return nil }
        #else
            guard getrlimit(RLIMIT_FSIZE, &limit) == 0 else { return nil }
        #endif
        return limit.rlim_cur < rlim_t(Int64.max) ? Int(limit.rlim_cur) : nil
    }
}
