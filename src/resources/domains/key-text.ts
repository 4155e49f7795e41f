/** What the provider zone says of a key, as long as it is there. */
import { dkimRecord, revokedDkimRecord } from '../../protocols/dkim/keys.ts'
import type { PublishedKey } from './domain-rows.ts'

/** The text of the TXT record at its token. */
export function keyText({ algorithm, publicKey, revokedAt }: PublishedKey): string {
  return revokedAt === null ? dkimRecord(algorithm, publicKey) : revokedDkimRecord(algorithm)
}

/** What stands in `p=` of it. */
export function publishedKeyOf({
  publicKey,
  revokedAt,
}: Pick<PublishedKey, 'publicKey' | 'revokedAt'>): string {
  return revokedAt === null ? publicKey : ''
}
