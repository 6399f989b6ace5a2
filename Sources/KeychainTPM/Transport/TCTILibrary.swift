// SPDX-License-Identifier: Apache-2.0
// The library that connects to TPMs, loaded on demand.

#if TPM
    import Foundation
    import KeychainEngine
    import SecretMemory

    /// The loader of "TSS 2.0 TPM Command Transmission Interface (TCTI)" modules of tpm2-tss.
    ///
    /// Its functions are declared here, so that building needs no headers, and a program without a TPM needs no library.
    struct TCTILibrary: Sendable {
        typealias Initialize =
            @convention(c) @Sendable (UnsafePointer<CChar>?, UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> UInt32
        typealias Finalize = @convention(c) @Sendable (UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Void

        let initialize: Initialize
        let finalize: Finalize

        private static let loaded = Guarded<TCTILibrary?>(nil)

        /// - Throws: `unavailable` if it is not installed.
        static func load() throws(KeychainError) -> TCTILibrary {
            try loaded.withLock { (loaded) throws(KeychainError) in
                if let loaded { return loaded }
                let library = try open()
                loaded = library
                return library
            }
        }

        private static func open() throws(KeychainError) -> TCTILibrary {
            guard let handle = dlopen("libtss2-tctildr.so.0", RTLD_NOW | RTLD_LOCAL) else {
                throw KeychainError(
                    .unavailable,
                    "The library libtss2-tctildr.so.0, which connects to TPMs, is not installed. On Debian and Ubuntu, "
                        + "install the package libtss2-tctildr0.")
            }
            guard let initialize = dlsym(handle, "Tss2_TctiLdr_Initialize"),
                let finalize = dlsym(handle, "Tss2_TctiLdr_Finalize")
            else {
                throw KeychainError(
                    .unavailable, "The library libtss2-tctildr.so.0 is too old. Install tpm2-tss 2.4 or newer.")
            }
            return TCTILibrary(
                initialize: unsafeBitCast(initialize, to: Initialize.self),
                finalize: unsafeBitCast(finalize, to: Finalize.self))
        }
    }

    /// A context of the library, for one thread at a time.
    final class TCTIContext: @unchecked Sendable {
        // Unchecked: ConnectionThread makes all calls of it.
        private typealias Transmit =
            @convention(c) (UnsafeMutableRawPointer, Int, UnsafePointer<UInt8>?) -> UInt32
        private typealias Receive =
            @convention(c) (
                UnsafeMutableRawPointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UInt8>?, Int32
            ) -> UInt32

        private let library: TCTILibrary
        private var address: UnsafeMutableRawPointer?
        /// More than any response has.
        private static let responseLimit = 4096

        /// - Throws: `unavailable`
        init(_ library: TCTILibrary, _ name: String) throws(KeychainError) {
            var address: UnsafeMutableRawPointer?
            let code = library.initialize(name, &address)
            guard code == 0, address != nil else { throw .unreachableTPM(name, code) }
            (self.library, self.address) = (library, address)
        }

        /// - Throws: `timedOut` or `unavailable`
        func exchange(_ command: [UInt8], within limit: Duration) throws(KeychainError) -> [UInt8] {
            guard let address else { throw .lostTPM(nil) }
            let transmit = unsafeBitCast(function(0, of: address), to: Transmit?.self)
            let receive = unsafeBitCast(function(1, of: address), to: Receive?.self)
            guard let transmit, let receive else { throw .lostTPM(nil) }
            var code = transmit(address, command.count, command)
            guard code == 0 else { throw .lostTPM(code) }
            var response = [UInt8](repeating: 0, count: Self.responseLimit)
            var count = response.count
            code = receive(address, &count, &response, max(1, limit.milliseconds))
            guard code & 0xFFFF != Self.tryAgain else { throw .silentTPM(.timedOut) }
            guard code == 0, (0...response.count).contains(count) else { throw .lostTPM(code) }
            return Array(response.prefix(count))
        }

        /// May never return.
        func close() {
            guard address != nil else { return }
            library.finalize(&address)
            address = nil
        }

        /// TSS2_BASE_RC_TRY_AGAIN, without the number of the layer
        private static let tryAgain: UInt32 = 9

        /// A function of the context. They follow a magic number of 8 bytes and a version of 4.
        private func function(_ index: Int, of address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
            let size = MemoryLayout<UnsafeMutableRawPointer>.size
            let first = (12 + size - 1) / size * size
            return address.load(fromByteOffset: first + index * size, as: UnsafeMutableRawPointer?.self)
        }
    }

    extension KeychainError {
        /// - Parameter code: What the library says; `nil` if it was not asked.
        static func unreachableTPM(_ name: String, _ code: UInt32?) -> KeychainError {
            let reason = code.map { " (\(ResponseCode(raw: $0).text))" } ?? ""
            return KeychainError(
                .unavailable,
                "The TPM '\(name.shownInAMessage)' cannot be reached\(reason). Check that it is turned on, and that the name is "
                    + "right.")
        }

        /// The library obeys variables of the environment: one names a file to which it appends.
        static let privilegedTPM = KeychainError(
            .unsupported,
            "This program has rights that its caller does not have (setuid, setgid or capabilities), so it does not use "
                + "TPMs: their library would obey the environment of the caller. Run it without these rights.")

        static func lostTPM(_ code: UInt32?) -> KeychainError {
            let reason = code.map { " (\(ResponseCode(raw: $0).text))" } ?? ""
            return KeychainError(.unavailable, "The connection to the TPM has ended\(reason). Try again.")
        }
    }
#endif
