// SPDX-License-Identifier: Apache-2.0
// What this process itself puts into shared folders.

import SecretMemory

/// Files of which the kernel is about to tell, although this process has made them. Each would lead to an exchange that finds nothing.
///
/// As many events are passed over as files were made. So if somebody makes a file of the same name elsewhere at the same time, one of the
/// two events still counts.
package final class OwnFiles: Sendable {
    /// Where folders are not watched, no events come.
    private static let most = 1024

    private let marks = Guarded<[String: Int]>([:])

    package init() {}

    /// - Parameter mark: What the file adds to the state of its folder: ``FolderCarrier/mark(_:_:)``.
    func expect(_ name: String, _ mark: Int) {
        marks.withLock { marks in
            if marks.count >= Self.most { marks = [:] }
            marks[name] = mark
        }
    }

    /// The mark of an expected file, once; `nil` for other files.
    @discardableResult
    func take(_ name: String) -> Int? { marks.withLock { $0.removeValue(forKey: name) } }
}
