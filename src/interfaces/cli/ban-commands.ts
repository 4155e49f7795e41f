/** `mailhorn domains ban`, `unban` and `banned`: domains from which nothing is sent. */
import { listDomainBans } from '../../resources/domains/banned.ts'
import { domainBanView } from '../api/installation/schema.ts'
import { type CliCommand, textOf } from './command.ts'
import { duration, printable, table } from './control/result.ts'

export const banCliCommands: CliCommand[] = [
  {
    name: 'domains ban',
    usage: '<name> [--reason <text>]',
    summary: 'Send nothing from a domain and its subdomains, and let no account add them',
    details: `  --reason <text>  Why; shown in the list of banned domains.

  Queued email from the domain is held, and new email is refused. Deliveries in progress are completed.
  To discard what is held: mailhorn queue cancel --sender-domain <name>`,
    options: { reason: { type: 'string' } },
    positionals: { min: 1, max: 1 },
    async run({ values, positionals, open }) {
      const { change } = await open()
      const ban = await change('domain.ban', { domain: positionals[0]!, reason: textOf(values.reason) })
      return {
        json: ban,
        text: ban.is_new
          ? `${ban.domain} is banned. Its queued email is held, and new email from it is refused.`
          : `${ban.domain} is already banned.`,
      }
    },
  },
  {
    name: 'domains unban',
    usage: '<name>',
    summary: 'Lift the ban of a domain, and send what was held',
    positionals: { min: 1, max: 1 },
    async run({ positionals, open }) {
      const { change } = await open()
      const lifted = await change('domain.unban', { domain: positionals[0]! })
      return { json: lifted, text: `The ban of ${lifted.domain} was lifted.` }
    },
  },
  {
    name: 'domains banned',
    usage: '',
    summary: 'List banned domains',
    async run({ open }) {
      const { db, clock } = await open()
      const bans = await listDomainBans(db)
      const rows = bans.map(({ domain, reason, createdAt }) => [
        ...[domain, duration(clock.now() - createdAt), printable(reason ?? '')],
      ])
      return {
        json: bans.map(ban => {
          const { object: _, ...shown } = domainBanView(ban)
          return shown
        }),
        text: bans.length === 0 ? 'No domain is banned.' : table(['DOMAIN', 'AGE', 'REASON'], rows),
      }
    },
  },
]
