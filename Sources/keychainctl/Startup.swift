// SPDX-License-Identifier: Apache-2.0
// Preparations before the first secret is used.

import CKeychainShims
import Foundation
import KeychainKit
import SecretMemory

enum Startup {
    /// Signals that the caller has ignored, as `nohup` does, of those that are changed here.
    private static let ignored = changed.filter(isIgnored)
    private static let changed = [
        SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ, SIGCHLD,
    ]
    private static let coreLimit = currentCoreLimit()

    static func prepare() {
        _ = (ignored, coreLimit)
        // A core dump, or a debugger of the same user, would reveal the values in memory.
        harden()
        occupyStandardDescriptors()
        endQuietlyWhenCrashing()
        // Some service managers start programs with SIGPIPE ignored. Like any filter, the tool ends silently when the
        // reader closes the pipe.
        signal(SIGPIPE, SIG_DFL)
        // A file that reaches the size limit is reported as an error, and must not kill the tool.
        signal(SIGXFSZ, SIG_IGN)
        // Some programs start others with SIGCHLD ignored. Then the kernel keeps no exit status, and the tool could not
        // tell whether an editor or another program that it starts has succeeded.
        signal(SIGCHLD, SIG_DFL)
    }

    /// A process without privileges cannot raise its hard limit again. So a tool that becomes another command only lowers
    /// its soft limit; a process that is closed to others leaves no dumps in any case.
    private static func harden() {
        guard CommandLine.arguments.dropFirst().first == "run" else { return _ = hardenProcess() }
        _ = keychain_forbid_dumping()
        var limit = coreLimit
        limit.rlim_cur = 0
        setCoreLimit(limit)
    }

    /// Undoes what a command that replaces the tool would inherit. Handlers and the protection from debuggers end by
    /// themselves.
    static func undo() {
        for number in changed { signal(number, ignored.contains(number) ? SIG_IGN : SIG_DFL) }
        setCoreLimit(coreLimit)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func currentCoreLimit() -> rlimit {
        var limit = rlimit()
        #if canImport(Glibc)
            getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        #else
            getrlimit(RLIMIT_CORE, &limit)
        #endif
        return limit
    }

    private static func setCoreLimit(_ limit: rlimit) {
        var limit = limit
        #if canImport(Glibc)
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        #else
            setrlimit(RLIMIT_CORE, &limit)
        #endif
    }

    /// On a terminal, Swift's runtime prints registers and memory of a program that crashes, which may contain keys.
    private static func endQuietlyWhenCrashing() {
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGSYS] { signal(number, SIG_DFL) }
    }

    /// - Parameter words: The arguments of the command line, without the name of the program.
    static func checkArguments(_ words: [String]) throws(KeychainError) {
        // Swift reads them there. Without any arguments the parser would show the help and succeed.
        guard !CommandLine.arguments.isEmpty else {
            throw KeychainError(
                .unavailable, "The arguments could not be read, so nothing was done. Mount /proc and try again.")
        }
        try checkEncoding()
        // macOS's command combines them.
        if words.first != "security" { try checkShortOptions(words) }
    }

    /// The parser gets its words as Swift strings, in which invalid bytes are already replaced: an item would be stored
    /// under another name than requested.
    private static func checkEncoding() throws(KeychainError) {
        let isRun = CommandLine.arguments.dropFirst().first == "run"
        for index in 1..<max(1, Int(CommandLine.argc)) {
            // The command of `run` gets its words as they are.
            if isRun, CommandLine.arguments[index] == "--" { return }
            guard let word = CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else { continue }
            throw KeychainError(
                .invalidParameter, "Argument \(index) is not valid UTF-8. Names on the command line must be UTF-8.")
        }
    }

    /// The parser reads `-ssh` as -s, -s and -h, and shows the help. So short options must be separate.
    private static func checkShortOptions(_ words: [String]) throws(KeychainError) {
        guard words.prefix(while: { $0 != "--" }).contains(where: isSeveralShortOptions) else { return }
        throw KeychainError(
            .invalidParameter,
            "One-letter options cannot be combined. Write them separately: -s NAME -a NAME. For a name that begins with "
                + "'-', write: --account=-name")
    }

    private static func isSeveralShortOptions(_ word: String) -> Bool {
        word.hasPrefix("-") && !word.hasPrefix("--") && word.count > 2 && word.dropFirst(2).first != "="
    }

    /// If the tool is started with a closed standard descriptor, the next opened file gets its number, and a value or a
    /// message could be written into the vault's files. These replacements fail when they are used.
    private static func occupyStandardDescriptors() {
        for (descriptor, wrongWay) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", wrongWay)
        }
    }
}
