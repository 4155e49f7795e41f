/** Operations on sending domains: request a DKIM key rotation. */
import * as z from 'zod'
import { type Id, wireId } from '../../../lib/ids.ts'
import { parseDomain } from '../../../protocols/smtp/address.ts'
import type { Db } from '../../../store/model/schema.ts'
import { timestamp } from '../../api/schema/timestamp.ts'
import { OperationRefused, operation } from './operation.ts'
import { accountOf } from './user-operations.ts'

export const domainOperations = {
  /**
   * Rotates the key of the domain in the given account, or of the only domain with this name and an active
   * key.
   */
  'domain.rotate_keys': operation(
    z.object({ name: z.string().max(253), account_id: z.string().nullable() }),
    async (parts, { name, account_id: accountText }) => {
      const { db, run, clock } = parts
      const accountId = accountText === null ? null : await accountOf(parts, accountText)
      const domain = parseDomain(name)
      const domains = domain === undefined ? [] : await domainsNamed(db, domain, accountId)
      if (domains.length === 0) throw new OperationRefused(`Domain ${name} not found.`)
      const at = clock.now()
      for (const { id, accountId: owner } of domains) {
        const wantedAt = await run('wantRotation', { domainId: id, at })
        if (wantedAt !== undefined)
          return {
            id: wireId('dom', id),
            name: domain!,
            account_id: wireId('acc', owner),
            requested_at: timestamp(wantedAt),
          }
      }
      throw new OperationRefused(
        `${name} has no active DKIM key yet; its keys can be rotated once it is verified.`,
      )
    },
  ),
}

/** Returns verified domains first, because an unverified domain with the name may belong to somebody else. */
async function domainsNamed(
  db: Db,
  name: string,
  accountId: Id | null,
): Promise<{ id: Id; accountId: Id }[]> {
  const rows = await db
    .selectFrom('domains')
    .select(['id', 'accountId', 'status'])
    .where('name', '=', name)
    .$if(accountId !== null, query => query.where('accountId', '=', accountId!))
    .orderBy('id')
    .execute()
  const isInUse = ({ status }: (typeof rows)[number]) =>
    status === 'verified' || status === 'temporary_failure'
  return [...rows.filter(isInUse), ...rows.filter(row => !isInUse(row))]
}
