/** Reads the warm-up settings: the first day of each source IP address, and the daily limits. */
import { isIP } from 'node:net'
import { integerOf, list, type Setting, SettingFault } from './setting.ts'

interface WarmupEntry {
  address: string
  /** Start of the first UTC day, in ms since the epoch. */
  start: number
}

const DATE = /^\d{4}-\d\d-\d\d$/

/**
 * Messages per UTC day to one mailbox provider. Published plans of large senders begin with 50 to 200
 * messages a day and at most double them every day. This plan doubles up to 800 a day, and then grows by a
 * quarter to a half per day. In the second week it passes 5,000 a day, above which Gmail and Outlook treat
 * a sender as a bulk sender. It ends after four weeks.
 */
const CAPS = [
  ...[50, 100, 200, 400, 800, 1_200, 1_800],
  ...[2_700, 4_000, 5_500, 7_500, 10_000, 13_000, 17_000],
  ...[22_000, 29_000, 38_000, 50_000, 65_000, 85_000, 110_000],
  ...[140_000, 180_000, 230_000, 300_000, 380_000, 480_000, 600_000],
]

/** Reads `192.0.2.2=2026-11-20`, the first day of the warm-up. */
export function warmupStarts(doc: string): Setting<readonly WarmupEntry[]> {
  const { read } = list([], doc)
  return { read: raw => distinct(read(raw).map(readEntry)), fallback: [], doc, shown: 'none' }
}

/** Reads the daily limits of the warm-up, at least one. */
export function warmupCaps(doc: string): Setting<readonly number[]> {
  const { read } = list([], doc)
  const shown = `${CAPS.slice(0, 5).join(',')},… (${CAPS.length} days)`
  return { read: raw => atLeastOne(read(raw).map(cap => integerOf(cap, 1))), fallback: CAPS, doc, shown }
}

function readEntry(entry: string): WarmupEntry {
  const [address = '', date = '', ...more] = entry.split('=').map(part => part.trim())
  if (isIP(address) === 0 || more.length > 0)
    throw new SettingFault(`contains "${entry}", which is not address=date`)
  const start = DATE.test(date) ? Date.parse(date) : Number.NaN
  if (Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== date)
    throw new SettingFault(`contains "${entry}", whose date is not valid (such as 2026-11-20)`)
  return { address: address.toLowerCase(), start }
}

function distinct(entries: WarmupEntry[]): WarmupEntry[] {
  const twice = entries.find(({ address }, at) => entries.findIndex(other => other.address === address) < at)
  if (twice) throw new SettingFault(`contains ${twice.address} twice`)
  return entries
}

function atLeastOne(caps: number[]): number[] {
  if (caps.length === 0) throw new SettingFault('must contain at least one number')
  return caps
}
