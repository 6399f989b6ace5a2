// SPDX-License-Identifier: Apache-2.0
// One request to one node, with limits on time and bytes.

#if Etcd
    import AsyncHTTPClient
    import Foundation
    import KeychainSync
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL

    /// Why one node did not answer as etcd does.
    enum TryFailure: Error, Equatable {
        /// Nobody accepts connections there.
        case unreachable
        /// No connection was made in time, so nothing was sent.
        case unconnected
        /// Not in time, or not to the end.
        case silent
        /// One of both sides does not accept the certificate of the other.
        case untrusted
        /// What answers is no etcd, or something before it that answers in its place.
        case notEtcd
        case tooLarge

        /// Whether another try at the same node may help.
        var isLasting: Bool { self == .untrusted || self == .notEtcd || self == .tooLarge }

        /// Whether a request may have been carried out, because it was sent.
        var hasReachedSomebody: Bool { self == .silent || self == .notEtcd || self == .tooLarge }
    }

    struct HTTPAnswer {
        let status: Int
        let body: Data
    }

    struct HTTPCall {
        let endpoint: EtcdEndpoint
        let tls: TLSConfiguration?
        let token: String?

        /// Connections are shared by all carriers of the process. It lives as long as the process.
        private static let client: HTTPClient = {
            var configuration = HTTPClient.Configuration(
                redirectConfiguration: .disallow, timeout: .init(connect: .seconds(5)), decompression: .disabled)
            configuration.httpVersion = .http1Only
            configuration.connectionPool.idleTimeout = .seconds(30)
            configuration.connectionPool.retryConnectionEstablishment = false
            return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }()

        /// - Parameter path: Below `/v3/`.
        func post(_ path: String, _ body: Data, within limit: Duration) async throws(TryFailure) -> HTTPAnswer {
            let request = request(path, body)
            do {
                return try await Timed.within(limit) { try await Self.answer(to: request, limit) }
            } catch {
                throw Self.failure(error)
            }
        }

        private static func answer(to request: HTTPClientRequest, _ limit: Duration) async throws -> HTTPAnswer {
            let response = try await client.execute(request, timeout: TimeAmount(limit))
            if let length = response.headers.first(name: "content-length").flatMap({ Int($0) }),
                length > JSONBounds.body
            {
                throw TryFailure.tooLarge
            }
            var body = Data()
            for try await buffer in response.body {
                guard body.count + buffer.readableBytes <= JSONBounds.body else { throw TryFailure.tooLarge }
                body.append(contentsOf: buffer.readableBytesView)
            }
            // A body that ends because the task was cancelled looks complete.
            try Task.checkCancellation()
            return HTTPAnswer(status: Int(response.status.code), body: body)
        }

        /// Calls for each line of an answer that does not end by itself. The limit is for its beginning.
        func lines(
            _ path: String, _ body: Data, within limit: Duration,
            _ use: (Data) async throws(TryFailure) -> Bool
        ) async throws(TryFailure) {
            do {
                let response = try await Self.client.execute(request(path, body), timeout: TimeAmount(limit))
                var line = Data()
                for try await buffer in response.body {
                    var rest = buffer.readableBytesView[...]
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        guard line.count + rest[..<end].count <= JSONBounds.line else { throw TryFailure.tooLarge }
                        line.append(contentsOf: rest[..<end])
                        guard try await use(line) else { return }
                        line = Data()
                        rest = rest[(end + 1)...]
                    }
                    guard line.count + rest.count <= JSONBounds.line else { throw TryFailure.tooLarge }
                    line.append(contentsOf: rest)
                }
                // Some errors end without a newline.
                if !line.isEmpty { _ = try await use(line) }
            } catch {
                throw Self.failure(error)
            }
        }

        private func request(_ path: String, _ body: Data) -> HTTPClientRequest {
            var request = HTTPClientRequest(url: endpoint.text + "/v3/" + path)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            // Without it, a watch of a node that has lost its leader stays open and silent.
            request.headers.add(name: "Grpc-Metadata-hasleader", value: "true")
            if let token { request.headers.add(name: "Authorization", value: token) }
            request.body = .bytes(ByteBuffer(bytes: body))
            request.tlsConfiguration = tls
            return request
        }

        private static func failure(_ error: any Error) -> TryFailure {
            switch error {
            case let error as TryFailure: error
            case let error as NIOSSLError: error.failure
            case let error as BoringSSLError: error.failure
            case is NIOSSLExtraError: .untrusted
            case let error as NIOConnectionError where error.isLate: .unconnected
            case is NIOConnectionError, is SocketAddressError: .unreachable
            case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode):
                .unreachable
            case let error as HTTPClientError where error == .connectTimeout || error == .tlsHandshakeTimeout:
                .unconnected
            case is HTTPParserError: .notEtcd
            default: .silent
            }
        }
    }

    extension NIOConnectionError {
        /// Whether an address did not answer in time. It may, if it is asked again.
        fileprivate var isLate: Bool {
            connectionErrors.contains { if case ChannelError.connectTimeout = $0.error { true } else { false } }
        }
    }

    extension NIOSSLError {
        /// What breaks a connection that was made is no matter of certificates, and may come after a request.
        fileprivate var failure: TryFailure {
            switch self {
            case .uncleanShutdown, .shutdownFailed, .writeDuringTLSShutdown, .readInInvalidTLSState: .silent
            case .handshakeFailed(.sslError(let errors)) where errors.contains(.eofDuringHandshake): .silent
            default: .untrusted
            }
        }
    }

    extension BoringSSLError {
        /// A server that does not accept a certificate may say so after the handshake. Anything else is damage on the way.
        fileprivate var failure: TryFailure {
            guard case .sslError(let errors) = self else { return .silent }
            // The text of an error has a name such as SSLV3_ALERT_BAD_CERTIFICATE after its last colon, up to the place in the source.
            let names = errors.compactMap { error in
                error.description.split(separator: " ").prefix { $0 != "at" }.last?.split(separator: ":").last
            }
            let words = Set(names.flatMap { $0.split { !$0.isLetter } })
            let isRefused = !words.isDisjoint(with: ["CERTIFICATE", "CA", "DENIED", "HANDSHAKE"])
            return isRefused ? .untrusted : .silent
        }
    }

    enum Timed {
        /// - Throws: ``TryFailure/silent`` if the body takes longer; then it is cancelled.
        static func within<Value: Sendable>(
            _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
        ) async throws -> Value {
            try await withThrowingTaskGroup(of: Value?.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    try await Task.sleep(for: limit)
                    return nil
                }
                defer { group.cancelAll() }
                guard let value = try await group.next() ?? nil else { throw TryFailure.silent }
                return value
            }
        }
    }

    extension EtcdPlace {
        /// Reads the files each time, since certificates are replaced.
        func tls() throws(CarrierFailure) -> TLSConfiguration? {
            guard endpoints.contains(where: \.isSecure) else { return nil }
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.minimumTLSVersion = .tlsv12
            if let authorities {
                tls.trustRoots = .certificates(try Self.certificates(authorities))
            }
            if let certificate, let key {
                tls.certificateChain = try Self.certificates(certificate).map { .certificate($0) }
                do {
                    tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
                } catch {
                    throw .unreadable(key, "a private key")
                }
            }
            return tls
        }

        private static func certificates(_ path: String) throws(CarrierFailure) -> [NIOSSLCertificate] {
            do {
                let certificates = try NIOSSLCertificate.fromPEMFile(path)
                if !certificates.isEmpty { return certificates }
            } catch {}
            throw .unreadable(path, "certificates")
        }
    }

    extension CarrierFailure {
        fileprivate static func unreadable(_ path: String, _ content: String) -> CarrierFailure {
            CarrierFailure(
                .unusable,
                "'\(path)' cannot be read, or does not contain \(content) in PEM form. Correct it, and try again.")
        }
    }
#endif
