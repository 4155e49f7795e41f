/** Sets of IP addresses, given as addresses and CIDR ranges. */
import { BlockList, isIP } from 'node:net'

export interface Networks {
  /** @param address in the form that a socket reports */
  contains(address: string): boolean
}

const PREFIX = /^\d{1,3}$/

/** Tells whether a text is an address or a CIDR range. An address with a zone such as `%eth0` is neither. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0 || address.includes('%')) return false
  return prefix === undefined || (PREFIX.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32))
}

/** @param entries addresses and CIDR ranges, for each of which `isNetwork` is true */
export function networks(entries: readonly string[]): Networks {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/')
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return {
    contains(address) {
      const bare = plainAddress(address)
      return isIP(bare) !== 0 && list.check(bare, familyOf(bare))
    },
  }
}

/** Removes the prefix `::ffff:` that a dual-stack socket adds to an IPv4 address. */
export function plainAddress(address: string): string {
  return address.trim().replace(/^::ffff:(?=\d+\.)/i, '')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
