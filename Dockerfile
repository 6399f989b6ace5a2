# syntax=docker/dockerfile:1
# SPDX-License-Identifier: Apache-2.0
# The image swift-keychain: keychainctl on Debian, as a user without rights. `make container` builds it.
#
# The vault is in the volume /var/lib/keychain. Its key is a file of the user 10001, outside of the volume:
#
#   docker run --rm -i -v keychain:/var/lib/keychain \
#       -v /etc/credstore/swift-keychain.key:/run/credentials/swift-keychain.key:ro -e CREDENTIALS_DIRECTORY=/run/credentials \
#       swift-keychain get -s com.example.web -a db-password
#
# Docs/Tasks.md has the commands that create both. Without a key file, the vault opens with a device key, which would be in the
# same volume: then everyone with the volume has everything.

FROM swift:6.2-bookworm AS build
# Without versions, so that security updates are installed.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libsqlite3-dev python3 zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
RUN DESTDIR=/image PREFIX=/usr/local Scripts/install.sh install

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libsqlite3-0 libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/keychain --shell /usr/sbin/nologin keychain \
    && install -d -o keychain -g keychain -m 700 /var/lib/keychain
COPY --from=build /image/usr/local/ /usr/local/
USER 10001
ENV HOME=/var/lib/keychain KEYCHAIN_AUTHENTICATOR=none
VOLUME /var/lib/keychain
WORKDIR /var/lib/keychain
ENTRYPOINT ["/usr/local/bin/keychainctl"]
CMD ["--help"]
