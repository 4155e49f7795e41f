/** `mailhorn queue hold …` and what is like it: mail is kept in the queue, let go, given up. */

import { wireId } from '../../lib/ids.ts'
import { listActiveHolds } from '../../pipeline/queue/hold-rows.ts'
import type { QueueHoldRow } from '../../store/schema/steering.ts'
import type { CliCommand, CommandInput, Installation } from './command.ts'
import type { Selected } from './control/queue-operations.ts'
import { duration, isoTime, printable, table, UsageError } from './result.ts'

export const SELECTING = {
  domain: { type: 'string' },
  account: { type: 'string' },
  broadcast: { type: 'string' },
  email: { type: 'string' },
} as const
const USAGE = '[--domain <name>] [--account <id>] [--broadcast <id>] [--email <id>]'
const DETAILS = '  Meant is the mail of which all that is named is true; something must be named.'

export const holdCliCommands: CliCommand[] = [
  {
    name: 'queue holds',
    usage: '',
    summary: 'Lists what is held',
    async run({ open }) {
      const { db, clock } = await open()
      const holds = await listActiveHolds(db)
      return { json: holds.map(holdJson), text: holdsText(holds, clock.now()) }
    },
  },
  {
    name: 'queue hold',
    usage: `${USAGE} [--reason <text>]`,
    summary: 'Keeps mail in the queue, also what comes later, until it is released',
    details: `${DETAILS}\n  What is under way ends; the time that held mail has to be delivered stands still.`,
    options: { ...SELECTING, reason: { type: 'string' } },
    async run({ values, open }) {
      const mail = selectedIn(values)
      const { change } = await open()
      const reason = typeof values.reason === 'string' ? values.reason : null
      const held = await change('queue.hold', { mail, reason })
      return { json: held, text: held.is_new ? 'It is held.' : 'It was held already.' }
    },
  },
  {
    name: 'queue release',
    usage: USAGE,
    summary: 'Ends the hold that was put with the same words',
    options: SELECTING,
    async run({ values, open }) {
      const mail = selectedIn(values)
      const { change } = await open()
      return { json: await change('queue.release', { mail }), text: 'It is held no more.' }
    },
  },
  {
    name: 'queue cancel',
    usage: USAGE,
    summary: 'Gives up what waits or is held',
    details: `${DETAILS}\n  What is under way goes on; to stop everything, hold it first.`,
    options: SELECTING,
    async run({ values, open }) {
      const mail = selectedIn(values)
      const deliveries = await steerAll(await open(), 'cancel', mail)
      return { json: { deliveries }, text: `${counted(deliveries)} canceled.` }
    },
  },
]

/** @throws UsageError when nothing is named */
export function selectedIn(values: CommandInput['values']): Selected {
  const named = (option: keyof typeof SELECTING) =>
    typeof values[option] === 'string' ? values[option] : null
  const mail = {
    domain: named('domain'),
    account_id: named('account'),
    broadcast_id: named('broadcast'),
    email_id: named('email'),
  }
  if (Object.values(mail).every(value => value === null))
    throw new UsageError('name the mail by --domain, --account, --broadcast or --email')
  return mail
}

/** All of it, part after part. @returns the number of deliveries */
export async function steerAll(
  { change }: Pick<Installation, 'change'>,
  what: 'retry' | 'cancel',
  mail: Selected,
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
  return deliveries === 1 ? '1 delivery is' : `${deliveries} deliveries are`
}

function holdJson({ id, domain, accountId, broadcastId, emailId, reason, createdAt }: QueueHoldRow) {
  return {
    id: wireId('hld', id),
    domain,
    account_id: accountId && wireId('acc', accountId),
    broadcast_id: broadcastId && wireId('brd', broadcastId),
    email_id: emailId && wireId('eml', emailId),
    reason,
    created_at: isoTime(createdAt),
  }
}

function holdsText(holds: readonly QueueHoldRow[], now: number): string {
  if (holds.length === 0) return 'Nothing is held.'
  const rows = holds.map(hold => {
    const { domain, account_id: account, broadcast_id: broadcast, email_id: email } = holdJson(hold)
    const mail = [domain, account, broadcast, email].filter(part => part !== null).join(' ')
    return [mail, duration(now - hold.createdAt), printable(hold.reason ?? '')]
  })
  return table(['MAIL', 'FOR', 'REASON'], rows)
}
