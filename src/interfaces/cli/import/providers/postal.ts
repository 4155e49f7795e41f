/**
 * Reads a mail server of Postal from files that the client of its database has written in batch mode (`mysql
 * -B`), since Postal has no API that lists anything. It has neither templates nor contacts.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../../lib/clock.ts'
import { CommandError, printable } from '../../control/result.ts'
import { firstNames, NAMED_MAX } from '../report.ts'
import type { ImportSource, Kind, SourceDomain, SourceSuppression } from '../shapes.ts'

/** Row of a file by the names of its columns; null for NULL. */
type Row = Readonly<Record<string, string | null>>

interface BatchFile {
  /** Name without its ending, which is `.tsv`. */
  name: string
  columns: readonly string[]
  /** Kind that cannot be imported without the file; undefined if the file only explains what is left. */
  kind?: Kind
}

const FILES = [
  {
    name: 'domains',
    columns: ['name', 'dkim_identifier_string', 'track_clicks', 'track_loads'],
    kind: 'domains',
  },
  {
    name: 'suppressions',
    columns: ['type', 'address', 'reason', 'timestamp', 'keep_until'],
    kind: 'suppressions',
  },
  { name: 'webhooks', columns: ['url', 'enabled', 'all_events', 'events'], kind: 'webhooks' },
  { name: 'credentials', columns: ['name', 'type'] },
  { name: 'routes', columns: ['route', 'mode', 'endpoint'] },
] as const satisfies readonly BatchFile[]
type FileName = (typeof FILES)[number]['name']

/** Rows by file; undefined if there is no such file. */
export type PostalFiles = Readonly<Record<FileName, readonly Row[] | undefined>>

/**
 * Postal's own events of messages and domains. `MessageSent` says that the host of the recipient has
 * accepted the message.
 */
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  MessageSent: ['email.delivered'],
  MessageDelayed: ['email.delivery_delayed'],
  MessageDeliveryFailed: ['email.bounced', 'email.failed'],
  MessageHeld: [],
  MessageBounced: ['email.bounced'],
  MessageLinkClicked: ['email.clicked'],
  MessageLoaded: ['email.opened'],
  DomainDNSError: [],
  SendLimitApproaching: [],
  SendLimitExceeded: [],
}

export function postalSource(files: PostalFiles, clock: Clock): ImportSource {
  let expiredCount = 0
  return {
    async *domains() {
      for (const row of files.domains ?? []) yield domainOf(row)
    },
    async *suppressions() {
      const now = clock.now() / 1_000
      expiredCount = 0
      for (const row of files.suppressions ?? [])
        if (row.keep_until !== null && Number(row.keep_until) < now) expiredCount++
        else yield suppressionOf(row)
    },
    webhooks: () => webhooksOf(files.webhooks ?? []),
    async notes() {
      const empty = FILES.filter(({ name }) => files[name]?.length === 0).map(({ name }) => `${name}.tsv`)
      return [
        ...(empty.length > 0 ? [`Files without a row, from which nothing comes: ${firstNames(empty)}.`] : []),
        ...(expiredCount > 0
          ? [`Suppressions that have expired in Postal (\`keep_until\`): ${expiredCount}.`]
          : []),
        ...disabledNotes(files.webhooks ?? []),
        ...credentialNotes(files.credentials),
        ...routeNotes(files.routes),
      ]
    },
  }
}

/** The hosts of the records are those of Postal's default configuration. */
function domainOf({ name, dkim_identifier_string: key, track_clicks, track_loads }: Row): SourceDomain {
  const host = name ?? ''
  return {
    name: host,
    clickTracking: isOn(track_clicks),
    openTracking: isOn(track_loads),
    formerRecords: [
      ...(key ? [{ type: 'TXT', host: `postal-${key}._domainkey.${host}` }] : []),
      { type: 'CNAME', host: `psrp.${host}` },
    ],
  }
}

function isOn(cell: string | null | undefined): boolean | undefined {
  return cell === null || cell === undefined ? undefined : cell === '1'
}

/** Postal suppresses recipients after bounces; others were entered by hand or by scripts. */
function suppressionOf({ address, reason, timestamp }: Row): SourceSuppression {
  const at = Number(timestamp ?? Number.NaN) * 1_000
  const words = reason ?? ''
  const isBounce = /fail|bounce/i.test(words)
  return {
    email: address ?? '',
    reason: isBounce ? 'bounce' : /complain|spam/i.test(words) ? 'complaint' : 'manual',
    at: Number.isNaN(at) ? null : Math.round(at),
  }
}

