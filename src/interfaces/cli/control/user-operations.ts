/** Operations that create users and set their passwords. */
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { parseWireId, wireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import { HAS_OPERATOR } from '../../../pipeline/deletion/commands.ts'
import { foldAddress, parseMailbox } from '../../../protocols/smtp/address.ts'
import { listAccounts } from '../../../resources/accounts/account-rows.ts'
import { PASSWORD_LENGTH } from '../../../resources/accounts/password.ts'
import { DEFAULT_PLAN } from '../../../resources/accounts/plans.ts'
import { findAccount, findOnlyAccount } from '../../../resources/accounts/user-rows.ts'
import { type OperationContext, OperationRefused, operation } from './operation.ts'
import { printable } from './result.ts'

const name = lineText(100).min(1)
const password = z.string().max(PASSWORD_LENGTH.max).nullable()

export const userOperations = {
  /**
   * Creates a user in the given account, in a new one, or in the only one. Generates a password if none is
   * given.
   */
  'user.create': operation(
    z.object({
      address: z.string(),
      operator: z.boolean(),
      account_id: z.string().nullable(),
      new_account: name.nullable(),
      password,
    }),
    async (
      context,
      { address, operator, account_id: accountText, new_account: accountName, password: chosen },
    ) => {
      const { run, clock, newId, passwords } = context
      const email = readAddress(address)
      const text = passwordOf(chosen)
      const now = clock.now()
      const newAccount =
        accountName === null
          ? null
          : { id: newId(now), name: accountName, plan: DEFAULT_PLAN, createdAt: now, suspendedAt: null }
      const accountId = newAccount?.id ?? (await accountOf(context, accountText))
      const passwordHash = await passwords.hash(text)
      const flag = operator ? 1 : 0
      const user = { id: newId(now), accountId, email, passwordHash, operator: flag, createdAt: now } as const
      const result = await run('createUser', { user, newAccount })
      if (result === 'taken') throw new OperationRefused(`User ${email} already exists.`)
      if (result === 'no-account') throw new OperationRefused(`Account ${accountText} not found.`)
      return {
        id: wireId('usr', user.id),
        address: email,
        operator,
        account_id: wireId('acc', accountId),
        password: chosen === null ? text : null,
      }
    },
  ),

  /** Deletes an account with all its data, which is removed while the service runs. */
  'account.delete': operation(z.object({ account_id: z.string() }), async (context, { account_id: text }) => {
    const id = await accountOf(context, text)
    const result = await context.run('deleteAccount', { id, now: context.clock.now() })
    if (result === 'operator') throw new OperationRefused(HAS_OPERATOR)
    if (result === 'missing') throw new OperationRefused(`Account ${text} not found.`)
    return { account_id: text }
  }),

  /** Ends all sessions of the user. */
  'user.reset_password': operation(
    z.object({ address: z.string(), password }),
    async ({ run, passwords }, { address, password: chosen }) => {
      const email = readAddress(address)
      const text = passwordOf(chosen)
      const passwordHash = await passwords.hash(text)
      const ended = await run('resetPassword', { email, passwordHash })
      if (ended === undefined) throw new OperationRefused(`User ${email} not found.`)
      return { address: email, password: chosen === null ? text : null, ended_sessions: ended }
    },
  ),
}

/**
 * Finds the given account, or the only one.
 *
 * @throws OperationRefused
 */
export async function accountOf({ db }: Pick<OperationContext, 'db'>, text: string | null) {
  if (text === null) {
    const only = await findOnlyAccount(db)
    if (only) return only.id
    throw new OperationRefused(await noOnlyAccount(db))
  }
  const id = parseWireId('acc', text)
  if (!id || !(await findAccount(db, id))) throw new OperationRefused(`Account ${text} not found.`)
  return id
}

/** Number of accounts that a message names. */
const NAMED_MAX = 20

async function noOnlyAccount(db: OperationContext['db']): Promise<string> {
  const { total, rows } = await listAccounts(db, { limit: NAMED_MAX, offset: 0 })
  if (total === 0) return 'There is no account. Create one with `mailhorn user create --new-account`.'
  const names = rows.map(account => `\n  ${wireId('acc', account.id)}  ${printable(account.name)}`).join('')
  const rest = total > rows.length ? `\n  and ${total - rows.length} more (mailhorn user list)` : ''
  return `There is more than one account; specify the account with --account, one of:${names}${rest}`
}

function readAddress(text: string): string {
  const mailbox = parseMailbox(text)
  if ('fault' in mailbox) throw new OperationRefused(`The address ${mailbox.fault}.`)
  return foldAddress(mailbox.address)
}

/**
 * Generates a password if none is chosen.
 * @throws OperationRefused
 */
function passwordOf(chosen: string | null): string {
  const text = chosen ?? randomUUID()
  if (text.length >= PASSWORD_LENGTH.min) return text
  throw new OperationRefused(`A password must have at least ${PASSWORD_LENGTH.min} characters.`)
}
