/**
 * Sends daily TLS reports to the domains that ask for them (RFC 8460 §5).
 *
 * In: counted TLS results. Out: reports by HTTPS, or by mail as a submission. Called by `app/tls-reports.ts`.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Clock } from '../../lib/clock.ts'
import { hashText } from '../../lib/hash.ts'
import type { Id } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { utcDay } from '../../lib/periods.ts'
import {
  type PolicyResults,
  reportFileName,
  reportId,
  reportJson,
  TLS_REPORT_TYPE,
  type TlsReport,
  tlsReportAddresses,
} from '../../protocols/bounces/tls-report.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import { OutboundFault } from '../../protocols/http-client/fault.ts'
import type { Outbound } from '../../protocols/http-client/outbound.ts'
import { type Mailbox, parseMailbox } from '../../protocols/smtp/address.ts'
import { findVerifiedDomain } from '../../resources/domains/domain-rows.ts'
import type { Run } from '../../store/model/command.ts'
import type { TlsResultRow } from '../../store/model/schema/tls.ts'
import type { Db } from '../../store/model/schema.ts'
import type { Accept } from '../accept/accept.ts'
import type { Preparation } from '../accept/prepare.ts'
import { isRefusal } from '../accept/refusal.ts'
import { newSubmission, type Submission } from '../accept/submission.ts'
import { listTlsDays, listTlsResults, type tlsCommands } from '../queue/tls-rows.ts'

interface TlsReporterOptions {
  db: Db
  run: Run<Pick<typeof tlsCommands, 'dropTlsResults'>>
  accept: Accept
  preparation: Preparation
  outbound: Pick<Outbound, 'send'>
  resolver: Pick<Resolver, 'txt'>
  clock: Clock
  log: Log
  /** Sender of the reports: an address at a verified domain of some account. */
  from: Mailbox
  mailHost: string
}

const DAY_MS = 24 * 3_600_000
/** Reports that could not be sent by then are dropped. */
const REPORT_LIFETIME_MS = 3 * DAY_MS
/** Reports are spread over this time after midnight (RFC 8460 §4.1). */
const SPREAD_MS = 4 * 3_600_000
const POST_MS_MAX = 30_000
const POST_REPLY_BYTES_MAX = 64 * 1024
const compress = promisify(gzip)

/** Yields after each report. */
export async function* sendTlsReports(options: TlsReporterOptions): AsyncGenerator<void> {
  const { db, run, clock, log, from } = options
  const now = clock.now()
  const due = (await listTlsDays(db, utcDay(now))).filter(({ day, domain }) => now >= dueAt(day, domain))
  if (due.length === 0) return
  const accountId = (await findVerifiedDomain(db, from.domain))?.accountId
  if (!accountId)
    log.warn(
      { event: 'tls_report_domain_unverified', domain: from.domain },
      `TLS reports cannot be sent: the domain ${from.domain} is not verified in any account`,
    )
  for (const { day, domain } of due) {
    const isDone = accountId !== undefined && (await report(options, accountId, day, domain))
    if (isDone || now - Date.parse(day) > REPORT_LIFETIME_MS) await run('dropTlsResults', { day, domain })
    yield
  }
}

function dueAt(day: string, domain: string): number {
  return Date.parse(day) + DAY_MS + (hashText(domain) % SPREAD_MS)
}

/** @returns true when the report arrived at one of its destinations, or none is wanted any more */
async function report(
  options: TlsReporterOptions,
  accountId: Id,
  day: string,
  domain: string,
): Promise<boolean> {
  const { db, resolver, from, mailHost, log } = options
  const answer = await resolver.txt(`_smtp._tls.${domain}`)
  if (answer.kind === 'failure') return false
  const destinations = answer.kind === 'found' ? tlsReportAddresses(answer.records) : []
  if (destinations.length === 0) return true
  const policies = policyResults(await listTlsResults(db, day, domain))
  const tlsReport = { domain, day, submitter: mailHost, contact: from.address, policies }
  const file = await compress(reportJson(tlsReport))
  let arrived = false
  for (const destination of destinations) {
    const fault = /^https:/i.test(destination)
      ? await post(options, destination, file)
      : await mail(options, accountId, destination, tlsReport, file)
    if (fault === undefined) arrived = true
    else
      log.info(
        { event: 'tls_report_failed', domain, day, report_uri: destination, reason: fault },
        `The TLS report for ${domain} could not be delivered`,
      )
  }
  return arrived
}

