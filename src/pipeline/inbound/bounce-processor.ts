/**
 * Processes returned mail in the background: bounces (DSN), complaints (ARF) and unsubscribe mail. Each
 * stored report is parsed and applied exactly once, also after a restart.
 *
 * In: unread rows of `reports` (`report-rows.ts`); `note` signals new ones. Out: the command `applyReport`,
 * which updates the delivery, records the event and adds suppressions. Started by `app/inbound.ts`.
 */

import type { Clock } from '../../lib/clock.ts'
import { sleep } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { inTask, parkedMs } from '../../lib/tasks.ts'
import { throttledLog } from '../../lib/throttled-log.ts'
import type { BounceReport } from '../../protocols/bounces/report.ts'
import { readRefToken } from '../../protocols/smtp/verp.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { Run } from '../../store/model/command.ts'
import type { ReportAddressKind, ReportRow } from '../../store/model/schema/reports.ts'
import type { Db } from '../../store/model/schema.ts'
import type { applyReportCommands, ReadReport } from './apply-report.ts'
import { beginningOf, isTemporary } from './mail-reader.ts'
import { readUnsubscribeMail } from './mailto-unsubscribe.ts'
import { isGood } from './recipients.ts'
import type { ReportReader } from './report-reader.ts'
import { unreadReports } from './report-rows.ts'

interface BounceProcessor {
  /** Signals that new reports have been stored. */
  note(): void
  /** Resolves when no report is in progress. */
  stop(): Promise<void>
}

interface BounceProcessorOptions {
  db: Db
  blobs: BlobFiles
  run: Run<typeof applyReportCommands>
  reader: ReportReader
  secrets: SecretKeys
  clock: Clock
  log: Log
}

const BATCH_REPORTS = 50
const RETRY_DELAY_MS = 5_000
/** Bytes of a report that are read, more than its parser looks at. */
const READ_BYTES = 1024 * 1024
/** Kind of the reports at an address that identify the delivery by our header. */
const KIND_WITH_HEADER: ReadonlyMap<ReportAddressKind, BounceReport['kind']> = new Map([
  ['feedback-loop', 'complaint'],
  ['inbox', 'bounce'],
])
const FAULT_CHARACTERS_MAX = 300
const TASK = 'read bounces and complaints'

export function startBounceProcessor(options: BounceProcessorOptions): BounceProcessor {
  const { db, clock } = options
  const unread = throttledLog(
    options,
    'error',
    'bounces_not_processed',
    'Bounce and complaint reports could not be processed; retrying',
  )
  const stopping = new AbortController()
  let hasMore = true
  let working: Promise<void> | undefined

  const readAll = async () => {
    while (hasMore && !stopping.signal.aborted) {
      hasMore = false
      for (
        let rows = await unreadReports(db, BATCH_REPORTS);
        rows.length > 0;
        rows = await unreadReports(db, BATCH_REPORTS)
      )
        for (const row of rows) {
          if (stopping.signal.aborted) return
          await apply(row, options)
        }
    }
  }
  const work = async () => {
    const parkedForMs = parkedMs(TASK, clock)
    if (parkedForMs > 0) await sleep(clock, parkedForMs, stopping.signal).catch(() => {}) // aborted because the service stops
    try {
      await readAll()
    } catch (error) {
      unread({ err: error })
      hasMore = true
      await sleep(clock, RETRY_DELAY_MS, stopping.signal).catch(() => {}) // aborted because the service stops
    }
  }
  const start = () => {
    working ??= inTask(TASK, work).finally(() => {
      working = undefined
      if (hasMore && !stopping.signal.aborted) start()
    })
  }
  start()

  return {
    note() {
      hasMore = true
      start()
    },
    async stop() {
      stopping.abort()
      await working
    },
  }
}

/**
 * A report that cannot be applied is marked as read with its fault, so that it does not block the others.
 * @throws StorageUnavailable
 */
async function apply(row: ReportRow, options: BounceProcessorOptions): Promise<void> {
  const { run, clock, log } = options
  const ids = { id: row.id, at: clock.now() }
  try {
    await run('applyReport', { ...ids, ...(await readOne(row, options)) })
  } catch (error) {
    if (isTemporary(error)) throw error
    log.error(
      { event: 'bounce_not_recorded', err: error },
      'The content of a bounce or complaint report could not be recorded',
    )
    await run('applyReport', { ...ids, ...unreadable(error) })
  }
}

/** A report that cannot be parsed yields its fault. The mail itself is kept. */
async function readOne(
  row: ReportRow,
  { db, blobs, reader, secrets }: BounceProcessorOptions,
): Promise<ReadReport> {
  const bytes = await beginningOf((await blobs.open(db, row.blobHash)).content, READ_BYTES)
  if (row.addressKind === 'unsubscribe')
    return {
      report: undefined,
      ref: undefined,
      fault: undefined,
      unsubscribeMail: readUnsubscribeMail(row, bytes, secrets) ?? null,
    }
  let report: BounceReport
  try {
    report = await reader.read(withReturnPath(bytes, row.sender))
  } catch (error) {
    if (isTemporary(error)) throw error
    return unreadable(error)
  }
  return { report, ref: refOf(row, report, secrets), fault: undefined }
}

function unreadable(error: unknown): ReadReport {
  return { report: undefined, ref: undefined, fault: String(error).slice(0, FAULT_CHARACTERS_MAX) }
}

/**
 * Returns the delivery that a report is about: given by the VERP token of its recipient address, or, for
 * complaints at the feedback loop and bounces at a From address, by the correlation header of our message.
 */
function refOf(row: ReportRow, { kind, correlation }: BounceReport, secrets: SecretKeys): ReadReport['ref'] {
  if (row.addressKind === 'return-path') return { emailId: row.emailId!, ordinal: row.ordinal! }
  const returnsOurMail = KIND_WITH_HEADER.get(row.addressKind) === kind
  if (!returnsOurMail || correlation === undefined) return undefined
  const ref = readRefToken(secrets, 'correlation', correlation)
  if (!ref || !isGood(ref.madeAt, row.receivedAt)) return undefined
  return { emailId: ref.emailId, ordinal: ref.ordinal }
}

/**
 * The envelope sender replaces any `Return-Path` field of the message, which anybody can forge (RFC 5321
 * §4.4).
 */
function withReturnPath(bytes: Uint8Array, sender: string): Uint8Array {
  return Buffer.concat([Buffer.from(`Return-Path: <${sender}>\r\n`), bytes])
}
