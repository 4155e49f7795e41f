/**
 * Measures the disk of the data folder and the database, and remembers a measurement a day in a file of the
 * data folder, so that growth can be told. Called by the metrics and by the page Storage of the dashboard.
 */
import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import * as z from 'zod'
import { readJsonFile, replaceJsonFile } from '../../lib/json-file.ts'
import type { Db } from '../model/schema.ts'
import { databaseFile, type StoreLocation } from './dialect.ts'

/** Sizes in bytes. A size that cannot be read is absent. */
export interface DiskUse {
  diskFree?: number
  diskSize?: number
  databaseBytes?: number
  /** Write-ahead log; absent with PostgreSQL. */
  walBytes?: number
}

const RECORD_FILE = 'disk-use.json'
const DAYS_KEPT = 31
const DAY_MS = 86_400_000

const samples = z.array(z.object({ at: z.int(), diskUsed: z.int(), databaseBytes: z.int() }))
type Sample = z.output<typeof samples>[number]

export async function measureDisk(dataDir: string, location: StoreLocation, db: Db): Promise<DiskUse> {
  const file = databaseFile(location)
  const [disk, databaseBytes, walBytes] = await Promise.all([
    orAbsent(statfs(dataDir)),
    file === undefined ? orAbsent(postgresBytes(db)) : sizeOf(file),
    file === undefined ? undefined : sizeOf(`${file}-wal`),
  ])
  return {
    ...(disk && { diskFree: disk.bavail * disk.bsize, diskSize: disk.blocks * disk.bsize }),
    ...(databaseBytes !== undefined && { databaseBytes }),
    ...(walBytes !== undefined && { walBytes }),
  }
}

/**
 * Remembers the measurement, unless there is one of the last day.
 * @throws when the data folder cannot be written
 */
export function recordDisk(
  dataDir: string,
  { diskFree, diskSize, databaseBytes }: DiskUse,
  now: number,
): void {
  if (diskFree === undefined || diskSize === undefined || databaseBytes === undefined) return
  const known = readSamples(dataDir).filter(({ at }) => at <= now) // a clock may have been wrong
  if (known.some(({ at }) => now - at < DAY_MS)) return
  const next: Sample[] = [...known, { at: now, diskUsed: diskSize - diskFree, databaseBytes }].slice(
    -DAYS_KEPT,
  )
  replaceJsonFile(join(dataDir, RECORD_FILE), next)
}

export interface Growth {
  /** Time of the first measurement, in ms since the epoch. */
  since: number
  /** Bytes a day, which are negative when the use shrinks. */
  disk: number
  database: number
  /** Days until the disk is full at this rate; null while its use does not grow. */
  daysLeft: number | null
}

/** @returns undefined until there is a measurement that is a day old */
export function growthOf(
  dataDir: string,
  { diskFree, diskSize, databaseBytes }: DiskUse,
  now: number,
): Growth | undefined {
  const first = readSamples(dataDir).find(({ at }) => at <= now - DAY_MS)
  if (!first || diskFree === undefined || diskSize === undefined || databaseBytes === undefined)
    return undefined
  const perDay = (bytes: number) => Math.round((bytes * DAY_MS) / (now - first.at))
  const disk = perDay(diskSize - diskFree - first.diskUsed)
  return {
    since: first.at,
    disk,
    database: perDay(databaseBytes - first.databaseBytes),
    daysLeft: disk > 0 ? Math.floor(diskFree / disk) : null,
  }
}

/** @returns none when the file is missing or damaged: the next measurement writes it anew */
function readSamples(dataDir: string): Sample[] {
  return readJsonFile(join(dataDir, RECORD_FILE), samples) ?? []
}

async function postgresBytes(db: Db): Promise<number> {
  const query = sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
  return Number((await query.execute(db)).rows[0]!.bytes)
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await orAbsent(stat(path)))?.size
}

/** A size that cannot be read must not keep the others from being reported. */
export function orAbsent<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch(() => undefined)
}
