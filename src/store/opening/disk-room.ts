/** Tells whether the disks of the data folder and of the database have room for mail. */
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { databaseFile, type StoreLocation } from './dialect.ts'

interface DiskRoomOptions {
  dataDir: string
  location: StoreLocation
  /** Reads the free bytes of the disk of a folder. */
  freeBytes?(folder: string): Promise<number>
}

/** With less space the write-ahead log cannot hold the commit of a usual message and its checkpoint. */
const FREE_BYTES_MIN = 4 * 1024 * 1024

export async function isDiskFull({
  dataDir,
  location,
  freeBytes = freeBytesOf,
}: DiskRoomOptions): Promise<boolean> {
  const file = databaseFile(location)
  const folders = new Set([dataDir, file === undefined ? dataDir : dirname(file)])
  return Math.min(...(await Promise.all([...folders].map(freeBytes)))) < FREE_BYTES_MIN
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
