/** `mailhorn user …`: who can sign in. */
import { wireId } from '../../lib/ids.ts'
import { listUsers } from '../../resources/accounts/user-rows.ts'
import type { CliCommand, CommandInput } from './command.ts'
import { CommandError, isoTime, printable, table, UsageError } from './result.ts'

const PASSWORD_OPTION = { 'password-stdin': { type: 'boolean' } } as const
const PASSWORD_DETAILS = `  --password-stdin   Takes the password from the first line of the standard input. Without it one is
                     made and shown, this once.`

export const userCliCommands: CliCommand[] = [
  {
    name: 'user list',
    usage: '',
    summary: 'Shows everybody who can sign in',
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
            created_at: isoTime(createdAt),
          })),
        },
        text: table(
          ['ADDRESS', 'OPERATOR', 'ACCOUNT', 'ACCOUNT ID', 'SINCE'],
          users.map(({ email, operator, accountId, account, createdAt }) => [
            printable(email),
            operator === 1 ? 'yes' : 'no',
            printable(account),
            wireId('acc', accountId),
            isoTime(createdAt).slice(0, 10),
          ]),
        ),
      }
    },
  },
  {
    name: 'user create',
    usage: '<address> [--operator] [--account <id> | --new-account <name>] [--password-stdin]',
    summary: 'Lets somebody sign in',
    details: `  --operator         May steer the whole installation, not only the account.
  --account <id>     The account; needed where there are several.
  --new-account <n>  Makes an account of this name for the user.
${PASSWORD_DETAILS}`,
    options: {
      operator: { type: 'boolean' },
      account: { type: 'string' },
      'new-account': { type: 'string' },
      ...PASSWORD_OPTION,
    },
    positionals: { least: 1, most: 1 },
    async run(input) {
      const { values, positionals, open } = input
      if (values.account !== undefined && values['new-account'] !== undefined)
        throw new UsageError('--account and --new-account cannot both be meant')
      const password = await passwordOf(input)
      const { change } = await open()
      const created = await change('user.create', {
        address: positionals[0]!,
        operator: values.operator === true,
        account_id: textOf(values.account),
        new_account: textOf(values['new-account']),
        password,
      })
      const who = `${created.operator ? 'Operator' : 'User'} ${created.address} can sign in`
      return { json: created, text: withPassword(who, created.password) }
    },
  },
  {
    name: 'user password',
    usage: '<address> [--password-stdin]',
    summary: 'Gives a user another password and ends all sessions of the user',
    details: PASSWORD_DETAILS,
    options: PASSWORD_OPTION,
    positionals: { least: 1, most: 1 },
    async run(input) {
      const password = await passwordOf(input)
      const { change } = await input.open()
      const reset = await change('user.reset_password', { address: input.positionals[0]!, password })
      const ended = `${reset.ended_sessions} ${reset.ended_sessions === 1 ? 'session has' : 'sessions have'} ended`
      return {
        json: reset,
        text: withPassword(`${reset.address} has another password; ${ended}`, reset.password),
      }
    },
  },
]

/** Null when one is to be made. @throws CommandError */
async function passwordOf({ values, readInput }: CommandInput): Promise<string | null> {
  if (values['password-stdin'] !== true) return null
  const [line = ''] = (await readInput()).split(/\r?\n/)
  if (line === '') throw new CommandError('The standard input holds no password.')
  return line
}

function withPassword(sentence: string, password: string | null): string {
  return password === null ? `${sentence}.` : `${sentence}.\nPassword, shown this once: ${password}`
}

function textOf(value: string | boolean | undefined): string | null {
  return typeof value === 'string' ? value : null
}
