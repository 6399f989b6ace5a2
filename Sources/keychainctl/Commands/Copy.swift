// SPDX-License-Identifier: Apache-2.0
// keychainctl copy: put a value on the clipboard for a while.

import ArgumentParser
import Crypto
import Foundation
import KeychainAuthenticators
import KeychainKit

extension Keychainctl {
    struct Copy: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "copy",
            abstract: "Put a value on the clipboard, and clear it after 45 seconds.",
            usage: """
                keychainctl copy --service <name> [--account <name>] [<options>]
                keychainctl copy --server <host> [--account <name>] [<options>]
                """,
            discussion: """
                The value goes to wl-copy on Wayland, to xclip on X11, and otherwise to the terminal \
                (escape sequence OSC 52, which not every terminal supports). A process in the background \
                clears the clipboard later, if it still holds the value; it continues when the terminal is \
                closed. A terminal's clipboard cannot be read, so it is cleared in any case. Other programs \
                can read the clipboard meanwhile, and clipboard histories may keep the value.

                EXAMPLES
                  keychainctl copy -s example.com -a alice
                  keychainctl copy -s example.com -a alice --clear-after 15m
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: "Only an item with this label.")
        var label: String?

        @Option(
            help: ArgumentHelp(
                "When to clear the clipboard: 90 (seconds), 90s, 15m, 8h; 0 for never; default: 45s.",
                valueName: "time"),
            transform: ClearingDelay.init)
        var clearAfter: ClearingDelay?

        var delay: ClearingDelay { clearAfter ?? .standard }

        func validate() throws { try item.requireServiceOrServer() }

        func run() throws {
            guard let clipboard = Clipboard.available else { throw Self.noClipboard }
            if clipboard.usesDisk {
                Output.note(
                    "Warning: wl-copy keeps the value in a private file in /tmp, which is on a disk here, until the clipboard "
                        + "changes.")
            }
            let keychain = try UserKeychain()
            var value = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in
                    try keychain.value(of: keychain.onlyItem(item, label: label))
                }
            }
            defer { value.wipe() }
            try copy(value, clipboard)
            let place =
                clipboard == .terminal ? "to the clipboard of the terminal, if it supports that" : "to the clipboard"
            Output.note("Copied \(place)." + (delay.seconds > 0 ? " It is cleared in \(delay.words)." : ""))
        }

        /// The process that clears is started first: otherwise its failure would leave the value there.
        private func copy(_ value: Data, _ clipboard: Clipboard) throws(KeychainError) {
            let terminal = clipboard == .terminal ? Clipboard.openTerminal() : nil
            defer { terminal.map { _ = close($0) } }
            let clearing = delay.seconds > 0 ? try clearingProgram(value, clipboard, terminal) : nil
            do throws(KeychainError) {
                try clipboard.set(value, terminal: terminal ?? -1)
            } catch {
                if let clearing { kill(clearing.identifier, SIGTERM) }
                throw error
            }
        }

        private func clearingProgram(
            _ value: Data, _ clipboard: Clipboard, _ terminal: Int32?
        ) throws(KeychainError) -> ChildProgram {
            let pipe = try ProgramPipe()
            let words = ["clear-clipboard", "--after", String(delay.seconds), "--clipboard", clipboard.rawValue]
            var streams = ChildProgram.Streams(input: .descriptor(pipe.reading), isDetached: true)
            if let terminal { streams.output = .descriptor(terminal) }
            let child = try ChildProgram("/proc/self/exe", words, streams)
            guard pipe.send(Data(SHA256.hash(data: value))) else {
                throw KeychainError(.unavailable, "The process that clears the clipboard ended. Nothing was copied.")
            }
            return child
        }

        private static let noClipboard = KeychainError(
            .unavailable,
            "There is no clipboard here: no wl-copy with WAYLAND_DISPLAY, no xclip with DISPLAY, and no terminal. "
                + "To write the value to standard output: keychainctl get")
    }

    /// What `copy` starts in the background.
    struct ClearClipboard: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear-clipboard",
            abstract: "Clear the clipboard later, if it still holds a value.",
            discussion: """
                `copy` starts this. The SHA-256 digest of the value is read from standard input.

                EXAMPLES
                  keychainctl copy -s example.com -a alice
                """,
            shouldDisplay: false)

        @Option(help: ArgumentHelp("How long to wait.", valueName: "seconds"))
        var after: UInt32

        @Option(help: ArgumentHelp("wl-copy, xclip or osc52.", valueName: "name"))
        var clipboard: Clipboard

        @OptionGroup var stray: StrayWords

        func run() throws {
            let digest = try InputFile.read(STDIN_FILENO, name: "standard input", limit: SHA256.byteCount)
            guard digest.count == SHA256.byteCount else { throw ValidationError("A SHA-256 digest was expected.") }
            var rest = after
            // A signal that is handled ends a sleep early.
            while rest > 0 { rest = sleep(rest) }
            guard clipboard != .terminal else { return try clipboard.clear(terminal: STDOUT_FILENO) }
            guard try holds(digest) else { return }
            try clipboard.clear(terminal: STDOUT_FILENO)
            // Under some compositors `wl-copy --clear` succeeds and changes nothing.
            if try holds(digest) { try clipboard.set(Data(), terminal: STDOUT_FILENO) }
        }

        private func holds(_ digest: Data) throws(KeychainError) -> Bool {
            guard var content = try clipboard.content() else { return false }
            defer { content.wipe() }
            return Data(SHA256.hash(data: content)) == digest
        }
    }
}
