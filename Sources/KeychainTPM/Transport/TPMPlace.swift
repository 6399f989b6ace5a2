// SPDX-License-Identifier: Apache-2.0
// What the name of a TPM says about where it is.

#if TPM
    import Foundation
    import KeychainEngine

    /// What a name says about where the TPM is. Checked first, because the library prints its own errors on the standard error.
    struct TPMPlace {
        let name: String

        init(_ name: String) { self.name = name }

        func check() throws(KeychainError) {
            guard let setting else { return }
            switch module {
            case "device": try checkDevice(setting)
            case "swtpm":
                guard setting.hasPrefix("path=") else { return }
                let path = setting.dropFirst(5).prefix { $0 != "," }
                guard isListening(path + ".ctrl") else { throw .unreachableTPM(name, nil) }
            default: return
            }
        }

        /// The library takes `device`, the file name of that module, and its path.
        private var module: Substring {
            let module = name.prefix { $0 != ":" }
            let file = module[(module.lastIndex(of: "/").map(module.index(after:)) ?? module.startIndex)...]
            guard file.hasPrefix("libtss2-tcti-") else { return file }
            return file.dropFirst("libtss2-tcti-".count).prefix { $0 != "." }
        }

        /// What follows the module; `nil` if nothing does.
        private var setting: String? {
            guard let colon = name.firstIndex(of: ":") else { return nil }
            let setting = name[name.index(after: colon)...]
            return setting.isEmpty ? nil : String(setting)
        }

        /// Commands would be written over the content of any other file.
        private func checkDevice(_ path: String) throws(KeychainError) {
            guard access(path, R_OK | W_OK) == 0 else { throw refusal(path, errno) }
            var status = stat()
            guard stat(path, &status) == 0 else { throw refusal(path, errno) }
            guard status.st_mode & S_IFMT == S_IFCHR else {
                throw KeychainError(
                    .unavailable,
                    "'\(path.shownInAMessage)' is not a device, so there is no TPM. Give the path of one, for example "
                        + "'device:/dev/tpmrm0'.")
            }
        }

        private func refusal(_ path: String, _ code: Int32) -> KeychainError {
            guard code == EACCES || code == EPERM else {
                return KeychainError(
                    .unavailable,
                    "There is no TPM at '\(path.shownInAMessage)'. Turn it on in the settings of the firmware.")
            }
            return KeychainError(
                .unavailable,
                "This user may not use the TPM '\(path.shownInAMessage)'. Add the user to the group of that file (on most "
                    + "systems: tss), and log in again.")
        }

        private func isListening(_ path: String) -> Bool {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let room = MemoryLayout.size(ofValue: address.sun_path)
            guard path.utf8.count < room else { return false }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            #if canImport(Darwin)
                let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
            #elseif canImport(Musl)
                let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM) | Int32(SOCK_CLOEXEC) | Int32(SOCK_NONBLOCK), 0)
            #else
                let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
                let descriptor = socket(AF_UNIX, Int32(kind), 0)
            #endif
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    // EAGAIN: somebody listens, but the queue is full.
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 || errno == EAGAIN
                }
            }
        }
    }

    extension String {
        /// A name that somebody gave, for a message: short, and without what a terminal may execute.
        var shownInAMessage: String {
            let (limit, spelledOut) = (100, unicodeScalars.prefix(101).map(\.shown))
            return spelledOut.prefix(limit).joined() + (spelledOut.count > limit ? "…" : "")
        }
    }

    extension Unicode.Scalar {
        fileprivate var shown: String {
            switch (self, properties.generalCategory) {
            case ("\n", _): "\\n"
            case ("\r", _): "\\r"
            case ("\t", _): "\\t"
            case (_, .control), (_, .format), (_, .lineSeparator), (_, .paragraphSeparator):
                "\\u{" + String(value, radix: 16) + "}"
            default: String(self)
            }
        }
    }
#endif
