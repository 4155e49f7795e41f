/** `mailhorn domains …` shows and changes sending domains of all accounts. */
import type { CliCommand } from './command.ts'

export const domainCliCommands: CliCommand[] = [
  {
    name: 'domains rotate',
    usage: '<name> [--account <id>]',
    summary: 'Rotate the DKIM key of a domain',
    details: `  The next key becomes active once it has been published for 48 hours and its record is visible.
  The previous key stays published for a week.
  --account <id>  The account; required if several accounts have registered the domain.`,
    options: { account: { type: 'string' } },
    positionals: { least: 1, most: 1 },
    async run({ values: { account }, positionals, open }) {
      const wanted = await (await open()).change('domain.rotate_keys', {
        name: positionals[0]!,
        account_id: typeof account === 'string' ? account : null,
      })
      return { json: wanted, text: `Key rotation of ${wanted.name} was requested.` }
    },
  },
]
