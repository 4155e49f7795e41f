/** `mailhorn queue hold`, `release`, `cancel` and `holds`. */

import { listActiveHolds } from '../../pipeline/queue/hold-rows.ts'
import type { QueueHoldRow } from '../../store/model/schema/steering.ts'
import { holdView } from '../api/queue/schema.ts'
import { type CliCommand, type CommandInput, type Installation, textOf } from './command.ts'
import type { Selected } from './control/queue-operations.ts'
import { duration, printable, table, UsageError } from './control/result.ts'

export const SELECTING = {
  domain: { type: 'string' },
  account: { type: 'string' },
  broadcast: { type: 'string' },
  email: { type: 'string' },
} as const
const USAGE = '[--domain <name>] [--account <id>] [--broadcast <id>] [--email <id>]'
const DETAILS = '  Selects all mail that matches every given option; at least one is required.'

export const holdCliCommands: CliCommand[] = [
  {
    name: 'queue holds',
    usage: '',
    summary: 'List holds',
    async run({ open }) {
      const { db, clock } = await open()
      const holds = await listActiveHolds(db)
      return { json: holds.map(holdJson), text: holdsText(holds, clock.now()) }
    },
  },
  {
    name: 'queue hold',
    usage: `${USAGE} [--reason <text>]`,
    summary: 'Hold current and future deliveries in the queue until they are released',
    details: `${DETAILS}\n  Deliveries in progress are completed. Time on hold does not count towards expiry.`,
    options: { ...SELECTING, reason: { type: 'string' } },
    async run({ values, open }) {
      const mail = selectedIn(values)
      const { change } = await open()
      const held = await change('queue.hold', { mail, reason: textOf(values.reason) })
      return {
        json: held,
        text: held.is_new
          ? 'Matching mail is held, including mail that arrives later.'
          : 'This hold already exists.',
      }
    },
  },
  {
    name: 'queue release',
    usage: USAGE,
    summary: 'Release the hold that was created with the same options',
    options: SELECTING,
    async run({ values, open }) {
      const mail = selectedIn(values)
      const { change } = await open()
      return { json: await change('queue.release', { mail }), text: 'The hold was released.' }
    },
  },
  {
    name: 'queue cancel',
    usage: USAGE,
    summary: 'Cancel queued and held deliveries',
    details: `${DETAILS}\n  Deliveries in progress continue; to stop all deliveries, hold them first.`,
    options: SELECTING,
    async run({ values, open }) {
      const mail = selectedIn(values)
      const deliveries = await steerAll(await open(), 'cancel', mail)
      return { json: { deliveries }, text: `${counted(deliveries)} canceled.` }
    },
  },
]

/** @throws UsageError if no selection is given */
export function selectedIn(values: CommandInput['values']): Selected {
  const mail = {
    domain: textOf(values.domain),
    account_id: textOf(values.account),
    broadcast_id: textOf(values.broadcast),
    email_id: textOf(values.email),
  }
  if (Object.values(mail).every(value => value === null))
    throw new UsageError('specify --domain, --account, --broadcast or --email')
  return mail
}

/**
 * Works through all deliveries, in batches.
 *
 * @param mail null to retry all deferred mail
 * @returns the number of deliveries
 */
export async function steerAll(
  { change }: Pick<Installation, 'change'>,
  what: 'retry' | 'cancel',
  mail: Selected | null,
): Promise<number> {
  let sum = 0
  for (let hasMore = true; hasMore; ) {
    const part = await change('queue.steer', { what, mail })
    sum += part.deliveries
    hasMore = part.has_more
  }
  return sum
}

function counted(deliveries: number): string {
  return deliveries === 1 ? '1 delivery' : `${deliveries} deliveries`
}

function holdJson(hold: QueueHoldRow) {
  const { object: _, ...shown } = holdView(hold)
  return shown
}

function holdsText(holds: readonly QueueHoldRow[], now: number): string {
  if (holds.length === 0) return 'There are no holds.'
  const rows = holds.map(hold => {
    const { domain, account_id: account, broadcast_id: broadcast, email_id: email } = holdJson(hold)
    const mail = [domain, account, broadcast, email].filter(part => part !== null).join(' ')
    return [mail, duration(now - hold.createdAt), printable(hold.reason ?? '')]
  })
  return table(['SELECTION', 'AGE', 'REASON'], rows)
}
