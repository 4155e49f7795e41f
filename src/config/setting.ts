/** Kinds of settings. Each reads a raw value from a file or the environment, or throws a `SettingFault`. */

import { isIP } from 'node:net'
import { isNetwork } from '../lib/networks.ts'

/** One setting: its reader, its default and its documentation. */
export interface Setting<T> {
  readonly read: (raw: unknown) => T
  readonly fallback: T
  readonly doc: string
  /** Text for the default in the documentation, if the default is not a plain value. */
  readonly shown?: string
  readonly unit?: string
  /** Limits of a number. */
  readonly range?: NumberRange
  readonly secret?: boolean
}

interface NumberRange {
  min?: number
  max?: number
}

/** Describes an invalid value. The message completes the sentence "<key> …". */
export class SettingFault extends Error {}

export interface Listen {
  host: string
  port: number
}

const TOKEN_PREFIX = /^[A-Za-z][A-Za-z0-9_]{0,18}_$/
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

type Extras = Pick<Setting<unknown>, 'shown' | 'unit' | 'secret'>

export function text(fallback: string, doc: string, extras: Extras = {}): Setting<string> {
  return { read: readText, fallback, doc, ...extras }
}

/** Reads the prefix of a kind of token. */
export function tokenPrefix(fallback: string, doc: string): Setting<string> {
  const read = (raw: unknown) => {
    const prefix = readText(raw)
    if (TOKEN_PREFIX.test(prefix)) return prefix
    throw new SettingFault(
      'must consist of at most 20 letters, digits and `_`, begin with a letter and end with `_`',
    )
  }
  return { read, fallback, doc }
}

/** Reads a string that may be unset. */
export function optionalText(doc: string, extras: Extras = {}): Setting<string | null> {
  return { read: raw => readText(raw) || null, fallback: null, doc, shown: 'off', ...extras }
}

