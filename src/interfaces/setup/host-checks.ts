/**
 * Checks of a host before the service runs on it: its addresses, the ports of the listeners, PTR records, and
 * the delegation of the provider zone. Called by `app/doctor.ts` for `mailhorn init`.
 */
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { hostPort } from '../../lib/host-port.ts'
import { findDelegation } from '../../protocols/dns/name-servers.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'
import { reverseName } from '../../protocols/dns/reverse.ts'
import type { CheckSessions } from '../../resources/domains/check-session.ts'
import { bad, type DoctorFinding, type Examination, good, unknownFinding } from '../doctor/finding.ts'
import { parentRecords } from './own-name.ts'

export interface PlannedListener {
  host: string
  port: number
  transport: 'tcp' | 'udp'
}

/** Checks whether the public addresses are those of a network interface. */
export function ownAddresses(addresses: readonly string[], interfaces: readonly string[]): Examination {
  const check = 'public_address'
  return {
    check,
    examine: async () =>
      addresses.map(address =>
        interfaces.includes(address)
          ? good(check, address, 'The address is assigned to a network interface of this host.')
          : bad(
              'warning',
              check,
              address,
              'No network interface of this host has this address.',
              'Behind NAT (AWS, Google Cloud, Azure), forward all ports to this host, with the addresses of the clients. Otherwise, correct the address.',
            ),
      ),
  }
}

/**
 * Checks whether the addresses of the listeners can be bound.
 * @param isRunning whether the service runs on this host already, and uses its ports
 */
export function freePorts(listeners: readonly PlannedListener[], isRunning = false): Examination {
  const check = 'ports'
  return {
    check,
    async examine() {
      const found = await Promise.all(
        listeners.map(async listener => {
          const code = await bindFault(listener)
          return code === undefined || (isRunning && code === 'EADDRINUSE')
            ? []
            : [portFinding(check, listener, code)]
        }),
      )
      const faults = found.flat()
      const ports = [...new Set(listeners.map(({ port }) => port))].sort((a, b) => a - b)
      return faults.length > 0
        ? faults
        : [
            good(
              check,
              null,
              `Ports ${ports.join(', ')} are free on this host${isRunning ? ', or used by the running service' : ''}. Whether firewalls let connections through cannot be checked from here.`,
            ),
          ]
    },
  }
}

function portFinding(check: string, { host, port, transport }: PlannedListener, code: string): DoctorFinding {
  const subject = `${hostPort(host, port)} (${transport.toUpperCase()})`
  if (code === 'EACCES' || code === 'EPERM')
    return unknownFinding(check, subject, 'Only root can test this port: run `mailhorn init` as root.')
  if (code === 'EADDRNOTAVAIL')
    return bad(
      'failed',
      check,
      subject,
      'This host does not have the address.',
      'Behind NAT, name the private address of the network interface (--private-address).',
    )
  if (code !== 'EADDRINUSE') return unknownFinding(check, subject, `The port cannot be opened (${code}).`)
  const advice =
    port === 53
      ? 'Where it is systemd-resolved or another resolver: have it listen on other addresses, or stop it. `ss -lntup` names the program.'
      : 'Stop or remove that program, unless it is Mailhorn itself. `ss -lntup` names the program; on a fresh Debian, port 25 belongs to Exim or Postfix.'
  return bad('failed', check, subject, 'Another program uses the port.', advice)
}

/** @returns the error code of a bind; undefined if it succeeds */
function bindFault({ host, port, transport }: PlannedListener): Promise<string | undefined> {
  return new Promise(resolve => {
    if (transport === 'tcp') {
      const server = createServer()
      server.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message))
      server.listen({ host, port }, () => server.close(() => resolve(undefined)))
      return
    }
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    socket.once('error', error => {
      socket.close()
      resolve((error as NodeJS.ErrnoException).code ?? error.message)
    })
    socket.bind({ address: host, port }, () => socket.close(() => resolve(undefined)))
  })
}

interface PointersOptions {
  resolver: Pick<Resolver, 'ptr'>
  addresses: readonly string[]
  mailHost: string
}

/** Checks whether the PTR records name the mail host. The A record that leads back is served by Mailhorn. */
export function pointers({ resolver, addresses, mailHost }: PointersOptions): Examination {
  const check = 'reverse_name'
  return {
    check,
    examine: () =>
      Promise.all(
        addresses.map(async address => {
          const answer = await resolver.ptr(reverseName(address))
          if (answer.kind === 'failure')
            return unknownFinding(check, address, `The PTR record could not be looked up: ${answer.reason}.`)
          const names = answer.kind === 'found' ? answer.records.map(name => name.toLowerCase()) : []
          if (names.includes(mailHost)) return good(check, address, `The PTR record names ${mailHost}.`)
          const message =
            names.length === 0 ? 'There is no PTR record.' : `The PTR record names ${names.join(', ')}.`
          const advice = `Ask your hosting provider to set the PTR (reverse DNS) record to ${mailHost}; most have a field for it in their control panel.`
          return bad('failed', check, address, message, advice)
        }),
      ),
  }
}

interface ParentOptions {
  mailHost: string
  addresses: readonly string[]
  inquiries: CheckSessions
}

/** Checks the NS and glue records of the provider zone at the name servers of its parent zone. */
export function parentDelegation({ mailHost, addresses, inquiries }: ParentOptions): Examination {
  const check = 'zone_delegation'
  const advice = 'Add the NS and address records of step 3 where the parent zone is hosted.'
  const wanted = parentRecords({ host: mailHost, addresses })
  const wantedNames = [...new Set(wanted.filter(({ type }) => type === 'NS').map(({ value }) => bare(value)))]
  return {
    check,
    async examine() {
      const inquiry = inquiries.open()
      try {
        const found = await findDelegation(mailHost, inquiry)
        if (found.kind === 'unknown')
          return [unknownFinding(check, mailHost, `The delegation could not be looked up: ${found.reason}.`)]
        if (found.kind === 'absent')
          return [bad('failed', check, mailHost, `The zone is not delegated, says ${found.server}.`, advice)]
        if (found.names.join() !== wantedNames.toSorted().join()) {
          const message = `The zone is delegated to ${found.names.join(', ')} in place of ${wantedNames.join(', ')}.`
          return [bad('failed', check, mailHost, message, advice)]
        }
        const faults = wantedNames.flatMap(name => {
          const glue = found.glue.get(name) ?? []
          const missing = addresses.filter(address => !glue.some(known => isSame(known, address)))
          if (missing.length === 0) return []
          const message = `The parent zone has ${glue.join(', ') || 'no address'} for ${name}, and lacks ${missing.join(', ')}.`
          return [bad('failed', check, name, message, advice)]
        })
        if (faults.length > 0) return faults
        return [good(check, mailHost, `The zone is delegated to ${found.names.join(' and ')} on this host.`)]
      } finally {
        inquiry.close()
      }
    },
  }
}

/** Finding about a mail host whose name can never be in public DNS (RFC 2606). */
export function reservedName(mailHost: string): Examination {
  const check = 'zone_delegation'
  const message = 'The name is reserved for examples and tests, and cannot be delegated.'
  const advice = 'Choose a host name below a domain you own.'
  return { check, examine: async () => [bad('failed', check, mailHost, message, advice)] }
}

function isSame(one: string, other: string): boolean {
  return reverseName(one) === reverseName(other)
}

function bare(name: string): string {
  return name.replace(/\.$/, '').toLowerCase()
}
