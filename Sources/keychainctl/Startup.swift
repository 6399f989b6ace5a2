// SPDX-License-Identifier: Apache-2.0
// What must hold before the first secret is touched.

import Foundation
import KeychainKit
import SecretMemory

enum Startup {
    static func prepare() {
        // A core dump, or a debugger of the same user, would show whatever value is in memory at that moment.
        hardenProcess()
        occupyStandardDescriptors()
        endQuietlyWhenCrashing()
        // Some service managers start programs with SIGPIPE ignored; like any filter, the tool ends silently when the
        // reader closes the pipe.
        signal(SIGPIPE, SIG_DFL)
        // A file that reaches the limit on sizes is an error to tell, not a reason to be killed.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// On a terminal, Swift's runtime prints registers and memory of a program that crashes, and keys may be in them.
    private static func endQuietlyWhenCrashing() {
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGSYS] { signal(number, SIG_DFL) }
    }

    static func checkArguments() throws(KeychainError) {
        // Swift reads them there, and without any the parser would show the help as if all were well.
        guard !CommandLine.arguments.isEmpty else {
            throw KeychainError(
                .unavailable, "The arguments could not be read, so nothing was done. Mount /proc and try again.")
        }
        try checkEncoding()
        try checkShortOptions()
    }

    /// The parser gets its words as Swift strings, in which bytes that are not text are already replaced: an item would
    /// then be stored under another name than was asked for.
    private static func checkEncoding() throws(KeychainError) {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else { continue }
            throw KeychainError(
                .invalidParameter, "Argument \(index) is not valid UTF-8. Names on the command line must be UTF-8.")
        }
    }

    /// The parser reads `-ssh` as -s, -s and -h, and shows the help as if all were well. Each option stands alone here.
    private static func checkShortOptions() throws(KeychainError) {
        let words = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
        guard words.contains(where: isSeveralShortOptions) else { return }
        throw KeychainError(
            .invalidParameter,
            "One-letter options cannot be combined. Write them separately: -s NAME -a NAME. For a name that begins with "
                + "'-', write: --account=-name")
    }

    private static func isSeveralShortOptions(_ word: String) -> Bool {
        word.hasPrefix("-") && !word.hasPrefix("--") && word.count > 2 && word.dropFirst(2).first != "="
    }

    /// Started with one of the three standard descriptors closed, the next file that is opened takes its number: then a
    /// value or a message would be written into the vault's own files. The stand-ins fail when they are used.
    private static func occupyStandardDescriptors() {
        for (descriptor, wrongWay) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", wrongWay)
        }
    }
}
