/**
 * Certificates for test servers, made once with the openssl tool: one P-256 key for all of them, leaves
 * signed by a test authority whose own key was thrown away. `good` and `expired` name mx.test, localhost,
 * 127.0.0.1,
 * *.there.test and *.example.test; `wrong-name` names elsewhere.invalid. `self-signed` has the names
 * of `good` and no authority. All but `expired` last until 2125. `rsa` has an RSA key of its own, in the same
 * file.
 */
import { readFileSync } from 'node:fs'

export const CERTIFICATE_NAMES = ['good', 'wrong-name', 'expired', 'self-signed'] as const
export type CertificateName = (typeof CERTIFICATE_NAMES)[number]

const read = (file: string) => readFileSync(new URL(`certs/${file}.pem`, import.meta.url), 'utf8')

/** PEM of the authority, for clients that are to trust `good`. */
export function testAuthority(): string {
  return read('ca')
}

/** Key and certificate, as `tls.createSecureContext` takes them. */
export function testCertificate(name: CertificateName): { key: string; cert: string } {
  return { key: read('key'), cert: read(name) }
}

/** The files of `good` and its key. */
export const certificateFiles = {
  cert: new URL('certs/good.pem', import.meta.url).pathname,
  key: new URL('certs/key.pem', import.meta.url).pathname,
}

/** Certificate and key on RSA, in one file. */
export const rsaFile = new URL('certs/rsa.pem', import.meta.url).pathname
