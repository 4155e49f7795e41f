/** `mailhorn domains …`: sending domains, whosever they are. */
import type { CliCommand } from './command.ts'

export const domainCliCommands: CliCommand[] = [
  {
    name: 'domains rotate',
    usage: '<name> [--account <id>]',
    summary: 'Has the next DKIM key of a domain take its turn as soon as it may',
    details: `  It may when it has been published for 48 hours and its record is seen. The key before stays published for a week.
  --account <id>  The account, where several have registered the domain.`,
    options: { account: { type: 'string' } },
    positionals: { least: 1, most: 1 },
    async run({ values: { account }, positionals, open }) {
      const wanted = await (await open()).change('domain.rotate_keys', {
        name: positionals[0]!,
        account_id: typeof account === 'string' ? account : null,
      })
      return { json: wanted, text: `The keys of ${wanted.name} change as soon as they may.` }
    },
  },
]
