/** `mailhorn key …` and `mailhorn token …` manage the API keys and access tokens of all accounts. */
import { wireId } from '../../lib/ids.ts'
import { listEveryAccessToken } from '../../resources/accounts/access-token-rows.ts'
import { viewOf } from '../../resources/accounts/access-tokens.ts'
import { listEveryApiKey } from '../../resources/accounts/api-key-rows.ts'
import { SCOPES } from '../../resources/accounts/scopes.ts'
import { timestamp } from '../api/schema/timestamp.ts'
import { type CliCommand, textOf } from './command.ts'
import { printable, table, UsageError } from './control/result.ts'

export const keyCliCommands: CliCommand[] = [
  {
    name: 'key list',
    usage: '',
    summary: 'List the API keys of all accounts, without their secrets',
    async run({ open }) {
      const { db } = await open()
      const keys = await listEveryApiKey(db)
      return {
        json: {
          keys: keys.map(({ id, name, tokenStart, accountId, account, domain, createdAt, lastUsedAt }) => ({
            id: wireId('key', id),
            name,
            token_start: tokenStart,
            account_id: wireId('acc', accountId),
            account,
            domain,
            created_at: timestamp(createdAt),
            last_used_at: timestamp(lastUsedAt),
          })),
        },
        text: table(
          ['ID', 'NAME', 'TOKEN', 'ACCOUNT', 'DOMAIN', 'LAST USED'],
          keys.map(({ id, name, tokenStart, account, domain, lastUsedAt }) => [
            wireId('key', id),
            printable(name),
            tokenStart,
            printable(account),
            domain ?? 'all',
            lastUsedAt === null ? 'never' : timestamp(lastUsedAt).slice(0, 16),
          ]),
        ),
      }
    },
  },
  {
    name: 'key create',
    usage: '<name> [--account <id>] [--domain <name>]',
    summary: 'Create an API key; its secret is shown only once',
    details: `  --account <id>   The account; required if there is more than one.
  --domain <name>  Restrict the key to this domain.`,
    options: { account: { type: 'string' }, domain: { type: 'string' } },
    positionals: { min: 1, max: 1 },
    async run({ values: { account, domain }, positionals, open }) {
      const created = await (await open()).change('key.create', {
        name: positionals[0]!,
        account_id: textOf(account),
        domain: textOf(domain),
      })
      return { json: created, text: `${created.id}\nAPI key (shown only once): ${created.token}` }
    },
  },
  {
    name: 'key delete',
    usage: '<id>',
    summary: 'Delete an API key; requests that use it are rejected immediately',
    positionals: { min: 1, max: 1 },
    async run({ positionals, open }) {
      const deleted = await (await open()).change('key.delete', { id: positionals[0]! })
      return { json: { ...deleted, deleted: true }, text: `${deleted.id} was deleted.` }
    },
  },
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
            expires_at: timestamp(token.expiresAt),
            created_at: timestamp(token.createdAt),
            last_used_at: timestamp(token.lastUsedAt),
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
            timestamp(token.expiresAt)?.slice(0, 16) ?? 'never',
            timestamp(token.lastUsedAt)?.slice(0, 16) ?? 'never',
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
    positionals: { min: 1, max: 1 },
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
      const account_id = textOf(values.account)
      const created = await (await open()).change('token.create', { token, account_id })
      return { json: created, text: `${created.id}\nAccess token (shown only once): ${created.token}` }
    },
  },
  {
    name: 'token delete',
    usage: '<id>',
    summary: 'Revoke an access token; requests that use it are rejected immediately',
    positionals: { min: 1, max: 1 },
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

/** Lists scopes in lines of the help text. */
function scopeLines(): string {
  const indent = `\n${' '.repeat(22)}`
  const names = SCOPES.slice(1)
  const lines: string[] = []
  for (let at = 0; at < names.length; at += 4) lines.push(names.slice(at, at + 4).join(' '))
  return indent + lines.join(indent)
}
