/** Serves the DKIM keys of a sending domain: they are listed, and rotated on request. */

import type { Clock } from '../../../lib/clock.ts'
import { type DomainWithKeys, findWantedRotation } from '../../../resources/domains/domain-rows.ts'
import type { Domains } from '../../../resources/domains/domains.ts'
import type { rotationCommands } from '../../../resources/domains/rotation-commands.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import { ApiError, orNotFound } from '../api-error.ts'
import { type ApiRequest, ok, pathId, type Route } from '../route/route.ts'
import { domainKeysSchema, domainKeysView } from './key-schema.ts'

interface DomainKeyRoutesOptions {
  domains: Pick<Domains, 'find'>
  db: Db
  run: Run<Pick<typeof rotationCommands, 'wantRotation'>>
  clock: Clock
  rotateAfterMs: number | null
}

export function domainKeyRoutes({ domains, db, run, clock, rotateAfterMs }: DomainKeyRoutesOptions): Route[] {
  /** @throws ApiError 404 */
  const domainOf = async (request: ApiRequest): Promise<DomainWithKeys> => {
    const id = pathId(request, 'dom')
    return orNotFound(await domains.find(request.credential.accountId, id), 'Domain')
  }
  return [
    {
      method: 'GET',
      path: '/domains/:id/keys',
      access: 'session',
      summary: 'Retrieve the DKIM keys of a sending domain and the time of the next rotation',
      replies: { 200: domainKeysSchema },
      async handle(request) {
        const domain = await domainOf(request)
        const wantedAt = await findWantedRotation(db, domain.id)
        return ok(domainKeysView(domain, { wantedAt, rotateAfterMs }))
      },
    },
    {
      method: 'POST',
      path: '/domains/:id/rotate-keys',
      access: 'session',
      summary: 'Rotate the DKIM key of a sending domain as soon as possible',
      replies: { 200: domainKeysSchema },
      async handle(request) {
        const domain = await domainOf(request)
        const wantedAt = await run('wantRotation', { domainId: domain.id, at: clock.now() })
        if (wantedAt === undefined)
          throw new ApiError(
            422,
            'validation_error',
            `The domain ${domain.name} must be verified before its DKIM keys can be rotated.`,
          )
        return ok(domainKeysView(domain, { wantedAt, rotateAfterMs }))
      },
    },
  ]
}
