#!/usr/bin/env bash
# Makes, in the folder DIR, an authority of that name and certificates of a server and a client by it,
# in the layout of nbdkit and qemu. Needs openssl.
# Usage: bash make_certificates.sh DIR NAME
set -euo pipefail
mkdir -p "$1"
cd "$1"
new=(openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
"${new[@]}" -x509 -days 9999 -subj "/CN=$2" -keyout ca-key.pem -out ca-cert.pem
sign() { # name, extensions
  "${new[@]}" -subj "/CN=$1" -keyout "$1-key.pem" -out "$1.csr"
  printf '%s\n' "$2" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial -days 9999 \
    -extfile "$1.ext" -out "$1-cert.pem"
}
sign server $'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth'
sign client extendedKeyUsage=clientAuth