function eventsOf({ all_events, events }: Row): string[] {
  return all_events === '1' ? Object.keys(EVENTS) : (events ?? '').split(',').filter(name => name !== '')
}

/** A URL may have several webhooks; here it is one. */
async function* webhooksOf(rows: readonly Row[]) {
  const byUrl = new Map<string, Set<string>>()
  for (const row of rows)
    if (row.enabled !== '0') {
      const url = row.url ?? ''
      byUrl.set(url, new Set([...(byUrl.get(url) ?? []), ...eventsOf(row)]))
    }
  for (const [url, names] of byUrl)
    yield {
      url,
      events: [...new Set([...names].flatMap(name => EVENTS[name] ?? []))],
      unknownEvents: [...names].filter(name => !EVENTS[name]?.length),
    }
}

function disabledNotes(rows: readonly Row[]): string[] {
  const urls = rows.filter(({ enabled }) => enabled === '0').map(({ url }) => url ?? '')
  return urls.length === 0 ? [] : [`Webhooks that are disabled in Postal: ${firstNames(urls)}.`]
}

const USES: Readonly<Record<string, string>> = {
  API: 'create an API key (`mailhorn key create`) for each',
  SMTP: 'log in to SMTP with an API key as the password',
  'SMTP-IP': 'list the address of the host in `smtp.relay.networks`',
}

function credentialNotes(rows: readonly Row[] | undefined): string[] {
  if (!rows) return ['Credentials: there is no file credentials.tsv to list them from.']
  return [...Map.groupBy(rows, ({ type }) => type ?? '')].map(
    ([type, those]) =>
      `Credentials of the type ${type} (${firstNames(those.map(({ name }) => name ?? ''))}): ${USES[type] ?? 'create an API key'}.`,
  )
}

function routeNotes(rows: readonly Row[] | undefined): string[] {
  if (!rows) return ['Routes: there is no file routes.tsv to list them from.']
  return rows.slice(0, NAMED_MAX).map(({ route, mode, endpoint }) => {
    const goal = endpoint ?? mode ?? ''
    const isUrl = /^https?:/.test(goal)
    const advice = isUrl
      ? 'make a webhook for email.received, whose payload differs'
      : 'all mail to a domain is received here, and told by the event email.received'
    return `Route ${route ?? ''} to ${goal}: ${advice}.`
  })
}

/**
 * Reads the files of a folder, all of them before anything is imported.
 * @param kinds kinds whose files must be there
 * @throws CommandError
 */
export async function readPostalFiles(folder: string, kinds: ReadonlySet<Kind>): Promise<PostalFiles> {
  const found = await Promise.all(
    FILES.map(async file => {
      const path = join(folder, `${file.name}.tsv`)
      const text = await textOf(path)
      if (text === undefined && 'kind' in file && kinds.has(file.kind))
        throw new CommandError(
          `There is no file ${path}. Write it as docs/moving-in.md shows, or name other kinds with --only.`,
        )
      return [file.name, text === undefined ? undefined : rowsIn(text, path, file.columns)] as const
    }),
  )
  return Object.fromEntries(found) as Record<FileName, readonly Row[] | undefined>
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new CommandError(`${path} cannot be read: ${printable(message)}`)
  }
}

/**
 * Parses what the client writes in batch mode: a line of names, then a line for each row, with tabs between
 * the cells. Without a row, it does not write the names either.
 * @throws CommandError
 */
function rowsIn(text: string, path: string, columns: readonly string[]): Row[] {
  if (text === '') return []
  if (!text.endsWith('\n')) throw new CommandError(`${path} is cut off: its last line has no end.`)
  const [header, ...lines] = text.replace(/\r?\n$/, '').split(/\r?\n/)
  const names = header!.split('\t')
  const missing = columns.find(column => !names.includes(column))
  if (missing !== undefined)
    throw new CommandError(`${path} has no column \`${missing}\`; it has ${printable(names.join(', '))}.`)
  return lines.map((line, i) => {
    const cells = line.split('\t')
    if (cells.length !== names.length)
      throw new CommandError(
        `${path}, line ${i + 2}: it has ${cells.length} cells in place of ${names.length}.`,
      )
    return Object.fromEntries(names.map((name, column) => [name, cellOf(cells[column]!)]))
  })
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '0': '\0' }

function cellOf(cell: string): string | null {
  if (cell === 'NULL') return null
  return cell.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character)
}
