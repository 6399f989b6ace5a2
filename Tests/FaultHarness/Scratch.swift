// SPDX-License-Identifier: Apache-2.0
// The folder in which all points lie, in memory where there is such a place, and copies of folders.

import Foundation

/// A folder of the harness, removed at its end.
final class Scratch {
    let path: String
    private var count = 0
    private var templates: [Template: String] = [:]

    /// - Parameter name: Tells the folders of one process apart.
    init(_ name: String = "all") throws {
        let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
        path = (base as NSString).appendingPathComponent("keychain-faults-\(getpid())-\(name)")
        guard mkdir(path, 0o700) == 0 else { throw HarnessError("cannot make '\(path)'") }
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { print("left behind: \(path)") }
    }

    /// A folder that is not there yet.
    func place() -> Place {
        count += 1
        return Place(root: path + "/\(count)")
    }

    /// A fresh copy of a prepared vault.
    func copy(of template: Template) throws -> Place {
        let place = place()
        try Self.copy(try prepared(template), to: place.root)
        return place
    }

    func remove(_ place: Place) throws { try Self.remove(place.root) }

    /// The last thread of an operation may still be closing its vault, and remove files of it.
    static func remove(_ folder: String) throws {
        for _ in 0..<1000 where FileManager.default.fileExists(atPath: folder) {
            do { try FileManager.default.removeItem(atPath: folder) } catch { usleep(1000) }
        }
        guard !FileManager.default.fileExists(atPath: folder) else { throw HarnessError("cannot remove '\(folder)'") }
    }

    private func prepared(_ template: Template) throws -> String {
        if let made = templates[template] { return made }
        let place = Place(root: path + "/" + template.rawValue)
        guard mkdir(place.root, 0o700) == 0 else { throw HarnessError("cannot make '\(place.root)'") }
        let child = try Child(["prepare", template.rawValue, place.root])
        guard child.end(within: 60) == .exited(0) else { throw HarnessError("the template \(template) was not made") }
        templates[template] = place.root
        return place.root
    }

    /// With the modes, which the vault looks at.
    private static func copy(_ from: String, to: String) throws {
        var status = stat()
        guard lstat(from, &status) == 0 else { throw HarnessError("cannot look at '\(from)'") }
        if status.st_mode & S_IFMT == S_IFDIR {
            guard mkdir(to, status.st_mode & 0o777) == 0 else { throw HarnessError("cannot make '\(to)'") }
            for name in try FileManager.default.contentsOfDirectory(atPath: from) {
                try copy(from + "/" + name, to: to + "/" + name)
            }
        } else {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: from))
            try write(bytes, to: to, mode: status.st_mode & 0o777)
        }
    }

    static func write(_ bytes: Data, to path: String, mode: mode_t = 0o600) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, mode)
        guard descriptor >= 0 else { throw HarnessError("cannot make '\(path)'") }
        defer { close(descriptor) }
        let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count else { throw HarnessError("cannot write '\(path)'") }
    }
}
