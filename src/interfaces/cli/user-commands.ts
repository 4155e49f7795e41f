/** `mailhorn user …` manages users of the dashboard, and `mailhorn account delete` deletes an account. */
import { parseWireId, wireId } from '../../lib/ids.ts'
import { findAccount, listUsers } from '../../resources/accounts/user-rows.ts'
import { timestamp } from '../api/schema/timestamp.ts'
import { type CliCommand, type CommandInput, textOf } from './command.ts'
import { CommandError, printable, table, UsageError } from './control/result.ts'

const PASSWORD_OPTION = { 'password-stdin': { type: 'boolean' } } as const
const PASSWORD_DETAILS = `  --password-stdin   Read the password from the first line of standard input. Without it, a password is
                     generated and shown once.`

export const userCliCommands: CliCommand[] = [
  {
    name: 'user list',
    usage: '',
    summary: 'List users',
    async run({ open }) {
      const { db } = await open()
      const users = await listUsers(db)
      return {
        json: {
          users: users.map(({ id, email, operator, accountId, account, createdAt }) => ({
            id: wireId('usr', id),
            address: email,
            operator: operator === 1,
            account_id: wireId('acc', accountId),
            account,
            created_at: timestamp(createdAt),
          })),
        },
        text: table(
          ['ADDRESS', 'OPERATOR', 'ACCOUNT', 'ACCOUNT ID', 'CREATED'],
          users.map(({ email, operator, accountId, account, createdAt }) => [
            printable(email),
            operator === 1 ? 'yes' : 'no',
            printable(account),
            wireId('acc', accountId),
            timestamp(createdAt).slice(0, 10),
          ]),
        ),
      }
    },
  },
  {
    name: 'user create',
    usage: '<address> [--operator] [--account <id> | --new-account <name>] [--password-stdin]',
    summary: 'Create a user',
    details: `  --operator         Grant operator rights for the whole installation.
  --account <id>     The account; required if there is more than one.
  --new-account <n>  Create an account with this name for the user.
${PASSWORD_DETAILS}`,
    options: {
      operator: { type: 'boolean' },
      account: { type: 'string' },
      'new-account': { type: 'string' },
      ...PASSWORD_OPTION,
    },
    positionals: { min: 1, max: 1 },
    async run(input) {
      const { values, positionals, open } = input
      if (values.account !== undefined && values['new-account'] !== undefined)
        throw new UsageError('--account and --new-account cannot be combined')
      const password = await passwordOf(input)
      const { change } = await open()
      const created = await change('user.create', {
        address: positionals[0]!,
        operator: values.operator === true,
        account_id: textOf(values.account),
        new_account: textOf(values['new-account']),
        password,
      })
      const who = `${created.operator ? 'Operator' : 'User'} ${created.address} was created`
      return { json: created, text: withPassword(who, created.password) }
    },
  },
  {
    name: 'user password',
    usage: '<address> [--password-stdin]',
    summary: 'Reset the password of a user and end all their sessions',
    details: PASSWORD_DETAILS,
    options: PASSWORD_OPTION,
    positionals: { min: 1, max: 1 },
    async run(input) {
      const password = await passwordOf(input)
      const { change } = await input.open()
      const reset = await change('user.reset_password', { address: input.positionals[0]!, password })
      const ended = `${reset.ended_sessions} ${reset.ended_sessions === 1 ? 'session was' : 'sessions were'} ended`
      return {
        json: reset,
        text: withPassword(`The password of ${reset.address} was reset; ${ended}`, reset.password),
      }
    },
  },
  {
    name: 'account delete',
    usage: '<id> [--name <name>]',
    summary: 'Delete an account with all its data',
    details: `  --name <name>      The name of the account, which confirms the deletion; without it, the program asks.
  \`mailhorn user list\` shows the ids of accounts. An account with an operator cannot be deleted.`,
    options: { name: { type: 'string' } },
    positionals: { min: 1, max: 1 },
    async run({ values, positionals: [id], open, ask }) {
      const { db, change } = await open()
      const accountId = parseWireId('acc', id!)
      const account = accountId && (await findAccount(db, accountId))
      if (!account) throw new CommandError(`Account ${id} not found.`)
      const name =
        textOf(values.name) ?? (await ask(`Type the name of the account to delete it (${account.name}):`))
      if (name !== account.name)
        throw new CommandError(
          `The name of the account is "${printable(account.name)}". Nothing was deleted.`,
        )
      const deleted = await change('account.delete', { account_id: id! })
      const text = `Account ${printable(name)} was deleted. Its data is removed in the background while the service runs.`
      return { json: deleted, text }
    },
  },
]

/**
 * Returns null if a password is to be generated.
 * @throws CommandError
 */
async function passwordOf({ values, readInput }: CommandInput): Promise<string | null> {
  if (values['password-stdin'] !== true) return null
  const [line = ''] = (await readInput()).split(/\r?\n/)
  if (line === '') throw new CommandError('Standard input contains no password.')
  return line
}

function withPassword(sentence: string, password: string | null): string {
  return password === null ? `${sentence}.` : `${sentence}.\nPassword (shown only once): ${password}`
}
