/** Sends a test alert by every channel that is configured. Called by the API. */
import type { Clock } from '../../lib/clock.ts'
import { type IdSource, wireId } from '../../lib/ids.ts'
import { TEST_KIND } from './message.ts'
import { listOperators, mailOperators, NO_SENDER, type OperatorMailOptions } from './operator-mail.ts'
import type { AlertRelay } from './relay.ts'
import type { AlertWebhook, ChannelAnswer } from './webhook.ts'

export interface TestedChannel extends ChannelAnswer {
  channel: 'webhook' | 'email' | 'smart_host'
  /** Operator to whom the email goes; null for a webhook, and without a sender. */
  to: string | null
}

export interface ChannelTestOptions {
  /** Undefined when none is configured. */
  webhook: AlertWebhook | undefined
  mail: OperatorMailOptions
  /** Undefined when no smart host is configured for alerts. */
  relay: AlertRelay | undefined
  clock: Clock
  newId: IdSource
}

const TEXT = 'A test of the alerts was asked for. Nothing needs attention.'

const SUBJECT = 'Mailhorn: test of the alerts'

/** @returns what became of the alert in each channel */
export async function testChannels(options: ChannelTestOptions): Promise<TestedChannel[]> {
  const { webhook, mail, clock, newId } = options
  const now = clock.now()
  const id = wireId('alr', newId(now))
  const [told, mailed, relayed] = await Promise.all([
    webhook?.send({
      ...{ id, event: 'test', kind: TEST_KIND, provider: '', sourceIp: '', domain: '', text: TEXT },
      ...{ since: now, endedAt: null, madeAt: now },
    }),
    mailOperators(mail, { subject: SUBJECT, text: `${TEXT}\n`, name: `test ${id}` }),
    testRelay(options, id),
  ])
  const emails = mailed?.map(({ email, fault }): TestedChannel => {
    const answer = fault ?? 'queued for delivery'
    return { channel: 'email', to: email, isTaken: fault === undefined, answer }
  })
  return [
    ...(told ? [{ channel: 'webhook' as const, to: null, ...told }] : []),
    ...(emails ?? [{ channel: 'email' as const, to: null, isTaken: false, answer: NO_SENDER }]),
    ...relayed,
  ]
}

async function testRelay({ relay, mail: { db, from } }: ChannelTestOptions, id: string) {
  if (!relay) return []
  const operators = await listOperators(db)
  return Promise.all(
    operators.map(async ({ email, to, fault = '' }): Promise<TestedChannel> => {
      const messageId = `<${id}@${from.domain}>`
      const answer = to
        ? await relay.send({ to, subject: SUBJECT, text: `${TEXT}\n`, messageId })
        : { isTaken: false, answer: fault }
      return { channel: 'smart_host', to: email, ...answer }
    }),
  )
}
