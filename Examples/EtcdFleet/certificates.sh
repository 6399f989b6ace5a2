# SPDX-License-Identifier: Apache-2.0
# The certificate authority of the fleet, and the certificates of nodes, the administrator and machines. For fleet.sh, in the fleet's folder.

readonly days=365

authority() {
    certificate_request ca "/O=fleet/CN=fleet CA" -x509 -days "$((10 * days))" -addext "keyUsage=critical,keyCertSign,cRLSign" \
        -out ca.part
    mv ca.part ca.pem
}

certificate_request() { # name, subject, options of openssl req
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$2" -keyout "$1.key" "${@:3}" 2>openssl.log ||
        stop "openssl could not make '$1'; see $folder/openssl.log"
}

# A certificate appears under its name when it and its key are complete.
certificate() { # name, subject, extensions
    certificate_request "$1" "$2" -out "$1.csr"
    printf '%s\n' "${@:3}" >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$days" -sha256 -extfile "$1.ext" -out "$1.part" \
        2>openssl.log || stop "openssl could not sign '$1'; see $folder/openssl.log"
    rm -- "$1.csr" "$1.ext"
    mv -- "$1.part" "$1.pem"
}

# Without a common name: etcd's gateway, which keychainctl uses, shows this certificate to etcd, which would take the name for a user.
# As a client too, for this and for the other nodes.
node_certificate() { # node
    certificate "$1" "/O=fleet/OU=node $1" "subjectAltName=IP:127.0.0.1,DNS:localhost" "extendedKeyUsage=serverAuth,clientAuth"
}

# The common name is the user: only etcdctl is root with it, since the gateway does not look at it.
administrator_certificate() { certificate admin "/O=fleet/CN=root" "extendedKeyUsage=clientAuth"; }

machine() { # name
    [[ $1 =~ ^[a-z][a-z0-9-]{0,62}$ && ! $1 =~ ^(ca|admin|n[0-9]+)$ ]] ||
        stop "'$1' cannot be the name of a machine. Use lower-case letters, digits and '-'; not ca, admin, or a node."
    [[ ! -e $1.pem ]] || stop "'$folder/$1.pem' exists. To make another certificate, remove it first."
    certificate "$1" "/O=fleet/OU=$1" "extendedKeyUsage=clientAuth"
    echo "Give the machine $1: ca.pem, $1.pem, $1.key and $user.password of $folder"
}

make_certificates() {
    local node
    [[ -e ca.pem ]] || authority
    for node in "${nodes[@]}"; do [[ -e $node.pem ]] || node_certificate "$node"; done
    [[ -e admin.pem ]] || administrator_certificate
}
