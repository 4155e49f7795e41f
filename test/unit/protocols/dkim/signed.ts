/**
 * Signs messages for the tests, with keys that are the same in every run of a process, and says what DNS
 * would.
 */
import { bodyHash } from '../../../../src/protocols/dkim/body-hash.ts'
import {
  type DkimAlgorithm,
  dkimRecord,
  generateDkimKey,
  loadSigningKey,
  type SigningKey,
} from '../../../../src/protocols/dkim/keys.ts'
import { signMessage } from '../../../../src/protocols/dkim/signature.ts'
import { type HeaderField, serializeFields } from '../../../../src/protocols/smtp/header-field.ts'

const CRLF = Buffer.from('\r\n')

/** Time of signing. It lies in the past, because verifiers refuse signatures from the future. */
export const SIGNED_AT = Date.UTC(2024, 1, 29, 12, 0, 1, 999)

export interface TestKey extends SigningKey {
  /** Name at which verifiers look the key up. */
  recordName: string
  record: string
}

export async function createTestKey(algorithm: DkimAlgorithm, domain = 'here.test'): Promise<TestKey> {
  const selector = algorithm === 'rsa-sha256' ? 'r1' : 'e1'
  const { privateKey, publicKey } = await generateDkimKey(algorithm)
  return {
    ...loadSigningKey({ domain, selector, algorithm }, privateKey),
    recordName: `${selector}._domainkey.${domain}`,
    record: dkimRecord(algorithm, publicKey),
  }
}

/**
 * The message as it arrives, with a signature by each key on top. SMTP ends the last line where it has no end
 * (RFC 5321 §4.1.1.4); the signature must hold for it none the less.
 */
export async function signed(
  { fields, body }: { fields: readonly HeaderField[]; body: Buffer },
  keys: readonly SigningKey[],
): Promise<Buffer> {
  const signatures = await signMessage(fields, bodyHash(body), keys, SIGNED_AT)
  const ended = body.length === 0 || body.subarray(-2).equals(CRLF)
  return Buffer.concat([
    serializeFields([...signatures.map(({ field }) => field), ...fields]),
    CRLF,
    body,
    ended ? Buffer.alloc(0) : CRLF,
  ])
}