export function choice<const T extends string>(options: readonly T[], fallback: T, doc: string): Setting<T> {
  const read = (raw: unknown) => {
    const found = options.find(option => option === raw)
    if (found === undefined) throw new SettingFault(`must be one of ${options.join(', ')}`)
    return found
  }
  return { read, fallback, doc: `${doc} One of ${options.map(option => `\`${option}\``).join(', ')}.` }
}

/** Reads a list of at least one of the options. */
export function choices<const T extends string>(
  options: readonly T[],
  fallback: readonly T[],
  doc: string,
): Setting<readonly T[]> {
  const read = (raw: unknown) => {
    const entries = readList(raw)
    const wrong = entries.find(entry => !options.some(option => option === entry))
    if (wrong !== undefined)
      throw new SettingFault(`contains "${wrong}", which is not one of ${options.join(', ')}`)
    if (entries.length === 0) throw new SettingFault(`must contain at least one of ${options.join(', ')}`)
    return entries as readonly T[]
  }
  return { read, fallback, doc }
}

export function flag(fallback: boolean, doc: string): Setting<boolean> {
  return { read: readFlag, fallback, doc }
}

export function integer(
  fallback: number,
  doc: string,
  { min = 0, max, ...extras }: NumberRange & Extras = {},
): Setting<number> {
  const range = { min, ...(max !== undefined && { max }) }
  return { read: raw => integerOf(raw, min, max), fallback, doc, range, ...extras }
}

/** Reads a number, or null for "no limit" (`null` in a file, `none` or nothing in the environment). */
export function limit(
  fallback: number | null,
  doc: string,
  { min = 0, ...extras }: { min?: number } & Extras = {},
): Setting<number | null> {
  const read = (raw: unknown) => (raw === null || raw === '' || raw === 'none' ? null : integerOf(raw, min))
  return { read, fallback, doc, range: { min }, ...extras }
}

export function list(
  fallback: readonly string[],
  doc: string,
  extras: Extras = {},
): Setting<readonly string[]> {
  return { read: readList, fallback, doc, ...extras }
}

/** Reads `host:port` or `[v6]:port`; an empty value turns the listener off. */
export function listen(fallback: string, doc: string): Setting<Listen | null> {
  return { read: readListen, fallback: readListen(fallback), doc, shown: fallback === '' ? 'off' : fallback }
}

/** Reads a list of `host:port`; an empty value turns all listeners off. */
export function listens(fallback: string, doc: string): Setting<readonly Listen[]> {
  const read = (raw: unknown) => readList(raw).map(entry => readListen(entry)!)
  return { read, fallback: read(fallback), doc, shown: fallback }
}

/** Reads a list of `host:port` with IP addresses as hosts. The port is optional. */
export function servers(
  fallback: readonly string[],
  doc: string,
  shown?: string,
): Setting<readonly string[]> {
  const read = (raw: unknown) => {
    const entries = readList(raw)
    const wrong = entries.find(entry => !/^(\d+(\.\d+){3}|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(entry))
    if (wrong !== undefined) throw new SettingFault(`contains "${wrong}", which is not address:port`)
    return entries
  }
  return { read, fallback, doc, ...(shown === undefined ? {} : { shown }) }
}

/** Reads a list of IP addresses and CIDR ranges. */
export function networks(doc: string): Setting<readonly string[]> {
  const read = (raw: unknown) => {
    const entries = readList(raw)
    const wrong = entries.find(entry => !isNetwork(entry))
    if (wrong !== undefined)
      throw new SettingFault(`contains "${wrong}", which is neither an IP address nor a network`)
    return entries
  }
  return { read, fallback: [], doc, shown: 'none' }
}

/** Reads a list of IP addresses. */
export function addresses(doc: string, shown: string): Setting<readonly string[]> {
  const read = (raw: unknown) => {
    const entries = readList(raw)
    const wrong = entries.find(entry => isIP(entry) === 0)
    if (wrong !== undefined) throw new SettingFault(`contains "${wrong}", which is not an IP address`)
    return entries
  }
  return { read, fallback: [], doc, shown }
}

/** Reads an email address that may be unset. */
export function optionalMailbox(doc: string): Setting<string | null> {
  const read = (raw: unknown) => {
    const text = readText(raw)
    if (text !== '' && !/^[^\s@,;:!<>"]+@[^\s@,;:!<>"]+$/.test(text))
      throw new SettingFault('must be an email address')
    return text || null
  }
  return { read, fallback: null, doc, shown: 'off' }
}

/** Reads a time of day, `HH:MM`, as ms since midnight. */
export function timeOfDay(fallback: string, doc: string): Setting<number> {
  const read = (raw: unknown) => {
    const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(readText(raw)) ?? []
    if (hours === undefined) throw new SettingFault('must be a time of day, such as 03:00')
    return (Number(hours) * 60 + Number(minutes)) * 60_000
  }
  return { read, fallback: read(fallback), doc, shown: fallback }
}

/** Reads a list of host names. */
export function hostNames(doc: string, shown: string): Setting<readonly string[]> {
  const read = (raw: unknown) => {
    const names = readList(raw).map(name => name.toLowerCase().replace(/\.$/, ''))
    const wrong = names.find(name => !DOMAIN.test(name))
    if (wrong !== undefined)
      throw new SettingFault(`contains "${wrong}", which is not a host name with at least two labels`)
    return names
  }
  return { read, fallback: [], doc, shown }
}

export function domain(fallback: string, doc: string, extras: Extras = {}): Setting<string> {
  const read = (raw: unknown) => {
    const name = readText(raw).toLowerCase()
    if (name !== '' && !DOMAIN.test(name))
      throw new SettingFault('must be a domain name with at least two labels')
    return name
  }
  return { read, fallback, doc, ...extras }
}

function readText(raw: unknown): string {
  if (typeof raw === 'number') return String(raw)
  if (typeof raw !== 'string') throw new SettingFault('must be a string')
  if (/[\0\r\n]/.test(raw)) throw new SettingFault('must be a single line')
  return raw.trim()
}

function readFlag(raw: unknown): boolean {
  if (raw === true || raw === 'true' || raw === '1' || raw === 'yes' || raw === 'on') return true
  if (raw === false || raw === 'false' || raw === '0' || raw === 'no' || raw === 'off' || raw === '')
    return false
  throw new SettingFault('must be true or false')
}

/** @throws SettingFault */
export function integerOf(raw: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const value = typeof raw === 'string' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new SettingFault('must be an integer')
  if (value < min || value > max) throw new SettingFault(`must be between ${min} and ${max}; got ${value}`)
  return value
}

function readList(raw: unknown): readonly string[] {
  const entries = typeof raw === 'string' ? raw.split(',') : raw
  if (!Array.isArray(entries)) throw new SettingFault('must be a list')
  return entries.map(readText).filter(entry => entry !== '')
}

function readListen(raw: unknown): Listen | null {
  const value = readText(raw)
  if (value === '') return null
  const match = /^(?:\[([0-9a-f:.]+)\]|([^[\]:\s]+)):(\d{1,5})$/i.exec(value)
  if (!match || Number(match[3]) > 65_535) throw new SettingFault('must be host:port')
  return { host: (match[1] ?? match[2])!, port: Number(match[3]) }
}
