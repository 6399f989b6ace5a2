// SPDX-License-Identifier: Apache-2.0
// A command that replaces the tool: it gets the process as the tool got it, and nothing of the vault.

import ArgumentParser
import Foundation
import KeychainKit
import SecretMemory

struct ReplacingCommand {
    /// The arguments after `--` as the caller gave them, also if they are not UTF-8; terminated by `nil`.
    private let words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    /// Descriptors above standard error that the caller gave to the tool.
    private let inherited: [Int32]

    /// Create it before the vault is opened.
    ///
    /// - Returns: `nil` if there is no command.
    init?() {
        guard
            let terminator = (1..<Int(CommandLine.argc)).first(where: { Self.isTerminator(CommandLine.unsafeArgv[$0]) }
            ),
            terminator + 1 < CommandLine.argc
        else { return nil }
        words = CommandLine.unsafeArgv + terminator + 1
        inherited = Self.openDescriptors
    }

    private static func isTerminator(_ word: UnsafeMutablePointer<CChar>?) -> Bool {
        word.map { strcmp($0, "--") } == 0
    }

    /// Replaces the tool, and returns only by an error.
    ///
    /// - Parameter consumed: A descriptor that a secret was read from. The command does not get it: of a file, it could
    ///   read the secret again.
    /// - Throws: The exit code of POSIX commands that start others (`env`, `nohup`): 127 if the command is not found,
    ///   126 if it cannot be started.
    func replaceTool(
        _ environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, closing consumed: Int32?
    ) throws -> Never {
        for descriptor in Self.openDescriptors where !inherited.contains(descriptor) || descriptor == consumed {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        if consumed == STDIN_FILENO {
            let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard nothing >= 0, dup2(nothing, STDIN_FILENO) >= 0 else { throw ExitCode(126) }
        }
        Startup.undo()
        let code = execute(environment)
        Output.complain(
            "The command could not be started: \(String(cString: strerror(code)))."
                + (code == E2BIG ? " A variable can have 128 KiB at most, on most systems." : ""))
        throw ExitCode(code == ENOENT ? 127 : 126)
    }

    /// As execvp() of POSIX, which takes no environment: the search goes on after files that do not exist or may not be executed. Only a
    /// file that is there is denied: a folder of PATH that this user may not search, such as another user's, has no command.
    ///
    /// - Returns: The error.
    private func execute(_ environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
        guard let name = words.pointee, name.pointee != 0 else { return ENOENT }
        if strchr(name, Int32(UInt8(ascii: "/"))) != nil { return execute(name, environment) }
        var result = ENOENT
        for folder in Self.path {
            // Byte by byte: neither name need be UTF-8.
            var path = folder.isEmpty ? [CChar(UInt8(ascii: "."))] : Array(folder)
            path.append(CChar(UInt8(ascii: "/")))
            path += UnsafeBufferPointer(start: name, count: strlen(name) + 1)
            switch execute(&path, environment) {
            case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP: continue
            case EACCES: if access(path, F_OK) == 0 { result = EACCES }
            case let code: return code
            }
        }
        return result
    }

    /// A file without `#!` is a script of the shell.
    private func execute(
        _ path: UnsafeMutablePointer<CChar>, _ environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> Int32 {
        execve(path, words, environment)
        guard errno == ENOEXEC else { return errno }
        var arguments = ["/bin/sh".withCString { strdup($0) }, path]
        var next = words.successor()
        while let word = next.pointee {
            arguments.append(word)
            next = next.successor()
        }
        arguments.append(nil)
        execve("/bin/sh", &arguments, environment)
        return errno
    }

    private static var path: [ArraySlice<CChar>] {
        let path = ProcessEnvironment.bytes("PATH") ?? Array("/bin:/usr/bin".utf8CString.dropLast())
        return path.split(separator: CChar(UInt8(ascii: ":")), omittingEmptySubsequences: false)
    }

    private static var openDescriptors: [Int32] {
        guard let folder = opendir("/proc/self/fd") else { return Array(3..<1024) }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let number = Int32(name), number > STDERR_FILENO, number != dirfd(folder) else { continue }
            found.append(number)
        }
        return found
    }
}
