// SPDX-License-Identifier: Apache-2.0
// The root certificates that the system trusts.

#if Certificates && os(Linux)
    import Foundation
    import KeychainKeys
    import SecretMemory

    /// The roots of a file, by subject.
    struct SystemRoots: Sendable {
        let bySubject: [Data: [Certificate]]

        static let explanation =
            "No verdict is possible: the root certificates of the system cannot be read. Install the package"
            + " ca-certificates, set SSL_CERT_FILE to a file of certificates in PEM, or set anchors."

        init(_ certificates: [Certificate]) {
            bySubject = Dictionary(grouping: certificates) { $0.normalizedSubject ?? Data() }
        }

        func contains(_ certificate: Certificate) -> Bool {
            bySubject[certificate.normalizedSubject ?? Data()]?.contains(certificate) ?? false
        }
    }

    /// Where the roots of the system are.
    package struct RootSource: Sendable {
        private let files: [String]
        private let read: @Sendable (URL) throws -> Data

        /// - Parameters:
        ///   - environment: `SSL_CERT_FILE` is the only file then.
        ///   - standard: The first one that exists is used.
        package init(
            environment: [String: String] = ProcessEnvironment.current, standard: [String] = Self.standardFiles
        ) {
            self.init(files: environment.value(RootFiles.variable).map { [$0] } ?? standard)
        }

        /// - Parameter read: Reads a file.
        init(files: [String], read: @escaping @Sendable (URL) throws -> Data = { try Data(contentsOf: $0) }) {
            (self.files, self.read) = (files, read)
        }

        package static let standardFiles = RootFiles.standard

        /// The roots; `nil` if there is no file, it cannot be read, or it has no certificate.
        func roots() -> SystemRoots? {
            for file in files {
                guard let found = RootFile(file) else { continue }
                return cached(found, file)
            }
            return nil
        }

        private struct Cache: Sendable {
            let file: String
            let version: RootFile.Version
            let roots: SystemRoots?
        }

        /// The roots of the file that was read last.
        private static let cache = Guarded<Cache?>(nil)

        private func cached(_ found: RootFile, _ file: String) -> SystemRoots? {
            let (version, cache) = (found.version, Self.cache)
            if let known = cache.withLock({ $0 }), known.file == file, known.version == version { return known.roots }
            // A failure may pass without a change of the file.
            guard let certificates = found.certificates(read) else { return nil }
            let roots = certificates.isEmpty ? nil : SystemRoots(certificates)
            cache.withLock { $0 = Cache(file: file, version: version, roots: roots) }
            return roots
        }
    }

    /// A file of certificates in PEM.
    private struct RootFile {
        /// Changes with the content of the file.
        struct Version: Hashable, Sendable {
            let number: UInt64
            let size: UInt64
            let date: Date
        }

        let version: Version
        private let url: URL

        /// Larger files are not read.
        private static let limit: UInt64 = 64 << 20

        /// - Returns: `nil` if there is no regular file. A pipe would block.
        init?(_ path: String) {
            // Some distributions have links here, whose attributes are not those of the file.
            url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path),
                attributes[.type] as? FileAttributeType == .typeRegular,
                let size = attributes[.size] as? UInt64, size <= Self.limit,
                let number = attributes[.systemFileNumber] as? UInt64,
                let date = attributes[.modificationDate] as? Date
            else { return nil }
            version = Version(number: number, size: size, date: date)
        }

        /// All certificates that can be read. Others may be damaged, or of a kind that later versions know.
        ///
        /// - Returns: `nil` if the file cannot be read.
        func certificates(_ read: (URL) throws -> Data) -> [Certificate]? {
            guard let bytes = try? read(url) else { return nil }
            return Self.blocks([UInt8](bytes)[...]).compactMap { try? Certificate(der: $0) }
        }

        private static func blocks(_ text: ArraySlice<UInt8>) -> [Data] {
            var blocks: [Data] = []
            var open: Data?
            for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
                if line.starts(with: "-----BEGIN CERTIFICATE-----".utf8) {
                    open = Data()
                } else if line.starts(with: "-----".utf8) {
                    if let base64 = open, let block = Data(base64Encoded: base64) { blocks.append(block) }
                    open = nil
                } else {
                    open?.append(contentsOf: line.filter { $0 > 0x20 })
                }
            }
            return blocks
        }
    }
#endif
