/**
 * Answers that describe a public installation: each is checked, and together they become an `OwnName`. Read
 * by `mailhorn init` and by the setup endpoints of the API.
 */
import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isWildcard } from '../../lib/host-port.ts'
import { isGlobalUnicast, isLoopback } from '../../protocols/dns/address-safety.ts'
import { parseMailbox } from '../../protocols/smtp/address.ts'
import type { OwnName } from './own-name.ts'

export const RUN_MODES = ['package', 'docker', 'checkout'] as const
export const HTTPS_MODES = ['own', 'proxy'] as const

const HOST_NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/
/** Ranges from which no address is reachable from the internet. */
const NOT_PUBLIC = new Set([
  ...['unspecified', 'loopback', 'private', 'linkLocal', 'uniqueLocal', 'carrierGradeNat', 'multicast'],
])

export type AnswerField = 'mail_host' | 'addresses' | 'private_addresses' | 'contact'

/** Invalid answer, and the field that it is for. The message is a sentence without a full stop. */
export class AnswerFault extends Error {
  readonly field: AnswerField

  constructor(field: AnswerField, message: string) {
    super(message)
    this.field = field
  }
}

export interface Answers {
  host: string
  addresses: readonly string[]
  /** Addresses of the interfaces behind NAT; undefined for the private ones that are assigned. */
  privateAddresses: readonly string[] | undefined
  email: string
  https: OwnName['https']
}

/** @param assigned addresses of the network interfaces */
export function ownNameOf(answers: Answers, assigned: readonly string[]): OwnName {
  const { host, addresses, email, https } = answers
  const privateOnes = answers.privateAddresses ?? assigned.filter(address => !isGlobalUnicast(address))
  const local = [...new Set(addresses.flatMap(address => localOf(address, assigned, privateOnes)))]
  return {
    ...{ host, addresses, email, https },
    localAddresses: local.join() === addresses.join() ? [] : local,
    // mail must not leave from an address that has neither a PTR record nor SPF
    sourceAddresses: assigned.some(address => isGlobalUnicast(address) && !addresses.includes(address))
      ? local
      : [],
  }
}

/** Returns the address if an interface has it, otherwise the private addresses of its family. */
function localOf(address: string, assigned: readonly string[], privateOnes: readonly string[]): string[] {
  if (assigned.includes(address)) return [address]
  const ofFamily = privateOnes.filter(other => isIP(other) === isIP(address))
  return ofFamily.length > 0 ? ofFamily : [address]
}

/**
 * Returns the public addresses of the network interfaces.
 * @returns `lacksIpv4` behind NAT, where the interfaces do not have the public IPv4 address
 */
export function publicOnesOf(assigned: readonly string[]): { found: string[]; lacksIpv4: boolean } {
  const found = assigned.filter(isGlobalUnicast)
  return { found, lacksIpv4: assigned.some(isIPv4) && !found.some(isIPv4) }
}

/** @throws AnswerFault */
export function readHost(text: string): string {
  const host = text.trim().toLowerCase().replace(/\.$/, '')
  if (HOST_NAME.test(host)) return host
  throw new AnswerFault(
    'mail_host',
    `"${text.trim()}" is not a host name with a domain, such as mail.example.com`,
  )
}

/**
 * Reads addresses that are separated by commas or blanks.
 * @throws AnswerFault
 */
export function readAddresses(field: AnswerField, text: string): string[] {
  const addresses = [...new Set(text.split(/[\s,]+/).filter(Boolean))]
  const wrong = addresses.find(address => isIP(address) === 0)
  if (wrong !== undefined || addresses.length === 0)
    throw new AnswerFault(field, `"${wrong ?? text}" is not an IP address`)
  return addresses
}

/** @throws AnswerFault */
export function readPublicAddresses(text: string): string[] {
  const addresses = readAddresses('addresses', text)
  const wrong = addresses.find(address => NOT_PUBLIC.has(ipaddr.parse(address).range()))
  if (wrong === undefined) return addresses
  throw new AnswerFault(
    'addresses',
    `${wrong} is not a public address; behind NAT, name the public address here, and this one as the private address`,
  )
}

/**
 * Reads addresses of network interfaces behind NAT. Nothing from the internet arrives at a loopback address.
 * @throws AnswerFault
 */
export function readPrivateAddresses(text: string): string[] {
  const addresses = readAddresses('private_addresses', text)
  const wrong = addresses.find(isLoopback)
  if (wrong === undefined) return addresses
  throw new AnswerFault(
    'private_addresses',
    `${wrong} is a loopback address, at which other hosts cannot reach this one; name the address of a network interface, or none`,
  )
}

/** Returns the private addresses that are listened on: neither public, wildcard nor loopback ones. */
export function privateOnesOf(listening: readonly string[], addresses: readonly string[]): string[] {
  return [...new Set(listening)].filter(
    host => !addresses.includes(host) && !isWildcard(host) && !isLoopback(host),
  )
}

/** @throws AnswerFault */
export function readContact(text: string): string {
  const mailbox = parseMailbox(text.trim())
  if ('fault' in mailbox) throw new AnswerFault('contact', `"${text.trim()}" is not an email address`)
  return text.trim()
}
