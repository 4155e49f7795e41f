/** Answers of `mailhorn init`: from its arguments, from the network interfaces, or typed on a terminal. */
import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isGlobalUnicast } from '../../protocols/dns/address-safety.ts'
import { parseMailbox } from '../../protocols/smtp/address.ts'
import type { OwnName, RunMode } from '../setup/own-name.ts'
import type { CommandInput } from './command.ts'
import { UsageError } from './control/result.ts'

const RUN_MODES = ['package', 'docker', 'checkout'] as const
const HOST_NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/
/** Ranges from which no address is reachable from the internet. */
const NOT_PUBLIC = new Set([
  ...['unspecified', 'loopback', 'private', 'linkLocal', 'uniqueLocal', 'carrierGradeNat', 'multicast'],
])

export interface InitAnswers {
  own: OwnName
  run: RunMode
}

/** @throws UsageError that names the argument */
export async function initAnswers(input: CommandInput): Promise<InitAnswers> {
  const { values, positionals, interfaceAddresses } = input
  const run = oneOf('--run', RUN_MODES, values.run ?? 'package')
  const https = oneOf('--https', ['own', 'proxy'] as const, values.https ?? 'own')
  const host = await answer(input, {
    argument: positionals[0],
    question: 'Host name of this server, such as mail.example.com',
    missing: '<mail host>',
    read: readHost,
  })
  const assigned = interfaceAddresses()
  const addresses = await publicAddresses(input, assigned)
  const email = await answer(input, {
    argument: values.contact,
    question: "Contact address for the certificate authority, Let's Encrypt",
    missing: '--contact',
    read: readContact,
  })
  const named = values['private-address']
  const privateOnes =
    typeof named === 'string'
      ? readAddresses('--private-address', named)
      : assigned.filter(address => !isGlobalUnicast(address))
  const local = [...new Set(addresses.flatMap(address => localOf(address, assigned, privateOnes)))]
  const own: OwnName = {
    ...{ host, addresses, email, https },
    localAddresses: local.join() === addresses.join() ? [] : local,
    // mail must not leave from an address that has neither a PTR record nor SPF
    sourceAddresses: assigned.some(address => isGlobalUnicast(address) && !addresses.includes(address))
      ? local
      : [],
  }
  return { own, run }
}

/** The addresses of the interfaces are only taken if they are all: behind NAT, IPv4 may be missing. */
function publicAddresses(input: CommandInput, assigned: readonly string[]): Promise<string[]> {
  const found = assigned.filter(isGlobalUnicast)
  const lacksIpv4 = assigned.some(isIPv4) && !found.some(isIPv4)
  const list = assigned.length > 0 ? ` (found: ${assigned.join(', ')})` : ''
  const reason = `no network interface has a public ${lacksIpv4 ? 'IPv4 ' : ''}address${list}`
  return answer(input, {
    argument: input.values.address ?? (found.length > 0 && !lacksIpv4 ? found.join(',') : undefined),
    question: `Public IP addresses, separated by commas; ${reason}`,
    missing: `--address: ${reason}; behind NAT, name the public addresses`,
    read: readPublicAddresses,
  })
}

/** Returns the address if an interface has it, otherwise the private addresses of its family. */
function localOf(address: string, assigned: readonly string[], privateOnes: readonly string[]): string[] {
  if (assigned.includes(address)) return [address]
  const ofFamily = privateOnes.filter(other => isIP(other) === isIP(address))
  return ofFamily.length > 0 ? ofFamily : [address]
}

interface Question<T> {
  argument: string | boolean | undefined
  question: string
  /** Name of the argument, for the error without a terminal. */
  missing: string
  read(text: string): T
}

/** Asks again until the answer is valid. @throws UsageError when there is no terminal */
async function answer<T>(
  { ask, say }: CommandInput,
  { argument, question, missing, read }: Question<T>,
): Promise<T> {
  if (typeof argument === 'string') return read(argument)
  for (;;) {
    const text = await ask(question)
    if (text === null) throw new UsageError(`missing ${missing}; see mailhorn help init`)
    try {
      return read(text)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      say(error.message)
    }
  }
}

function oneOf<T extends string>(name: string, known: readonly T[], value: string | boolean): T {
  const found = known.find(one => one === value)
  if (found === undefined) throw new UsageError(`${name} must be one of ${known.join(', ')}, not "${value}"`)
  return found
}

function readHost(text: string): string {
  const host = text.trim().toLowerCase().replace(/\.$/, '')
  if (!HOST_NAME.test(host))
    throw new UsageError(`"${text.trim()}" is not a host name with a domain, such as mail.example.com`)
  return host
}

function readAddresses(name: string, text: string): string[] {
  const addresses = [...new Set(text.split(/[\s,]+/).filter(Boolean))]
  const wrong = addresses.find(address => isIP(address) === 0)
  if (wrong !== undefined || addresses.length === 0)
    throw new UsageError(`${name}: "${wrong ?? text}" is not an IP address`)
  return addresses
}

function readPublicAddresses(text: string): string[] {
  const addresses = readAddresses('--address', text)
  const wrong = addresses.find(address => NOT_PUBLIC.has(ipaddr.parse(address).range()))
  if (wrong === undefined) return addresses
  throw new UsageError(
    `--address: ${wrong} is not a public address; behind NAT, name the public address here and this one with --private-address`,
  )
}

function readContact(text: string): string {
  const mailbox = parseMailbox(text.trim())
  if ('fault' in mailbox) throw new UsageError(`--contact: "${text.trim()}" is not an email address`)
  return text.trim()
}