async function post(
  { outbound }: TlsReporterOptions,
  url: string,
  file: Buffer,
): Promise<string | undefined> {
  const reply = await outbound.send({
    url,
    method: 'POST',
    headers: { 'content-type': TLS_REPORT_TYPE },
    body: file,
    limitMs: POST_MS_MAX,
    limitBytes: POST_REPLY_BYTES_MAX,
    whenLonger: 'cut',
  })
  if (reply instanceof OutboundFault) return reply.message
  return reply.status < 300 ? undefined : `the host answered ${reply.status}`
}

/** The name of the report is its idempotency key, so a report is mailed only once. */
async function mail(
  { accept, preparation, from }: TlsReporterOptions,
  accountId: Id,
  destination: string,
  report: TlsReport,
  file: Buffer,
): Promise<string | undefined> {
  const to = parseMailbox(decodeURIComponent(destination.slice('mailto:'.length).replace(/\?.*/, '')))
  if ('fault' in to) return to.fault
  const prepared = await preparation.email(accountId, submissionOf(from, to, report, file))
  const key = createHash('sha256')
    .update(`${reportId(report)} ${to.address}`)
    .digest()
  const idempotency = { endpoint: 'tls-report', key: key.toString('hex'), bodyHash: key }
  const accepted = await accept.send({ accountId, apiKeyId: null, domain: null }, prepared, idempotency)
  return isRefusal(accepted) ? accepted.message : undefined
}

/** RFC 8460 §5.3. A report is delivered even without TLS (RFC 8689 §5). */
function submissionOf(from: Mailbox, to: Mailbox, report: TlsReport, file: Buffer): Submission {
  const { domain, submitter, day } = report
  return newSubmission({
    from,
    to: [to],
    subject: `Report Domain: ${domain} Submitter: ${submitter} Report-ID: <${reportId(report)}>`,
    text: `This is an aggregate report on TLS from ${submitter} for ${domain}, ${day} UTC.\n`,
    headers: [
      ['TLS-Report-Domain', domain],
      ['TLS-Report-Submitter', submitter],
      ['TLS-Required', 'No'],
      ['Auto-Submitted', 'auto-generated'],
    ],
    attachments: [
      { filename: reportFileName(report), contentType: TLS_REPORT_TYPE, contentId: null, content: file },
    ],
  })
}

/**
 * Sums up the results for each policy of a domain.
 * @param rows of one domain and day; a policy is quoted as it was last
 */
export function policyResults(rows: readonly TlsResultRow[]): PolicyResults[] {
  return [...Map.groupBy(rows, row => row.policyType)].map(([type, ofPolicy]) => {
    const { strings = [], mxHosts = [] } =
      ofPolicy.map(quotesOf).findLast(quotes => quotes.strings !== undefined) ?? {}
    const failures = ofPolicy.filter(({ result }) => result !== '')
    const successCount = ofPolicy.reduce((sum, { result, count }) => (result === '' ? sum + count : sum), 0)
    return {
      type,
      strings,
      mxHosts,
      successCount,
      failures: failures.map(row => {
        const { result, mxHost, mxIp, count, reason } = row
        return { result, sendingIp: quotesOf(row).from ?? null, mxHost, mxIp, count, reason }
      }),
    }
  })
}

interface Quotes {
  strings?: string[]
  mxHosts?: string[]
  from?: string
}

function quotesOf({ policy }: TlsResultRow): Quotes {
  return JSON.parse(policy) as Quotes
}
