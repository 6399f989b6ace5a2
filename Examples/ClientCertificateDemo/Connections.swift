// SPDX-License-Identifier: Apache-2.0
// The server and its clients.

#if NIOSSL && Certificates
    import KeychainKeyStore
    import KeychainNIOSSL
    import NIOCore
    import NIOPosix
    import NIOSSL

    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
    typealias Server = NIOAsyncChannel<Connection, Never>

    extension TLSConfiguration {
        static func client(trusting root: NIOSSLCertificate) -> TLSConfiguration {
            var tls = makeClientConfiguration()
            tls.trustRoots = .certificates([root])
            return tls
        }
    }

    /// A server on this machine that takes only clients with a certificate of the root.
    func startServer(with keys: KeyStore, clientsOf root: NIOSSLCertificate) async throws -> Server {
        guard let identity = try await keys.identities(tag: "server").first else { throw ChannelError.eof }
        var tls = try TLSConfiguration.makeServerConfiguration(authenticatedAs: identity, with: keys)
        tls.trustRoots = .certificates([root])
        tls.certificateVerification = .noHostnameVerification
        let context = try NIOSSLContext(configuration: tls)
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Greets so many clients by the names in their certificates.
    func greet(_ server: Server, clients: Int) async throws {
        try await server.executeThenClose { connections in
            var connections = connections.makeAsyncIterator()
            for _ in 0..<clients {
                guard let connection = try await connections.next() else { return }
                // A client that is refused ends its connection with an error.
                try? await greet(connection)
            }
        }
    }

    private func greet(_ connection: Connection) async throws {
        try await connection.executeThenClose { requests, answers in
            for try await _ in requests {
                let certificate = try await connection.channel.nioSSL_peerCertificate().get()
                let name = certificate?.subjectName.first { $0.type == .commonName }?.value ?? "nobody"
                try await answers.write(ByteBuffer(string: "hello, \(name)"))
                return
            }
        }
    }

    /// What the server answers; "refused" if it ends the connection.
    func answer(_ server: Server, _ tls: TLSConfiguration) async throws -> String {
        let context = try NIOSSLContext(configuration: tls)
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: server.channel.localAddress?.port ?? 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                    try channel.pipeline.syncOperations.addHandler(handler)
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        do {
            return try await connection.executeThenClose { answers, requests in
                try await requests.write(ByteBuffer(string: "who am I?"))
                for try await answer in answers { return String(buffer: answer) }
                return "refused"
            }
        } catch {
            // The kind of error depends on which side is faster.
            return "refused"
        }
    }
#endif
