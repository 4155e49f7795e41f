/** Operations on keys: API keys and access tokens are created and deleted, DKIM keys are rotated. */
import * as z from 'zod'
import { parseWireId, wireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import { parseDomain } from '../../../protocols/smtp/address.ts'
import { findAccessTokenAccount } from '../../../resources/accounts/access-token-rows.ts'
import { newAccessToken } from '../../../resources/accounts/access-tokens.ts'
import { findApiKeyAccount } from '../../../resources/accounts/api-key-rows.ts'
import { newApiKey } from '../../../resources/accounts/api-keys.ts'
import { domainsNamed } from '../../../resources/domains/domain-rows.ts'
import { readNewToken } from '../../api/access-tokens/schema.ts'
import { timestamp } from '../../api/schema/timestamp.ts'
import { OperationRefused, operation } from './operation.ts'
import { accountOf } from './user-operations.ts'

export const keyOperations = {
  /** Creates the key for the given account, or for the only one. */
  'key.create': operation(
    z.object({
      name: lineText(50).min(1),
      account_id: z.string().nullable(),
      /** Domain that the key is restricted to. */
      domain: z.string().nullable(),
    }),
    async (context, { name, account_id: accountText, domain }) => {
      const { db, run, clock, newId, apiKeyPrefix: prefix } = context
      const accountId = await accountOf(context, accountText)
      const [bound] = domain === null ? [] : await domainsNamed(db, domain.toLowerCase(), accountId)
      if (domain !== null && !bound) throw new OperationRefused(`The account has no domain ${domain}.`)
      const domainId = bound?.id ?? null
      const now = clock.now()
      const { row, token } = newApiKey({ id: newId(now), accountId, name, domainId, prefix, now })
      if (!(await run('createApiKey', row))) throw new OperationRefused(`Account ${accountText} not found.`)
      return {
        id: wireId('key', row.id),
        name,
        account_id: wireId('acc', accountId),
        domain,
        token,
      }
    },
  ),

  /** Deletes a key of any account. */
  'key.delete': operation(z.object({ id: z.string() }), async ({ db, run }, { id: text }) => {
    const id = parseWireId('key', text)
    const accountId = id && (await findApiKeyAccount(db, id))
    if (!accountId || !(await run('deleteApiKey', { accountId, id })))
      throw new OperationRefused(`API key ${text} not found.`)
    return { id: wireId('key', id) }
  }),

  /** Creates the token for the given account, or for the only one. `token` is a body as for the API. */
  'token.create': operation(
    z.object({ token: z.record(z.string(), z.unknown()), account_id: z.string().nullable() }),
    async (context, { token: body, account_id: accountText }) => {
      const { run, clock, newId, accessTokenPrefix: prefix } = context
      const now = clock.now()
      const choice = readNewToken(body, now)
      const accountId = await accountOf(context, accountText)
      const { row, token } = newAccessToken(choice, { id: newId(now), accountId, userId: null, prefix, now })
      await run('createAccessToken', row)
      return {
        id: wireId('tok', row.id),
        name: choice.name,
        account_id: wireId('acc', accountId),
        scopes: [...choice.scopes],
        operator: choice.operator,
        networks: choice.networks && [...choice.networks],
        expires_at: timestamp(choice.expiresAt),
        token,
      }
    },
  ),

  /** Deletes a token of any account. */
  'token.delete': operation(z.object({ id: z.string() }), async ({ db, run }, { id: text }) => {
    const id = parseWireId('tok', text)
    const accountId = id && (await findAccessTokenAccount(db, id))
    if (!accountId || !(await run('deleteAccessToken', { accountId, id })))
      throw new OperationRefused(`Access token ${text} not found.`)
    return { id: wireId('tok', id) }
  }),

  /**
   * Rotates the key of the domain in the given account, or of the only domain with this name and an active
   * key.
   */
  'domain.rotate_keys': operation(
    z.object({ name: z.string().max(253), account_id: z.string().nullable() }),
    async (context, { name, account_id: accountText }) => {
      const { db, run, clock } = context
      const accountId = accountText === null ? null : await accountOf(context, accountText)
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
