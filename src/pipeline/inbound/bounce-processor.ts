/** Sees to it that every report that was taken is read once, and what it says is recorded; also after a restart. */

import type { Clock } from '../../lib/clock.ts'
import { sleep } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { throttledLog } from '../../lib/throttled-log.ts'
import type { BounceReport } from '../../protocols/bounces/report.ts'
import { readRefToken } from '../../protocols/smtp/verp.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { Run } from '../../store/command.ts'
import type { ReportRow } from '../../store/schema/reports.ts'
import type { Db } from '../../store/schema.ts'
import type { applyReportCommands, ReadReport } from './apply-report.ts'
import { isTemporary } from './mail-reader.ts'
import { readUnsubscribeMail } from './mailto-unsubscribe.ts'
import { isGood } from './recipients.ts'
import type { ReportReader } from './report-reader.ts'
import { unreadReports } from './report-rows.ts'

export interface BounceProcessor {
  /** There is something to read. */
  note(): void
  /** Resolves when nothing is under way. */
  stop(): Promise<void>
}

interface FeedbackOptions {
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
const FAULT_CHARACTERS_MAX = 300

export function startBounceProcessor(options: FeedbackOptions): BounceProcessor {
  const { db, clock } = options
  const unread = throttledLog(options, 'error', 'reports could not be read; they are tried again in a while')
  const stopping = new AbortController()
  let wanted = true
  let working: Promise<void> | undefined

  const readAll = async () => {
    while (wanted && !stopping.signal.aborted) {
      wanted = false
      for (
        let rows = await unreadReports(db, BATCH_REPORTS);
        rows.length > 0;
        rows = await unreadReports(db, BATCH_REPORTS)
      )
        for (const row of rows) {
          if (stopping.signal.aborted) return
          await settle(row, options)
        }
    }
  }
  const work = async () => {
    try {
      await readAll()
    } catch (error) {
      unread({ err: error })
      wanted = true
      await sleep(clock, RETRY_DELAY_MS, stopping.signal).catch(() => {}) // it is the service that stops
    }
  }
  const start = () => {
    working ??= work().finally(() => {
      working = undefined
      if (wanted && !stopping.signal.aborted) start()
    })
  }
  start()

  return {
    note() {
      wanted = true
      start()
    },
    async stop() {
      stopping.abort()
      await working
    },
  }
}

/** One report that nothing can be done with is in nobody's way. @throws StorageUnavailable */
async function settle(row: ReportRow, options: FeedbackOptions): Promise<void> {
  const { run, clock, log } = options
  const ids = { id: row.id, at: clock.now() }
  try {
    await run('applyReport', { ...ids, ...(await readOne(row, options)) })
  } catch (error) {
    if (isTemporary(error)) throw error
    log.error({ err: error }, 'what a report says could not be recorded')
    await run('applyReport', { ...ids, ...unreadable(error) })
  }
}

/** What could not be read is recorded as such: the mail itself is kept. */
async function readOne(row: ReportRow, { db, blobs, reader, secrets }: FeedbackOptions): Promise<ReadReport> {
  const bytes = await blobs.read(db, row.blobHash)
  if (row.door === 'unsubscribe')
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

/** The delivery that a report is about: by the token of its address, or at the feedback loop by our header alone. */
function refOf(row: ReportRow, { kind, correlation }: BounceReport, secrets: SecretKeys): ReadReport['ref'] {
  if (row.door === 'return-path') return { emailId: row.emailId!, ordinal: row.ordinal! }
  if (row.door !== 'feedback-loop' || kind !== 'complaint' || correlation === undefined) return undefined
  const ref = readRefToken(secrets, 'correlation', correlation)
  if (!ref || !isGood(ref.madeAt, row.receivedAt)) return undefined
  return { emailId: ref.emailId, ordinal: ref.ordinal }
}

/** As the envelope had it: what a mail says itself of its return path is anybody's word (RFC 5321 §4.4). */
function withReturnPath(bytes: Uint8Array, sender: string): Uint8Array {
  return Buffer.concat([Buffer.from(`Return-Path: <${sender}>\r\n`), bytes])
}
