/** `posthorn queue …`: what waits for delivery, and what is to be tried again at once. */
import { domainToASCII } from 'node:url'
import { MOST_DOMAINS } from '../control/queue-operations.ts'
import { findLastReply, listWaitingDomains, type WaitingDomain } from '../store/queue/waiting.ts'
import type { Db } from '../store/schema.ts'
import type { CliCommand, Installation } from './command.ts'
import { SELECTING, selectedIn, steerAll } from './hold-commands.ts'
import { more, PAGING, PAGING_USAGE, type Page, pageOf, pagingDetails } from './paging.ts'
import { duration, isoTime, printable, table, UsageError } from './result.ts'

const SHOWN_DOMAINS = 50
const LONGEST_REPLY = 60

type ShownDomain = WaitingDomain & { reply: string | null }

export const queueCommands: CliCommand[] = [
  {
    name: 'queue show',
    usage: PAGING_USAGE,
    summary: 'Shows what waits for delivery, by domain, those with most first',
    details: pagingDetails('domains', SHOWN_DOMAINS),
    options: PAGING,
    async run({ values, open }) {
      const page = pageOf(values, SHOWN_DOMAINS)
      const { db, clock } = await open()
      const domains = await listWaitingDomains(db)
      const part = domains.slice(page.offset, page.offset + page.limit)
      const shown = await Promise.all(part.map(domain => withReply(db, domain)))
      return { json: queueJson(domains, shown), text: queueText(domains, shown, page, clock.now()) }
    },
  },
  {
    name: 'queue retry',
    usage: '<domain>… | --all | [--account <id>] [--broadcast <id>] [--email <id>]',
    summary: 'Tries deferred deliveries again now, without waiting for their time',
    options: { ...SELECTING, all: { type: 'boolean' } },
    positionals: { least: 0, most: MOST_DOMAINS },
    async run({ values, positionals, open }) {
      const isSelected = Object.keys(SELECTING).some(name => values[name] !== undefined)
      const ways = [values.all === true, positionals.length > 0, isSelected].filter(Boolean)
      if (ways.length !== 1)
        throw new UsageError('name the domains whose deliveries are to be tried, or give --all')
      const named = positionals.map(asQueued)
      const installation = await open()
      const deliveries = isSelected
        ? await steerAll(installation, 'retry', selectedIn(values))
        : await retryDomains(installation, values.all ? await deferredDomains(installation.db) : named)
      const text = deliveries === 1 ? '1 delivery is due now.' : `${deliveries} deliveries are due now.`
      return { json: { deliveries }, text }
    },
  },
]

async function retryDomains({ change }: Installation, domains: readonly string[]): Promise<number> {
  let deliveries = 0
  for (let at = 0; at < domains.length; at += MOST_DOMAINS)
    deliveries += (await change('queue.retry', { domains: domains.slice(at, at + MOST_DOMAINS) })).deliveries
  return deliveries
}

/** As deliveries have it: lower case, in A-labels. @throws UsageError */
function asQueued(domain: string): string {
  const queued = domainToASCII(domain)
  if (queued === '') throw new UsageError(`"${domain}" is no domain`)
  return queued
}

async function deferredDomains(db: Db): Promise<string[]> {
  const domains = await listWaitingDomains(db)
  return domains.filter(({ deferredCount }) => deferredCount > 0).map(({ domain }) => domain)
}

async function withReply(db: Db, waiting: WaitingDomain): Promise<ShownDomain> {
  const last = waiting.deferredCount > 0 ? await findLastReply(db, waiting.domain) : undefined
  if (!last?.lastReply) return { ...waiting, reply: null }
  return { ...waiting, reply: last.lastMxHost ? `${last.lastMxHost}: ${last.lastReply}` : last.lastReply }
}

function queueJson(domains: readonly WaitingDomain[], shown: readonly ShownDomain[]) {
  return {
    ...totalsOf(domains),
    domain_count: domains.length,
    domains: shown.map(({ domain, freshCount, deferredCount, leasedCount, oldestAt, nextAt, reply }) => ({
      domain,
      fresh: freshCount,
      deferred: deferredCount,
      under_way: leasedCount,
      oldest_at: isoTime(oldestAt),
      next_at: nextAt === null ? null : isoTime(nextAt),
      last_reply: reply,
    })),
  }
}

function queueText(
  domains: readonly WaitingDomain[],
  shown: readonly ShownDomain[],
  page: Page,
  now: number,
): string {
  if (domains.length === 0) return 'Nothing is waiting.'
  const { fresh, deferred, under_way: underWay } = totalsOf(domains)
  const rows = shown.map(({ domain, freshCount, deferredCount, leasedCount, oldestAt, nextAt, reply }) => [
    domain,
    freshCount,
    deferredCount,
    leasedCount,
    duration(now - oldestAt),
    nextAt === null ? '' : nextAt <= now ? 'now' : `in ${duration(nextAt - now)}`,
    printable(reply ?? '').slice(0, LONGEST_REPLY),
  ])
  const lines = [
    table(['DOMAIN', 'FRESH', 'DEFERRED', 'UNDER WAY', 'OLDEST', 'NEXT', 'LAST REPLY'], rows),
    '',
    `${fresh} fresh, ${deferred} deferred, ${underWay} under way, to ${domains.length} domains.`,
  ]
  const rest = more(page, shown.length, domains.length)
  if (rest !== undefined) lines.push(rest)
  return lines.join('\n')
}

function totalsOf(domains: readonly WaitingDomain[]) {
  const sum = (count: (domain: WaitingDomain) => number) =>
    domains.reduce((total, domain) => total + count(domain), 0)
  return {
    fresh: sum(({ freshCount }) => freshCount),
    deferred: sum(({ deferredCount }) => deferredCount),
    under_way: sum(({ leasedCount }) => leasedCount),
  }
}
