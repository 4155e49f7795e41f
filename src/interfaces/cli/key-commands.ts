/** `mailhorn key …` manages the API keys of all accounts. */
import { wireId } from '../../lib/ids.ts'
import { listEveryApiKey } from '../../resources/accounts/api-key-rows.ts'
import type { CliCommand } from './command.ts'
import { isoTime, printable, table } from './control/result.ts'

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
            created_at: isoTime(createdAt),
            last_used_at: lastUsedAt === null ? null : isoTime(lastUsedAt),
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
            lastUsedAt === null ? 'never' : isoTime(lastUsedAt).slice(0, 16),
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
    positionals: { least: 1, most: 1 },
    async run({ values: { account, domain }, positionals, open }) {
      const created = await (await open()).change('key.create', {
        name: positionals[0]!,
        account_id: typeof account === 'string' ? account : null,
        domain: typeof domain === 'string' ? domain : null,
      })
      return { json: created, text: `${created.id}\nAPI key (shown only once): ${created.token}` }
    },
  },
  {
    name: 'key delete',
    usage: '<id>',
    summary: 'Delete an API key; requests that use it are rejected immediately',
    positionals: { least: 1, most: 1 },
    async run({ positionals, open }) {
      const deleted = await (await open()).change('key.delete', { id: positionals[0]! })
      return { json: { ...deleted, deleted: true }, text: `${deleted.id} was deleted.` }
    },
  },
]
