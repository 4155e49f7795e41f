/**
 * Serves facts about the installation, such as host names and regions, the mode of the service, and the
 * domains that are banned.
 */

import type { Clock } from '../../../lib/clock.ts'
import { banRefusalOf } from '../../../pipeline/queue/domain-bans.ts'
import type { QueueAdmin } from '../../../pipeline/queue/queue-admin.ts'
import { countScheduled, type ServiceMode } from '../../../pipeline/queue/service-mode.ts'
import { type QueueQuestion, type QueueView, WHOLE_QUEUE } from '../../../pipeline/queue/view.ts'
import { listDomainBans } from '../../../resources/domains/banned.ts'
import type { Db } from '../../../store/model/schema.ts'
import { invalidField } from '../api-error.ts'
import { requireOperator } from '../auth/operator.ts'
import { created, ok, type Route } from '../route/route.ts'
import {
  domainBanListSchema,
  domainBanSchema,
  domainBanView,
  type InstallationView,
  installationSchema,
  liftedBanSchema,
  modeChangeSchema,
  newBanSchema,
  readModeChange,
  readNewBan,
  readUnban,
  serviceModeSchema,
  serviceModeView,
  unbanSchema,
} from './schema.ts'

interface InstallationRoutesOptions {
  /** Called per request, because some facts are known only after the listeners are open. */
  describe(): Omit<InstallationView, 'object'>
  serviceMode: { current: ServiceMode }
  queueAdmin: Pick<QueueAdmin, 'switchMode' | 'ban' | 'unban'>
  /** Provider host, from which the service sends its own email. */
  mailHost: string
  reader: { viewQueue(question: QueueQuestion): Promise<QueueView> }
  db: Db
  clock: Clock
}

export function installationRoutes(options: InstallationRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/installation',
      access: 'session',
      summary: 'Retrieve host names, regions and version of this installation',
      replies: { 200: installationSchema },
      handle: async () => ok({ object: 'installation', ...options.describe() }),
    },
    ...modeRoutes(options),
    ...banRoutes(options),
  ]
}

function modeRoutes({ serviceMode, queueAdmin, reader, db, clock }: InstallationRoutesOptions): Route[] {
  const report = async () => {
    const { totals } = await reader.viewQueue({ ...WHOLE_QUEUE, class: null, now: clock.now() })
    return ok(serviceModeView(serviceMode.current, totals, await countScheduled(db)))
  }
  return [
    {
      method: 'GET',
      path: '/installation/mode',
      access: 'session',
      scopes: ['operator'],
      summary: 'Retrieve the mode of the service, and how much mail is left to deliver (operator)',
      replies: { 200: serviceModeSchema },
      async handle(request) {
        requireOperator(request)
        return report()
      },
    },
    {
      method: 'PUT',
      path: '/installation/mode',
      access: 'session',
      scopes: ['operator'],
      whileReadOnly: true,
      summary: 'Switch the service to normal, draining or read-only (operator)',
      body: modeChangeSchema,
      replies: { 200: serviceModeSchema },
      async handle(request) {
        requireOperator(request)
        const { mode, reason } = readModeChange(await request.body())
        await queueAdmin.switchMode(mode, reason ?? null)
        return report()
      },
    },
  ]
}

function banRoutes({ queueAdmin, db, mailHost }: InstallationRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/installation/banned-domains',
      access: 'session',
      scopes: ['operator'],
      summary: 'List banned domains (operator)',
      replies: { 200: domainBanListSchema },
      async handle(request) {
        requireOperator(request)
        return ok({ object: 'list', data: (await listDomainBans(db)).map(domainBanView) })
      },
    },
    {
      method: 'POST',
      path: '/installation/ban-domain',
      access: 'session',
      scopes: ['operator'],
      summary: 'Ban a domain: hold its mail and refuse new email from it (operator); 200 if it is banned',
      body: newBanSchema,
      replies: { 200: domainBanSchema, 201: domainBanSchema },
      async handle(request) {
        requireOperator(request)
        const { domain, reason } = readNewBan(await request.body())
        const refusal = banRefusalOf(domain, mailHost)
        if (refusal !== undefined) throw invalidField('domain', refusal)
        const { ban, isNew } = await queueAdmin.ban(domain, reason)
        return isNew ? created(domainBanView(ban)) : ok(domainBanView(ban))
      },
    },
    {
      method: 'POST',
      path: '/installation/unban-domain',
      access: 'session',
      scopes: ['operator'],
      summary: 'Lift the ban of a domain: its held mail is sent (operator)',
      body: unbanSchema,
      replies: { 200: liftedBanSchema },
      async handle(request) {
        requireOperator(request)
        const domain = readUnban(await request.body())
        return ok({ object: 'domain_unban', domain, lifted: await queueAdmin.unban(domain) })
      },
    },
  ]
}
