// SPDX-License-Identifier: Apache-2.0
// What the name of a connection leads to, and how a connection ends.

#if TPM
    import Foundation
    import KeychainEngine
    import KeychainTestSupport
    import Testing

    @testable import KeychainTPM

    @Suite("TPM: connections", .enabled(if: SoftwareTPM.isInstalled, SoftwareTPM.isMissing))
    struct ConnectionTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder.inMemory("tpm") }

        // MARK: - Names

        @Test func program_withMoreRightsThanItsCaller_usesNoTPM() throws {
            let tpm = try SoftwareTPM()
            for name in [tpm.connection, "device:/dev/no-tpm"] {
                let transport = TCTITransport(name: name, timeout: .testLimit, isPrivileged: true)
                let refusal = failure { try transport.connect() }
                #expect(refusal?.reason == .unsupported)
                #expect(refusal?.message.contains("setuid") == true)
            }
        }

        @Test(arguments: ["device:", "libtss2-tcti-device.so.0:", "libtss2-tcti-device.so:"])
        func file_thatIsNoDevice_isNotWrittenTo(module: String) throws {
            for name in ["file", "a,b"] {
                let (path, content) = (folder.path + "/" + name, Data("content".utf8))
                try content.write(to: URL(fileURLWithPath: path))
                let refusal = failure { try TPMToken(connection: module + path, timeout: .testLimit).makeKey() }
                #expect(refusal?.reason == .unavailable)
                #expect(refusal?.message.contains("is not a device") == true)
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
            }
        }

        @Test(arguments: ["device:/no-", "swtpm:path=/no-"])
        func name_thatIsLongOrHasLineBreaks_isCutAndEscaped(start: String) {
            let name = start + "\n\u{1B}[31m" + String(repeating: "x", count: 100_000)
            let message = failure { try TPMToken(connection: name).makeKey() }?.message ?? ""
            #expect(message.contains("\\n\\u{1b}[31mxxx"))
            #expect(message.contains("…'"))
            #expect(message.utf8.count < 400)
            #expect(!message.unicodeScalars.contains { $0.properties.generalCategory == .control })
        }

        // MARK: - Programs that modules start

        private static let hasPrograms = dlopen("libtss2-tcti-cmd.so.0", RTLD_NOW | RTLD_LOCAL) != nil
        private static let hasNone: Comment = "a module is not installed (Debian: libtss2-tcti-cmd0)"

        /// A program that answers one command with a failure, and does not end by itself in the time of a test.
        private func connection(_ preparation: String) -> String {
            let seconds = Duration.testLimit.components.seconds * 2
            return "cmd:\(preparation) echo $$ > \(folder.path)/id; head -c 10 > /dev/null; "
                + "printf '\\200\\001\\000\\000\\000\\012\\000\\000\\001\\001'; exec sleep \(seconds)"
        }

        private var identifier: pid_t {
            get throws {
                let text = try String(contentsOf: URL(fileURLWithPath: folder.path + "/id"), encoding: .utf8)
                return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            }
        }

        @Test(.enabled(if: hasPrograms, hasNone))
        func program_ofAConnection_endsWithIt() throws {
            let transport = TCTITransport(name: connection(""), timeout: .testLimit, closingLimit: .testLimit)
            #expect(reason { try TPMToken(transport).makeKey() } == .unavailable)
            let identifier = try identifier
            let hasEnded = kill(identifier, 0) != 0 && errno == ESRCH
            #expect(hasEnded)
            if !hasEnded { kill(identifier, SIGKILL) }
        }

        @Test(.enabled(if: hasPrograms, hasNone))
        func program_thatDoesNotEnd_isNotWaitedFor() throws {
            let transport = TCTITransport(
                name: connection("trap '' TERM;"), timeout: .testLimit, closingLimit: .milliseconds(1))
            #expect(reason { try TPMToken(transport).makeKey() } == .unavailable)
            let identifier = try identifier
            #expect(kill(identifier, 0) == 0)
            kill(identifier, SIGKILL)
        }
    }
#endif
