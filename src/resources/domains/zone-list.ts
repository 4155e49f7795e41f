/** Lists the whole provider zone: its static records, then the keys of all domains. */
import type { DnsRecord } from '../../protocols/dns/wire.ts'
import { DKIM_TTL_SECONDS } from '../../protocols/dns/zone.ts'
import type { Db } from '../../store/model/schema.ts'
import { listPublishedKeys, type PublishedKey } from './domain-rows.ts'
import { keyText } from './key-text.ts'

/** @param fixed static records in their order */
export async function listZone(
  db: Db,
  fixed: readonly DnsRecord[],
  mailHost: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: DnsRecord[] }> {
  const first = fixed.slice(offset, offset + limit)
  const keys = await listPublishedKeys(db, {
    limit: limit - first.length,
    offset: Math.max(0, offset - fixed.length),
  })
  return {
    total: fixed.length + keys.total,
    rows: [...first, ...keys.rows.map(key => keyRecord(key, mailHost))],
  }
}

function keyRecord(key: PublishedKey & { token: string }, mailHost: string): DnsRecord {
  return {
    name: `${key.token}.dkim.${mailHost}`,
    ttlSeconds: DKIM_TTL_SECONDS,
    type: 'TXT',
    text: keyText(key),
  }
}
