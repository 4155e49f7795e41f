/**
 * Which addresses are being warmed up since when, and how much they may send on each day, as it is written.
 */
import { isIP } from 'node:net'
import { integerOf, list, type Setting, SettingFault } from './setting.ts'

export interface WarmupEntry {
  address: string
  /** Epoch ms at which its first UTC day begins. */
  start: number
}

const DATE = /^\d{4}-\d\d-\d\d$/

/**
 * Messages a UTC day to one mailbox provider. Published plans of large senders begin with 50 to 200 a day and
 * at most double; this one doubles while that is little, and then grows by a quarter to a half. It passes
 * 5,000 a day, from which on Gmail and Outlook regard a sender as a bulk sender, in the second week, and ends
 * after four weeks.
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
    throw new SettingFault(`has "${entry}", which is not address=date`)
  const start = DATE.test(date) ? Date.parse(date) : Number.NaN
  if (Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== date)
    throw new SettingFault(`has "${entry}", whose date is none, such as 2026-11-20`)
  return { address: address.toLowerCase(), start }
}

function distinct(entries: WarmupEntry[]): WarmupEntry[] {
  const twice = entries.find(({ address }, at) => entries.findIndex(other => other.address === address) < at)
  if (twice) throw new SettingFault(`has ${twice.address} twice`)
  return entries
}

function atLeastOne(caps: number[]): number[] {
  if (caps.length === 0) throw new SettingFault('must have a number for at least one day')
  return caps
}
