// SPDX-License-Identifier: Apache-2.0
// Processes that hold the database and do not end, and processes that stop in the middle of a read.

import Foundation
import KeychainVault
import Synchronization

/// Reports the first time that the point is reached, and continues after the next line of input. Debug builds only.
func pauseOnce(at point: PausePoint) {
    let wasReached = Mutex(false)
    PausePoint.observe { reached in
        guard reached == point else { return }
        let isFirst = wasReached.withLock { wasReached in
            defer { wasReached = true }
            return !wasReached
        }
        guard isFirst else { return }
        say(point.rawValue)
        _ = readLine()
    }
}

/// The same each time.
func pause(at point: PausePoint) {
    PausePoint.observe { reached in
        guard reached == point else { return }
        say(point.rawValue)
        _ = readLine()
    }
}

/// Keeps a read transaction open until the input ends.
func holdRead(_ folder: String) throws {
    let connection = try Connection(folder + "/vault.db", .reading)
    try connection.reading { connection in
        _ = try connection.number("SELECT count(*) FROM item")
        print("reading")
        fflush(nil)
        while readLine() != nil {}
    }
    try connection.close()
}

/// Holds the lock that SQLite has on the database while the last connection is closed, until the input ends.
func holdDatabase(_ folder: String) throws {
    let descriptor = open(folder + "/vault.db", O_RDWR | O_CLOEXEC)
    var range = flock()
    (range.l_type, range.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
    // The bytes that SQLite's file format has for shared locks.
    (range.l_start, range.l_len) = (0x4000_0002, 510)
    guard descriptor >= 0, fcntl(descriptor, F_SETLK, &range) == 0 else { return print("not locked: \(errno)") }
    print("holding")
    fflush(nil)
    while readLine() != nil {}
}
