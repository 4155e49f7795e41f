/** Sends a test alert by every channel that is configured. Called by the API. */
import type { Clock } from '../../lib/clock.ts'
import { type IdSource, wireId } from '../../lib/ids.ts'
import { TEST_KIND } from './message.ts'
import { mailOperators, NO_SENDER, type OperatorMailOptions } from './operator-mail.ts'
import type { AlertWebhook, ChannelAnswer } from './webhook.ts'

export interface TestedChannel extends ChannelAnswer {
  channel: 'webhook' | 'email'
  /** Operator to whom the email goes; null for a webhook, and without a sender. */
  to: string | null
}

export interface ChannelTestOptions {
  /** Undefined when none is configured. */
  webhook: AlertWebhook | undefined
  mail: OperatorMailOptions
  clock: Clock
  newId: IdSource
}

const TEXT = 'A test of the alerts was asked for. Nothing needs attention.'

/** @returns what became of the alert in each channel */
export async function testChannels({
  webhook,
  mail,
  clock,
  newId,
}: ChannelTestOptions): Promise<TestedChannel[]> {
  const now = clock.now()
  const id = wireId('alr', newId(now))
  const [told, mailed] = await Promise.all([
    webhook?.send({
      ...{ id, event: 'test', kind: TEST_KIND, provider: '', sourceIp: '', domain: '', text: TEXT },
      ...{ since: now, endedAt: null, madeAt: now },
    }),
    mailOperators(mail, { subject: 'Mailhorn: test of the alerts', text: `${TEXT}\n`, name: `test ${id}` }),
  ])
  const emails = mailed?.map(({ email, fault }): TestedChannel => {
    const answer = fault ?? 'queued for delivery'
    return { channel: 'email', to: email, isTaken: fault === undefined, answer }
  })
  return [
    ...(told ? [{ channel: 'webhook' as const, to: null, ...told }] : []),
    ...(emails ?? [{ channel: 'email' as const, to: null, isTaken: false, answer: NO_SENDER }]),
  ]
}
