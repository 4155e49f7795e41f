/** Serves the usage of the account in the shape of the SDKs. */
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import { nextUtcMonth } from '../../../lib/periods.ts'
import type { Accounts, PeriodUsage, Usage } from '../../../resources/accounts/accounts.ts'
import { countHoldings, type Holdings } from '../../../resources/usage/usage.ts'
import type { Db } from '../../../store/model/schema.ts'
import { orNotFound } from '../api-error.ts'
import { ok, type Route } from '../route/route.ts'
import { timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

interface UsageRoutesOptions {
  accounts: Pick<Accounts, 'usage'>
  db: Db
  clock: Clock
  /** Requests per second and account; 0 means no limit. */
  requestsPerSecond: number
}

/** Stands for "no limit" where the SDKs read a number. It fits into 32 bits, which some of them use. */
const NO_LIMIT = 2_147_483_647

const limitSchema = z.int().meta({ description: `${NO_LIMIT} means no limit.` })
const periodSchema = z.object({
  used: z.int(),
  limit: limitSchema,
  sent: z.int().meta({ description: 'Recipients of accepted emails, which count in the quota.' }),
  received: z.int().meta({ description: 'Received emails, which do not count in the quota.' }),
  resets_at: timeSchema,
})
const countSchema = z.object({ used: z.int(), limit: limitSchema })
const unlimitedSchema = z.object({ used: z.int(), limit: z.null() })
const usageSchema = z
  .object({
    object: z.literal('usage'),
    emails: z.object({ daily: periodSchema.extend({ limit: z.int().nullable() }), monthly: periodSchema }),
    contacts: countSchema,
    segments: unlimitedSchema,
    broadcasts: unlimitedSchema,
    domains: unlimitedSchema,
    ai_credits: countSchema.extend({ next_increase_at: z.null() }),
    automation_runs: countSchema.extend({ resets_at: timeSchema }),
    rate_limit: z.object({ limit: limitSchema, duration: z.string() }),
  })
  .meta({ id: 'Usage' })

export function usageRoutes({ accounts, db, clock, requestsPerSecond }: UsageRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/usage',
      access: 'session',
      summary: 'Retrieve quotas, their usage and the size of the account',
      replies: { 200: usageSchema },
      async handle({ credential: { accountId } }) {
        const usage = orNotFound(await accounts.usage(accountId), 'Account')
        const now = clock.now()
        const holdings = await countHoldings(db, accountId, now)
        return ok({ ...usageView(usage, holdings, now), rate_limit: rateView(requestsPerSecond) })
      },
    },
  ]
}

function usageView(
  { daily, monthly }: Usage,
  holdings: Holdings,
  now: number,
): Omit<z.output<typeof usageSchema>, 'rate_limit'> {
  const { contactCount, audienceCount, broadcastCount, domainCount } = holdings
  return {
    object: 'usage',
    emails: {
      daily: { ...periodView(daily, holdings.receivedToday), limit: daily.limit },
      monthly: periodView(monthly, holdings.receivedThisMonth),
    },
    contacts: { used: contactCount, limit: NO_LIMIT },
    segments: { used: audienceCount, limit: null },
    broadcasts: { used: broadcastCount, limit: null },
    domains: { used: domainCount, limit: null },
    // Mailhorn has neither AI features nor automations
    ai_credits: { used: 0, limit: 0, next_increase_at: null },
    automation_runs: { used: 0, limit: 0, resets_at: timestamp(nextUtcMonth(now)) },
  }
}

function periodView({ used, limit, resetsAt }: PeriodUsage, received: number) {
  return { used, limit: limit ?? NO_LIMIT, sent: used, received, resets_at: timestamp(resetsAt) }
}

function rateView(requestsPerSecond: number) {
  return { limit: requestsPerSecond === 0 ? NO_LIMIT : requestsPerSecond, duration: '1s' }
}
