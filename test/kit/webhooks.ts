/** Webhooks in a store, and a dispatcher that serves them, with endpoints that do what a test tells them. */

import type { Id } from '../../src/lib/ids.ts'
import { createSecretKeys } from '../../src/lib/secret-keys.ts'
import { WEBHOOK_CHANGED, webhookCommands } from '../../src/pipeline/webhooks/commands.ts'
import { webhookDispatchCommands } from '../../src/pipeline/webhooks/dispatch-commands.ts'
import { Dispatcher } from '../../src/pipeline/webhooks/dispatcher.ts'
import { PROBE_INTERVAL_MS } from '../../src/pipeline/webhooks/probes.ts'
import { createWebhooks } from '../../src/pipeline/webhooks/webhooks.ts'
import type { OutboundReply, OutboundRequest } from '../../src/protocols/http-client/exchange.ts'
import type { OutboundFault } from '../../src/protocols/http-client/fault.ts'
import { WEBHOOK_DUE } from '../../src/resources/events/outbox.ts'
import { recordEvents } from '../../src/resources/events/record.ts'
import type { EventType } from '../../src/resources/events/types.ts'
import { command } from '../../src/store/model/command.ts'
import { newId } from './mail.ts'
import { createManualClock } from './manual-clock.ts'
import { openLocalStore, STORE_EPOCH } from './store.ts'
import type { TestContext } from './suite.ts'
import { until } from './until.ts'

/** A status, or all that is said. */
type Said = number | OutboundReply | OutboundFault
export type Answer = (request: OutboundRequest) => Promise<Said> | Said

const commands = {
  ...webhookCommands,
  ...webhookDispatchCommands,
  /** So many events of a domain, in one transaction. */
  record: command<{ accountId: Id; type: EventType; count: number; at: number }, void>(
    (tx, { accountId, type, count, at }) =>
      recordEvents(
        tx,
        Array.from({ length: count }, () => ({
          ...{ accountId, subjectId: newId(at), type, recipient: null, data: { object: 'contact' } },
          ...{ at, origin: null },
        })),
      ),
  ),
  recordAndFail: command<{ accountId: Id; at: number }, void>(async (tx, { accountId, at }) => {
    await tx.db.updateTable('webhooks').set({ enabled: 0 }).execute()
    await tx.subscribersChanged()
    await recordEvents(tx, [
      {
        ...{ accountId, subjectId: newId(at), type: 'contact.created', recipient: null, data: {} },
        ...{ at, origin: null },
      },
    ])
    throw new Error('this one fails')
  }),
}

export const ACCOUNT = newId(STORE_EPOCH)
export const SECRETS = createSecretKeys(new Uint8Array(32))

export interface Row {
  state: number
  success: number
  attempts: number
  next_at: number
  lease_until: number | null
  response_status: number | null
  response_body: string | null
  error: string | null
  event_id: Uint8Array
}

export async function openTelling(t: TestContext) {
  const store = await t.using(openLocalStore(commands))
  const clock = createManualClock(STORE_EPOCH)
  const rules = { allowInsecureLoopback: false, allowLoopback: false, isStandardByDefault: false }
  const requests: OutboundRequest[] = []
  /** Answer of endpoints to test events, which no dispatcher sends. */
  const tests: { answer: Answer } = { answer: () => 200 }
  const attempts = { random: () => 0.5, mailHost: 'mailhorn.test' }
  const outboundOf = (answer: Answer) => ({
    async send(request: OutboundRequest) {
      requests.push(request)
      const said = await answer(request)
      return typeof said === 'number' ? reply(said) : said
    },
  })
  const webhooks = createWebhooks({
    ...{ ...store, clock, newId, secrets: SECRETS, ...rules, ...attempts },
    outbound: outboundOf(request => tests.answer(request)),
  })
  let pendingCount = 0
  const run = ((name, input) => {
    pendingCount++
    return store.run(name, input).finally(() => pendingCount--)
  }) as typeof store.run
  const errors: unknown[] = []
  const start = (answer: Answer) => {
    const dispatcher = new Dispatcher({
      run,
      ...{ clock, secrets: SECRETS, ...attempts, outbound: outboundOf(answer) },
      onError: error => errors.push(error),
    })
    store.on(WEBHOOK_DUE, ids => {
      for (const id of ids) dispatcher.note(id as Id, clock.now())
    })
    store.on(WEBHOOK_CHANGED, ids => {
      for (const id of ids) dispatcher.changed(id as Id)
    })
    t.after(() => {
      const stopped = dispatcher.stop(0)
      clock.advance(0)
      return stopped
    })
    return dispatcher
  }
  const rows = () => store.rows<Row>('select * from webhook_deliveries order by id')
  const record = (count = 1, type: EventType = 'contact.created', accountId = ACCOUNT) =>
    store.run('record', { accountId, type, count, at: clock.now() })
  const make = async (url = 'https://hooks.example/', accountId = ACCOUNT) => {
    const made = await webhooks.create(accountId, { url, events: ['contact.created'], isStandard: false })
    if (typeof made === 'string') throw new Error(made)
    return made.webhook
  }
  /** Waits until nothing is under way; what failed waits for its time. */
  const rest = () =>
    until(() => rows().every(({ lease_until, attempts }) => lease_until === null && attempts > 0))
  /** Waits while those that fail have their turns; the store takes no time. */
  const pass = (done: () => boolean) =>
    until(() => {
      if (done()) return true
      if (pendingCount === 0) clock.advance(PROBE_INTERVAL_MS)
      return false
    })
  return { ...store, pass, clock, webhooks, tests, requests, errors, start, all: rows, record, make, rest }
}

export function reply(status: number, said = 'said'): OutboundReply {
  return { status, headers: {}, body: Buffer.from(said) }
}
