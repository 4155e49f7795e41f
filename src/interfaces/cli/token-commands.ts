/** `mailhorn token …` manages the access tokens of all accounts. */
import { wireId } from '../../lib/ids.ts'
import { listEveryAccessToken } from '../../resources/accounts/access-token-rows.ts'
import { viewOf } from '../../resources/accounts/access-tokens.ts'
import { SCOPES } from '../../resources/accounts/scopes.ts'
import type { CliCommand } from './command.ts'
import { isoTime, printable, table, UsageError } from './control/result.ts'

export const tokenCliCommands: CliCommand[] = [
  {
    name: 'token list',
    usage: '',
    summary: 'List the access tokens of all accounts, without their secrets',
    async run({ open }) {
      const { db } = await open()
      const tokens = (await listEveryAccessToken(db)).map(row => ({ ...viewOf(row), account: row.account }))
      return {
        json: {
          tokens: tokens.map(token => ({
            id: wireId('tok', token.id),
            name: token.name,
            token_start: token.tokenStart,
            account_id: wireId('acc', token.accountId),
            account: token.account,
            scopes: token.scopes,
            operator: token.operator,
            networks: token.networks,
            expires_at: timeOrNull(token.expiresAt),
            created_at: isoTime(token.createdAt),
            last_used_at: timeOrNull(token.lastUsedAt),
          })),
        },
        text: table(
          ['ID', 'NAME', 'TOKEN', 'ACCOUNT', 'SCOPES', 'OPERATOR', 'EXPIRES', 'LAST USED'],
          tokens.map(token => [
            wireId('tok', token.id),
            printable(token.name),
            token.tokenStart,
            printable(token.account),
            token.scopes.join(','),
            token.operator ? 'yes' : 'no',
            timeOrNull(token.expiresAt)?.slice(0, 16) ?? 'never',
            timeOrNull(token.lastUsedAt)?.slice(0, 16) ?? 'never',
          ]),
        ),
      }
    },
  },
  {
    name: 'token create',
    usage: '<name> --scopes <list> [--expires-in <time>] [--networks <list>] [--operator] [--account <id>]',
    summary: 'Create an access token; its secret is shown only once',
    details: `  --scopes <list>     full, or scopes separated by commas: ${scopeLines()}
  --expires-in <time> Seconds or a duration such as 90d. Without it, the token does not expire.
  --networks <list>   IP addresses and CIDR ranges that the token may be used from, separated by commas.
  --operator          Grant operator rights for the whole installation.
  --account <id>      The account; required if there is more than one.`,
    options: {
      scopes: { type: 'string' },
      'expires-in': { type: 'string' },
      networks: { type: 'string' },
      operator: { type: 'boolean' },
      account: { type: 'string' },
    },
    positionals: { least: 1, most: 1 },
    async run({ values, positionals, open }) {
      if (values.scopes === undefined)
        throw new UsageError('--scopes is required; use --scopes full for everything')
      const token = {
        name: positionals[0]!,
        scopes: entriesOf(values.scopes),
        operator: values.operator === true,
        ...(values['expires-in'] !== undefined && { expires_in: values['expires-in'] }),
        ...(values.networks !== undefined && { networks: entriesOf(values.networks) }),
      }
      const account_id = typeof values.account === 'string' ? values.account : null
      const created = await (await open()).change('token.create', { token, account_id })
      return { json: created, text: `${created.id}\nAccess token (shown only once): ${created.token}` }
    },
  },
  {
    name: 'token delete',
    usage: '<id>',
    summary: 'Revoke an access token; requests that use it are rejected immediately',
    positionals: { least: 1, most: 1 },
    async run({ positionals, open }) {
      const deleted = await (await open()).change('token.delete', { id: positionals[0]! })
      return { json: { ...deleted, deleted: true }, text: `${deleted.id} was deleted.` }
    },
  },
]

/** An empty option is an empty list, which the creation refuses. */
function entriesOf(option: string | boolean): string[] {
  return String(option)
    .split(',')
    .flatMap(entry => entry.trim() || [])
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at)
}

/** Lists scopes in lines of the help text. */
function scopeLines(): string {
  const indent = `\n${' '.repeat(22)}`
  const names = SCOPES.slice(1)
  const lines: string[] = []
  for (let at = 0; at < names.length; at += 4) lines.push(names.slice(at, at + 4).join(' '))
  return indent + lines.join(indent)
}
