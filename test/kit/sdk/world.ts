/** A running service with a webhook, and a client of the newest resend package that may do everything. */
import { Resend } from 'resend'
import type { TestContext } from '../suite.ts'
import { until } from '../until.ts'
import { startMailhornWithWebhooks, startSink } from '../webhook-sink.ts'
import type { ReceivedWebhook, SdkWorld } from './calls.ts'

const HOUR_MS = 3_600_000
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

export async function openSdkWorld(t: TestContext): Promise<SdkWorld> {
  const mailhorn = await t.using(startMailhornWithWebhooks())
  await mailhorn.verifiedDomain('here.example', 'eu-west-1')
  const session = await mailhorn.signIn()
  const queries = { name: 'everything', scopes: ['full'] }
  const { body: token } = await mailhorn.call('POST', '/access-tokens', { session, body: queries })
  const credential: string = token.token
  const made = new Map<string, string>()
  const make: SdkWorld['make'] = async (path, body) => {
    const answer = await mailhorn.call('POST', path, { session: credential, body })
    if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  let received: Promise<ReceivedWebhook> | undefined
  const receive = async () => {
    const sink = await startSink(t)
    const webhook = await make('/webhooks', {
      url: sink.url,
      events: ['email.sent'],
      standard_webhooks: true,
    })
    await make('/emails', {
      from: 'ann@here.example',
      to: 'delivered@simulator.test',
      subject: 's',
      text: 't',
    })
    const [request] = await until(() => (sink.requests.length > 0 ? sink.requests : undefined))
    const body = `${request!.body}`
    return {
      ...{
        webhookId: webhook.id,
        eventId: JSON.parse(body).id,
        secret: String(webhook.signing_secret),
        body,
      },
      headers: request!.headers as Record<string, string>,
    }
  }
  return {
    ...{ mailhorn, make, credential, resend: new Resend(credential, { baseUrl: mailhorn.baseUrl }) },
    receivedEvent: () => (received ??= receive()),
    fresh(word) {
      const name = `${word}${made.size + 1}`
      made.set(name, word)
      return name
    },
    plain: text =>
      [...made]
        .reduceRight((words, [name, word]) => words.replaceAll(name, word), text.replace(UUID, '…'))
        .replace(/\s+/g, ' '),
    inHours: hours => new Date(mailhorn.clock.now() + hours * HOUR_MS).toISOString(),
  }
}
