/**
 * Entry of the query worker, which runs expensive queries apart from the main thread.
 *
 * In: calls, from `app/query-worker.ts`. Out: their results.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { type MessagePort, workerData } from 'node:worker_threads'
import { emailCsv } from '../interfaces/api/emails/csv.ts'
import { collectGarbageWhenIdle } from '../lib/idle-gc.ts'
import type { Id } from '../lib/ids.ts'
import { createSecretKeys } from '../lib/secret-keys.ts'
import { serveCalls } from '../lib/worker-rpc.ts'
import { listRecipients, type RecipientQuestion } from '../pipeline/broadcasts/broadcast-recipients.ts'
import { type ForecastQuestion, forecastRecipients } from '../pipeline/broadcasts/forecast.ts'
import { countByProvider, type ProviderQuestion } from '../pipeline/broadcasts/provider-results.ts'
import { rebuildMessage } from '../pipeline/delivery/message/rebuild.ts'
import { type DestinationQuestion, reportDestinations } from '../pipeline/queue/destination-report.ts'
import { createQueueStatsCache } from '../pipeline/queue/queue-stats-cache.ts'
import { type AccountContactsQuery, listAccountContacts } from '../resources/contacts/account-list.ts'
import { type ExportQuery, exportContacts } from '../resources/contacts/export.ts'
import type { SegmentFilter } from '../resources/contacts/filters.ts'
import type { CountedAudience } from '../resources/contacts/known-counts.ts'
import { type ContactQuery, countMembers, listContacts } from '../resources/contacts/list.ts'
import { type MetricsQuestion, reportMetrics } from '../resources/events/metrics-report.ts'
import { listRequests, type RequestQuery } from '../resources/request-log/list.ts'
import { createPacker } from '../resources/search/pack.ts'
import { createPacking } from '../resources/search/packing.ts'
import { createEmailReader, type EmailReader } from '../resources/search/reader.ts'
import { UNSEALED } from '../store/model/search-index.ts'
import { openStoreThread, type StoreThreadData } from '../store/opening/store-thread.ts'
import type { ServiceCommands } from './commands.ts'

export interface ReadingThreadData extends StoreThreadData {
  calls: MessagePort
  secret: Uint8Array
}

collectGarbageWhenIdle()

const data = workerData as ReadingThreadData
const thread = openStoreThread<ServiceCommands>('query', data)
const { clock, log, writer, db, find, blobs, snapshot, stack } = thread
const secrets = createSecretKeys(data.secret)

const packing = createPacking({
  packer: createPacker({ db, run: writer.run, pause: turn }),
  clock,
  onError: error =>
    log.warn(
      { event: 'search_index_failed', err: error },
      'The search index could not be updated; new emails are searched one by one',
    ),
})
stack.defer(packing.close)
writer.on(UNSEALED, accountIds => packing.note(accountIds as Id[]))
packing.note((await db.selectFrom('accounts').select('id').execute()).map(({ id }) => id))

const reader = createEmailReader({ snapshot })
const functions = {
  listEmails: reader.listEmails,
  async exportEmails(input: Parameters<EmailReader['readBatch']>[0]) {
    const { emails, next } = await reader.readBatch(input)
    return { csv: new Uint8Array(Buffer.from(emailCsv(emails))), next }
  },
  listContacts: (question: ContactQuery) => listContacts(db, clock.now(), question),
  listAccountContacts: (question: AccountContactsQuery) => listAccountContacts(db, clock.now(), question),
  listRecipients: (question: RecipientQuestion) => listRecipients(db, question),
  forecastRecipients: (question: ForecastQuestion) => forecastRecipients(db, clock, question),
  countByProvider: (question: ProviderQuestion) => countByProvider(db, clock, question),
  countMembers: ({ audience, filters }: { audience: CountedAudience; filters: readonly SegmentFilter[] }) =>
    countMembers(db, clock.now(), audience, filters),
  exportContacts: (question: ExportQuery) => exportContacts(db, clock.now(), question),
  listRequests: (query: RequestQuery) => listRequests(db, query),
  reportDestinations: (question: DestinationQuestion) => reportDestinations(db, question),
  viewQueue: createQueueStatsCache({
    db,
    clock,
    onError: error =>
      log.warn({ event: 'queue_stats_failed', err: error }, 'Queue statistics could not be computed'),
  }),
  reportMetrics: (question: MetricsQuestion) => snapshot(db => reportMetrics(db, question)),
  async rebuildMessage(delivery: Parameters<typeof rebuildMessage>[1]) {
    const message = await rebuildMessage({ db, find, blobs, secrets }, delivery)
    if (!message) return undefined
    const { fidelity, head, body } = message
    return { fidelity, head: new Uint8Array(head), body: new Uint8Array(body) }
  },
}
/** Functions of the worker. */
export type ReadingFunctions = typeof functions

serveCalls(data.calls, functions)
stack.defer(() => data.calls.close())
thread.ready()
