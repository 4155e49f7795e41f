/** Schemas of accounts and their usage. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import { foldAddress, parseAddress } from '../../../protocols/smtp/address.ts'
import type { AccountWithOwner } from '../../../resources/accounts/account-rows.ts'
import type { AccountChange, NewAccount, PeriodUsage, Usage } from '../../../resources/accounts/accounts.ts'
import { DEFAULT_PLAN } from '../../../resources/accounts/plans.ts'
import type { AccountRow } from '../../../store/model/schema.ts'
import { invalidField } from '../api-error.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const name = lineText(100).min(1)
const [plan, ownerEmail] = [z.string(), z.string()]
const emptyMeansAbsent = ['name', 'owner_email'] as const
export const newAccountSchema = z.object({ name, plan: plan.default(DEFAULT_PLAN), owner_email: ownerEmail })
const suspended = z.boolean().meta({ description: 'Whether new email of the account is refused.' })
export const accountChangeSchema = z.object({ name, plan, owner_email: ownerEmail, suspended }).partial()
const readNew = bodyReader(newAccountSchema, { emptyMeansAbsent })
const readChange = bodyReader(accountChangeSchema, { emptyMeansAbsent })

export const accountSchema = z.object({
  object: z.literal('account'),
  id: idSchema('acc'),
  name: z.string(),
  plan: z.string(),
  created_at: timeSchema,
})
export const ownedAccountSchema = accountSchema.extend({
  owner_email: z.string().nullable(),
  suspended_at: timeSchema
    .nullable()
    .meta({ description: 'Time since which new email of the account is refused; null if it is not.' }),
  paused: z.object({ since: timeSchema, reason: z.string().nullable() }).nullable().meta({
    description: 'All mail of the account is held; `POST /queue/release` with its `account_id` releases it.',
  }),
})
/** Reply that contains the generated password of the owner. No other reply contains it. */
export const accountWithPasswordSchema = ownedAccountSchema.extend({ password: z.string() })

const periodSchema = z.object({
  used: z.int(),
  limit: z.int().nullable(),
  remaining: z.int().nullable(),
  resets_at: timeSchema,
})
export const usageSchema = z.object({
  object: z.literal('usage'),
  plan: z.string(),
  retention_days: z.int().nullable(),
  emails: z.object({ daily: periodSchema, monthly: periodSchema }),
})

/**
 * @param plans known plans by name
 * @throws ApiError 422
 */
export function readNewAccount(body: unknown, plans: ReadonlyMap<string, unknown>): NewAccount {
  const account = readNew(body)
  requirePlan(account.plan, plans)
  return { ...account, ownerEmail: readOwner(account.ownerEmail) }
}

/**
 * @param plans known plans by name
 * @throws ApiError 422
 */
export function readAccountChange(body: unknown, plans: ReadonlyMap<string, unknown>): AccountChange {
  const { ownerEmail, ...change } = readChange(body)
  if (change.plan !== undefined) requirePlan(change.plan, plans)
  return ownerEmail === undefined ? change : { ...change, ownerEmail: readOwner(ownerEmail) }
}

export function ownerTaken() {
  return invalidField('owner_email', 'A user with this `owner_email` already exists.')
}

export function accountView({ id, name, plan, createdAt }: AccountRow): z.output<typeof accountSchema> {
  return { object: 'account', id: wireId('acc', id), name, plan, created_at: timestamp(createdAt) }
}

export function ownedAccountView(account: AccountWithOwner): z.output<typeof ownedAccountSchema> {
  const { ownerEmail, suspendedAt, pausedAt, pauseReason } = account
  const paused = pausedAt === null ? null : { since: timestamp(pausedAt), reason: pauseReason }
  return { ...accountView(account), owner_email: ownerEmail, suspended_at: timestamp(suspendedAt), paused }
}

export function usageView({ planName, plan, daily, monthly }: Usage): z.output<typeof usageSchema> {
  return {
    object: 'usage',
    plan: planName,
    retention_days: plan.retentionDays,
    emails: { daily: periodView(daily), monthly: periodView(monthly) },
  }
}

function periodView({ used, limit, resetsAt }: PeriodUsage) {
  return {
    used,
    limit,
    remaining: limit === null ? null : Math.max(0, limit - used),
    resets_at: timestamp(resetsAt),
  }
}

function requirePlan(plan: string, plans: ReadonlyMap<string, unknown>): void {
  if (!plans.has(plan))
    throw invalidField(
      'plan',
      `\`plan\` must be one of ${[...plans.keys()].join(', ')}; got ${shownValue(plan)}.`,
    )
}

function readOwner(text: string): string {
  const parsed = parseAddress(text)
  if ('fault' in parsed) throw invalidField('owner_email', `The address in \`owner_email\` ${parsed.fault}.`)
  return foldAddress(parsed.address)
}
