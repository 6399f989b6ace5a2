// SPDX-License-Identifier: Apache-2.0
// A built program with rights that its caller does not have, and a caller who chooses its environment.

import Foundation
import KeychainTestSupport
import Testing

/// How a program gets rights that its caller has not.
enum ExtraRights: String, CaseIterable, CustomStringConvertible {
    case setuid, setgid, capability

    var description: String { rawValue }

    /// Gives the file the rights of `owner`, or a capability that no caller without root has.
    ///
    /// - Returns: Whether the file system could note it.
    func give(to file: String, owner: UInt32) -> Bool {
        switch self {
        case .setuid: return chown(file, owner, 0) == 0 && chmod(file, 0o4755) == 0
        case .setgid: return chown(file, 0, owner) == 0 && chmod(file, 0o2755) == 0
        case .capability: return giveCapability(file)
        }
    }

    /// CAP_NET_BIND_SERVICE (10), "effective", as version 2 of <linux/capability.h> has it. Swift cannot call setxattr.
    private func giveCapability(_ file: String) -> Bool {
        let script = """
            import os, struct, sys
            os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0))
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, file]
        process.standardError = FileHandle.nullDevice
        do { try process.run(limitedTo: .testLimit) } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

/// A folder that every user may enter, with programs in it and one like /tmp, which stands for what an attacker has.
final class PrivilegedProgram {
    /// An ordinary machine has no users with these numbers.
    static let caller: UInt32 = 64_201
    static let owner: UInt32 = 64_202

    let folder: String
    var callersFolder: String { folder + "/caller" }

    init() throws {
        folder = OtherUsers.temporaryFolder + "keychain-rights-" + UUID().uuidString
        for (path, mode) in [(folder, mode_t(0o755)), (callersFolder, 0o1777)] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            // Whatever the umask is.
            chmod(path, mode)
        }
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") }
    }

    /// A copy of a built program, or of one of the system with a full path.
    func install(_ name: String, _ rights: ExtraRights?) throws -> String {
        let path = folder + "/" + UUID().uuidString
        let source = name.hasPrefix("/") ? name : Programs.built(name)
        try Programs.copy(source, to: path)
        try #require(chmod(path, 0o755) == 0)
        if let rights { try #require(rights.give(to: path, owner: Self.owner)) }
        return path
    }

    /// Runs a program as the caller, who has no terminal.
    ///
    /// - Parameter users: What the user database says meanwhile, for this program alone.
    func run(_ words: [String], environment: [String: String], users: String? = nil) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let switching = [
            "setsid", "-w", "setpriv", "--reuid=\(Self.caller)", "--regid=\(Self.caller)", "--clear-groups",
        ]
        // Only the program itself gets the caller's environment, and the defect that Scripts/mutants.sh has chosen.
        let defect = ProcessInfo.processInfo.environment.filter { $0.key == "KEYCHAIN_MUTANT" }
        let variables = environment.merging(defect) { $1 }.map { "\($0)=\($1)" }.sorted()
        process.arguments = try mounting(users) + switching + ["env", "-i"] + variables + words
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // The caller may not be able to enter that of the tests.
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        try process.run(limitedTo: .testLimit)
        let bytes = try output.fileHandleForReading.readAll()
        try process.waitForEnd()
        return String(decoding: bytes, as: UTF8.self)
    }

    private func mounting(_ users: String?) throws -> [String] {
        guard let users else { return [] }
        let file = folder + "/passwd"
        try Data(users.utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o644)
        return ["unshare", "-m", "/bin/sh", "-ec", #"mount --bind "$0" /etc/passwd; exec "$@""#, file]
    }

    // MARK: - What works here

    /// The rights that programs can be given here, as root, in the folder for temporary files.
    static let rights: [ExtraRights] = {
        guard geteuid() == 0 else { return [] }
        do {
            let programs = try PrivilegedProgram()
            guard try programs.run([try programs.install("entitled-app", nil), "delete"], environment: [:]) != "" else {
                print("Another user cannot run what was built, in \(programs.folder).")
                return []
            }
            return try ExtraRights.allCases.filter { try programs.works($0) }
        } catch {
            print("Programs with more rights than their caller cannot be tried: \(error)")
            return []
        }
    }()

    /// With `nosuid`, `no_new_privs` or a file system without attributes the rights are not given.
    private func works(_ rights: ExtraRights) throws -> Bool {
        let copy = folder + "/" + rights.rawValue
        try Programs.copy("/usr/bin/od", to: copy)
        guard chmod(copy, 0o755) == 0, rights.give(to: copy, owner: Self.owner) else { return false }
        // The pair of AT_SECURE (23) and 1, as the kernel hands it to the program.
        let pairs = try run([copy, "-An", "-v", "-tu8", "-w16", "/proc/self/auxv"], environment: [:])
        // The file of such a process is root's own; what is refused had the rights.
        let given = pairs.split(separator: "\n").map { $0.split(separator: " ") }.contains { $0 == ["23", "1"] }
        if !given, !pairs.isEmpty { print("Left out: programs with \(rights) get no more rights here.") }
        return given || pairs.isEmpty
    }

    static let canMount: Bool = {
        guard geteuid() == 0 else { return false }
        do {
            return try PrivilegedProgram().run(["/bin/echo", "yes"], environment: [:], users: "") == "yes\n"
        } catch {
            return false
        }
    }()
}
