/** Serves `GET /emails/metrics`: events counted per period. */

import type { Clock } from '../../../lib/clock.ts'
import { type Id, idKey } from '../../../lib/ids.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import { isVisible } from '../../../resources/emails/visible.ts'
import { QUARTER_MS } from '../../../resources/events/metrics.ts'
import type { MetricsQuestion, MetricsReport } from '../../../resources/events/metrics-report.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { notFound } from '../api-error.ts'
import { boundDomain, mayTouch } from '../auth/bound-key.ts'
import { type Credential, ok, type Route } from '../route/route.ts'
import { timestamp } from '../schema/timestamp.ts'
import {
  type AskedMetrics,
  countsView,
  metricsQuery,
  metricsRowView,
  metricsSchema,
  readMetrics,
} from './metric-schema.ts'

interface EmailMetricsRoutesOptions {
  reader: { reportMetrics(question: MetricsQuestion): Promise<MetricsReport> }
  /** Emails that ended at or before this time are outside the retention window. */
  horizonOf: Plans['horizonOf']
  store: { db: Db; find: Find }
  clock: Clock
}

export function emailMetricsRoutes({ reader, horizonOf, store, clock }: EmailMetricsRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/emails/metrics',
      access: 'key',
      summary: 'Retrieve metrics of emails over a period',
      query: metricsQuery,
      replies: { 200: metricsSchema },
      async handle({ query, credential }) {
        const { accountId } = credential
        const question = readMetrics(query, clock.now())
        const horizon = await horizonOf(accountId)
        const domains = await domainsFor(store.find, credential, question)
        await requireEmails(store.find, credential, question, horizon)
        const to = Math.ceil(question.to / QUARTER_MS) * QUARTER_MS
        const oldest = Math.max(0, Math.ceil(horizon / QUARTER_MS) * QUARTER_MS)
        const from = Math.min(Math.max(Math.floor(question.from / QUARTER_MS) * QUARTER_MS, oldest), to)
        const { totals, rows } = await reader.reportMetrics({ ...question, accountId, domains, from, to })
        const { granularity, metrics, named, dimensions } = question
        const names = dimensions.includes('domain') ? await namesOf(store.db, accountId) : new Map()
        const nameOf = (id: Id) => names.get(idKey(id))
        return ok({
          object: 'metrics',
          start_date: timestamp(Math.min(from, question.to)),
          end_date: timestamp(question.to),
          ...{ metrics: named, dimensions, granularity },
          totals: countsView(totals, metrics),
          ...(dimensions.length > 0 && { data: rows.map(row => metricsRowView(row, question, nameOf)) }),
        })
      },
    },
  ]
}

/**
 * Returns the requested domains. A key that is bound to a domain may request no other.
 * @throws ApiError 404
 */
async function domainsFor(
  find: Find,
  credential: Credential,
  { domains }: AskedMetrics,
): Promise<Id[] | null> {
  const { accountId } = credential
  const bound = boundDomain(credential)
  if (domains === null && bound === null) return null
  if (domains === null) {
    const [own] = await find('domains', [{ accountId, name: bound! }], ['id'])
    return own ? [own.id] : []
  }
  const rows = await find(
    'domains',
    domains.map(id => ({ id, accountId })),
    ['name'],
  )
  if (rows.some(row => !row || (bound !== null && row.name !== bound))) throw notFound('Domain')
  return domains
}

/** @throws ApiError 404 */
async function requireEmails(find: Find, credential: Credential, { emails }: AskedMetrics, horizon: number) {
  const { accountId } = credential
  const keys = (emails ?? []).map(id => ({ accountId, id }))
  const rows = await find('emails', keys, ['sender', 'endedAt'])
  if (rows.some(row => !row || !isVisible(row, horizon) || !mayTouch(credential, row)))
    throw notFound('Email')
}

async function namesOf(db: Db, accountId: Id): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('accountId', '=', accountId)
    .execute()
  return new Map(rows.map(({ id, name }) => [idKey(id), name]))
}
