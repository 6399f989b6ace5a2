// SPDX-License-Identifier: Apache-2.0
// Calls of an etcd: the next node after a failure, a token for the user, and a limit on the whole call.

#if Etcd
    import Foundation
    import KeychainSync
    import NIOSSL
    import SecretMemory

    /// What a call ends with if it has no answer.
    struct EtcdFailure: Error {
        let failure: CarrierFailure
        /// Set if etcd has answered, and refuses.
        let refusal: EtcdRefusal?
        /// Set if it has not answered.
        let cause: TryFailure?
        /// Whether a try may have been carried out: its answer was lost, or does not tell. Then a later refusal tells nothing about it.
        var mayBeDone = false

        init(_ failure: CarrierFailure, refusal: EtcdRefusal? = nil, cause: TryFailure? = nil) {
            (self.failure, self.refusal, self.cause) = (failure, refusal, cause)
        }
    }

    /// Calls of one etcd, for one user. Each call may be repeated, because its first answer may be lost.
    final class EtcdClient: Sendable {
        let place: EtcdPlace
        private let timing: EtcdTiming
        private let state = Guarded(State())

        private struct State {
            /// The node that answered last.
            var first = 0
            var token: String?
            var tls: TLSConfiguration??
            /// The highest revision that was seen, and the lowest one that was seen after a higher one.
            var revision: UInt64 = 0
            var lowered: UInt64?
        }

        init(_ place: EtcdPlace, _ timing: EtcdTiming = EtcdTiming()) { (self.place, self.timing) = (place, timing) }

        // MARK: - Calls

        /// - Parameters:
        ///   - path: Below `/v3/`.
        ///   - size: About how many bytes the answer has.
        func call<Answer: EtcdAnswer>(
            _ path: String, _ request: some Encodable, expecting size: Int = 0, as type: Answer.Type = Answer.self
        ) async throws(EtcdFailure) -> Answer {
            var mayBeDone = false
            do throws(EtcdFailure) {
                return try await call(path, request, expecting: size, as: type, &mayBeDone)
            } catch {
                var failure = error
                failure.mayBeDone = mayBeDone
                throw failure
            }
        }

        /// - Parameter mayBeDone: Set once a try has reached a node, and its answer does not say what became of it.
        private func call<Answer: EtcdAnswer>(
            _ path: String, _ request: some Encodable, expecting size: Int, as type: Answer.Type,
            _ mayBeDone: inout Bool
        ) async throws(EtcdFailure) -> Answer {
            var (tries, hasRenewed) = (Tries(place.endpoints.count, timing), false)
            let body = try Self.encoded(request)
            while true {
                let index = (state.withLock { $0.first } + tries.count) % place.endpoints.count
                let endpoint = place.endpoints[index]
                var isLoggedIn = false
                do {
                    let connection = try await connection(to: endpoint, tries.limit(body.count + size), path)
                    isLoggedIn = true
                    let known = state.withLock { $0.revision }
                    let answer = try await connection.post(path, body, within: tries.limit(body.count + size))
                    let decoded = try Self.decode(answer, type)
                    note(index, decoded.header?.revision.value ?? 0, known: known)
                    return decoded
                } catch let error as TryFailure {
                    if error == .untrusted { state.withLock { $0.tls = nil } }
                    if isLoggedIn, error.hasReachedSomebody { mayBeDone = true }
                    guard tries.next(error) else { throw EtcdFailure(failure(error, endpoint), cause: error) }
                } catch let error as EtcdRefusal {
                    let isOld = error == .invalidToken && place.user != nil && !hasRenewed
                    if isOld {
                        hasRenewed = true
                        state.withLock { $0.token = nil }
                        continue
                    }
                    if isLoggedIn, error.mayBeDone { mayBeDone = true }
                    guard error == .unavailable, tries.next(.silent) else {
                        throw EtcdFailure(failure(error, endpoint), refusal: error)
                    }
                } catch let error as CarrierFailure {
                    throw EtcdFailure(error)
                } catch {
                    throw EtcdFailure(failure(.silent, endpoint), cause: .silent)
                }
                do { try await Task.sleep(for: tries.pause) } catch {
                    throw EtcdFailure(failure(.silent, endpoint), cause: .silent)
                }
            }
        }

        /// A connection as which requests of the user are sent.
        func connection(to endpoint: EtcdEndpoint, _ limit: Duration, _ path: String = "") async throws -> HTTPCall {
            let tls = try tlsConfiguration()
            let anonymous = HTTPCall(endpoint: endpoint, tls: endpoint.isSecure ? tls : nil, token: nil)
            guard let user = place.user, let password = place.password else { return anonymous }
            if let token = state.withLock({ $0.token }) { return anonymous.with(token) }
            let body = try Self.encoded(CredentialsRequest(name: user, password: password))
            // The check of a password is slow on purpose.
            let answer = try await anonymous.post("auth/authenticate", body, within: limit + timing.password)
            do throws(EtcdRefusal) {
                let token = try Self.decodeToken(answer)
                state.withLock { $0.token = token }
                return anonymous.with(token)
            } catch {
                // A user who may write without a password may write with one too.
                if error == .withoutUsers { return anonymous }
                throw error
            }
        }

        /// A token that was refused must not be used again.
        func forgetToken() { state.withLock { $0.token = nil } }

        private func tlsConfiguration() throws(CarrierFailure) -> TLSConfiguration? {
            if let known = state.withLock({ $0.tls }) { return known }
            let read = try place.tls()
            state.withLock { $0.tls = .some(read) }
            return read
        }

        // MARK: - Revisions

        /// - Parameter known: The highest revision that had been seen when the request was sent.
        private func note(_ index: Int, _ revision: UInt64, known: UInt64) {
            state.withLock { state in
                state.first = index
                if revision < known { state.lowered = min(state.lowered ?? revision, revision) }
                state.revision = max(state.revision, revision)
            }
        }

        /// The revision to report with a listing: the lowest one that was seen since the last listing after a higher one.
        func reported(_ revision: UInt64) -> UInt64 {
            state.withLock { state in
                defer {
                    // Each restoration is reported once; the core remembers the highest revision.
                    if state.lowered != nil { (state.lowered, state.revision) = (nil, revision) }
                }
                return min(state.lowered ?? revision, revision)
            }
        }

        /// The node to watch next.
        func endpoint(_ attempt: Int) -> EtcdEndpoint {
            place.endpoints[(state.withLock { $0.first } + attempt) % place.endpoints.count]
        }

        // MARK: - Bytes

        private static func encoded(_ request: some Encodable) throws(EtcdFailure) -> Data {
            do { return try JSONEncoder().encode(request) } catch {
                throw EtcdFailure(
                    CarrierFailure(.inputOutput, "A request cannot be encoded. Please report this."))
            }
        }

        private static func decode<Answer: EtcdAnswer>(_ answer: HTTPAnswer, _ type: Answer.Type) throws -> Answer {
            if answer.status == 200, let decoded = EtcdJSON.decode(type, answer.body) {
                guard let header = decoded.header, header.revision.value > 0 else { throw TryFailure.notEtcd }
                return decoded
            }
            throw refusal(answer)
        }

        private static func decodeToken(_ answer: HTTPAnswer) throws(EtcdRefusal) -> String {
            let isHeaderText = { (byte: UInt8) in (0x21...0x7e).contains(byte) }
            if answer.status == 200, let decoded = EtcdJSON.decode(TokenAnswer.self, answer.body),
                (1...8192).contains(decoded.token.utf8.count), decoded.token.utf8.allSatisfy(isHeaderText)
            {
                return decoded.token
            }
            throw (refusal(answer) as? EtcdRefusal) ?? .other(-1)
        }

        private static func refusal(_ answer: HTTPAnswer) -> any Error {
            guard answer.status >= 400, let error = EtcdJSON.decode(ErrorAnswer.self, answer.body) else {
                return TryFailure.notEtcd
            }
            return error.refusal ?? TryFailure.notEtcd
        }
    }

    extension HTTPCall {
        fileprivate func with(_ token: String) -> HTTPCall { HTTPCall(endpoint: endpoint, tls: tls, token: token) }
    }
#endif
