/** Certificate signing request (PKCS #10, RFC 2986). */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import {
  altNames,
  BIT_STRING,
  CONTEXT_0,
  der,
  ECDSA_WITH_SHA256,
  EXTENSION_REQUEST,
  INTEGER,
  SEQUENCE,
  SET,
} from './der.ts'

/** @param key private, on P-256 @returns DER; without a subject, the hosts are alternative names */
export function certificateRequest(key: KeyObject, hosts: readonly string[]): Buffer {
  const body = der(
    SEQUENCE,
    der(INTEGER, Buffer.of(0)),
    der(SEQUENCE),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(CONTEXT_0, der(SEQUENCE, EXTENSION_REQUEST, der(SET, der(SEQUENCE, altNames(hosts))))),
  )
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', body, key))
  return der(SEQUENCE, body, der(SEQUENCE, ECDSA_WITH_SHA256), signature)
}
