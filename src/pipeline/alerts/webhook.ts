/**
 * Sends alerts to the webhook of operators. Messages stay in the database until the receiver takes them, so
 * that a restart loses none; a message that is sent again has the same id.
 */
import type { Clock } from '../../lib/clock.ts'
import { wireId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { OutboundFault } from '../../protocols/http-client/fault.ts'
import type { Outbound } from '../../protocols/http-client/outbound.ts'
import type { noticeCommands } from '../../resources/alerts/notices.ts'
import type { Run } from '../../store/model/command.ts'
import type { AlertNoticeRow } from '../../store/model/schema/alerts.ts'
import { ATTEMPT_MS_MAX, isSuccess, postWebhook, storedText } from '../webhooks/attempt.ts'
import { retryDelay } from '../webhooks/retry.ts'
import { signedHeaders } from '../webhooks/signature.ts'
import { type AlertFormat, type AlertMessage, type AlertOrigin, bodyOfAlert } from './message.ts'

/** Reply of the receiver of an alert. */
export interface ChannelAnswer {
  /** Whether it took the alert. */
  isTaken: boolean
  /** Its status and the beginning of its reply, or why there is none. */
  answer: string
}

export interface AlertWebhook {
  send(message: AlertMessage): Promise<ChannelAnswer>
}

interface AlertWebhookOptions {
  url: string
  format: AlertFormat
  /** Null: requests are not signed. */
  secret: string | null
  installation: AlertOrigin
  outbound: Pick<Outbound, 'send'>
  clock: Clock
}

const ANSWER_CHARACTERS_MAX = 200

export function createAlertWebhook({
  url,
  format,
  secret,
  installation,
  outbound,
  clock,
}: AlertWebhookOptions): AlertWebhook {
  return {
    async send(message) {
      const body = bodyOfAlert(message, format, installation)
      const { id } = message
      const headers =
        secret === null
          ? { 'svc-id': id, 'webhook-id': id }
          : signedHeaders({ id, body, at: clock.now() }, { secrets: [secret], isStandard: true })
      const reply = await postWebhook(outbound, { url, headers, body })
      if (reply instanceof OutboundFault) return { isTaken: false, answer: reply.message }
      const text = storedText(reply.body).trim().slice(0, ANSWER_CHARACTERS_MAX)
      return { isTaken: isSuccess(reply), answer: [`HTTP ${reply.status}`, text].filter(Boolean).join(': ') }
    },
  }
}

interface NoticesOptions {
  webhook: AlertWebhook
  run: Run<typeof noticeCommands>
  repeatMs: number
  clock: Clock
  /** Returns a number from 0 to 1. */
  random(): number
  log: Log
}

const CLAIM_MAX = 5
/** All messages of a claim can take their whole time. */
const LEASE_MS = (CLAIM_MAX + 1) * ATTEMPT_MS_MAX

/** Sends all alerts that are due. Yields after each. */
export async function* sendAlertNotices(options: NoticesOptions): AsyncGenerator<void> {
  const { run, repeatMs, clock } = options
  for (let count = CLAIM_MAX; count === CLAIM_MAX; ) {
    const now = clock.now()
    const notices = await run('claimAlertNotices', {
      ...{ now, until: now + LEASE_MS, repeatMs, limit: CLAIM_MAX },
    })
    count = notices.length
    for (const notice of notices) {
      await sendNotice(options, notice)
      yield
    }
  }
}

async function sendNotice(
  { webhook, run, clock, random, log }: NoticesOptions,
  notice: AlertNoticeRow,
): Promise<void> {
  const { id, kind, event, attempts } = notice
  const { isTaken, answer } = await webhook.send({ ...notice, id: wireId('alr', id) })
  const delayMs = isTaken ? undefined : retryDelay(attempts, random)
  const dueAt = delayMs === undefined ? null : clock.now() + delayMs
  await run('settleAlertNotice', { id, attempts, dueAt })
  if (isTaken) return
  const facts = { kind, about: notice.provider, change: event, attempt: attempts, answer }
  if (dueAt === null)
    log.error(
      { event: 'alert_webhook_given_up', ...facts },
      'An alert could not be sent to `alerts.webhook_url`, and is not tried again',
    )
  else
    log.warn(
      { event: 'alert_webhook_failed', ...facts, retry_at: new Date(dueAt).toISOString() },
      'An alert could not be sent to `alerts.webhook_url`; it is tried again',
    )
}
