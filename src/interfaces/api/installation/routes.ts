/** Serves facts about the installation, such as host names and regions, and the mode of the service. */

import type { Clock } from '../../../lib/clock.ts'
import type { QueueAdmin } from '../../../pipeline/queue/queue-admin.ts'
import { countScheduled, type ServiceMode } from '../../../pipeline/queue/service-mode.ts'
import { type QueueQuestion, type QueueView, WHOLE_QUEUE } from '../../../pipeline/queue/view.ts'
import type { Db } from '../../../store/model/schema.ts'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'
import {
  type InstallationView,
  installationSchema,
  modeChangeSchema,
  readModeChange,
  serviceModeSchema,
  serviceModeView,
} from './schema.ts'

interface InstallationRoutesOptions {
  /** Called per request, because some facts are known only after the listeners are open. */
  describe(): Omit<InstallationView, 'object'>
  serviceMode: { current: ServiceMode }
  queueAdmin: Pick<QueueAdmin, 'switchMode'>
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
