/** TXT record of a DKIM key in the provider zone. */
import { dkimRecord, revokedDkimRecord } from '../../protocols/dkim/keys.ts'
import type { PublishedKey } from './domain-rows.ts'

/** Returns the text of the TXT record. */
export function keyText({ algorithm, publicKey, revokedAt }: PublishedKey): string {
  return revokedAt === null ? dkimRecord(algorithm, publicKey) : revokedDkimRecord(algorithm)
}

/** Returns the content of its `p=` tag. */
export function publishedKeyOf({
  publicKey,
  revokedAt,
}: Pick<PublishedKey, 'publicKey' | 'revokedAt'>): string {
  return revokedAt === null ? publicKey : ''
}
