// SPDX-License-Identifier: Apache-2.0
// The texts of failures. What a server says is never shown.

#if Etcd
    import KeychainSync

    extension EtcdClient {
        func failure(_ failure: TryFailure, _ endpoint: EtcdEndpoint) -> CarrierFailure {
            let node = "'\(endpoint.text)'"
            return switch failure {
            case .unreachable:
                CarrierFailure(.unavailable, "\(node) accepts no connections. Is etcd running there?")
            case .silent, .unconnected:
                CarrierFailure(
                    .unavailable,
                    "\(node) does not answer, or has no leader. Check the nodes with 'etcdctl endpoint status'."
                )
            case .untrusted:
                CarrierFailure(
                    .unavailable,
                    "\(node) and this machine do not accept each other's certificates. Check --etcd-ca, --etcd-cert and --etcd-key, "
                        + "and the names in the certificate of the server.")
            case .notEtcd:
                CarrierFailure(
                    .unavailable,
                    "\(node) does not answer as etcd does. Is the address right, and is its JSON gateway enabled?"
                )
            case .tooLarge:
                CarrierFailure(.unavailable, "\(node) answers with more than any ring needs.")
            }
        }

        func failure(_ refusal: EtcdRefusal, _ endpoint: EtcdEndpoint) -> CarrierFailure {
            let node = "'\(endpoint.text)'"
            return switch refusal {
            case .wrongPassword:
                CarrierFailure(
                    .denied,
                    "\(node) does not accept the password of '\(user)'. To enter the right one, leave the ring and join it again."
                )
            case .userMissing: CarrierFailure(.denied, "\(node) wants a user. Give --etcd-user and --etcd-password-fd.")
            case .denied:
                CarrierFailure(
                    .denied,
                    "\(node) gives \(user.isEmpty ? "this machine" : "'\(user)'") no permission for keys below '\(place.prefix)'. "
                        + "Grant its role 'readwrite' there, with --prefix.")
            case .invalidToken: CarrierFailure(.denied, "\(node) does not accept its own tokens. Try again.")
            case .full:
                CarrierFailure(.full, "\(node) is full. Compact and defragment it, and disarm the alarm.")
            case .tooLarge:
                CarrierFailure(
                    .tooLarge, "\(node) does not take objects of 1 MiB. Set its --max-request-bytes to 1572864.")
            case .unavailable: self.failure(.silent, endpoint)
            case .compacted, .futureRevision, .withoutUsers, .other: self.failure(.notEtcd, endpoint)
            }
        }

        private var user: String { place.user ?? "" }
    }
#endif
