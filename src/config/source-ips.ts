/** Reads source IP addresses: `address`, or `address=name` with the EHLO name. */
import { isIP } from 'node:net'
import { list, type Setting, SettingFault } from './setting.ts'

interface SourceIpEntry {
  address: string
  /** EHLO name, in lower case. */
  name: string | null
}

const NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

export function sourceIps(doc: string): Setting<readonly SourceIpEntry[]> {
  const { read } = list([], doc)
  return { read: raw => distinct(read(raw).map(readEntry)), fallback: [], doc, shown: "the system's" }
}

function readEntry(entry: string): SourceIpEntry {
  const [, address = '', name] = /^([^=]*)(?:=(.*))?$/.exec(entry) ?? []
  if (isIP(address.trim()) === 0)
    throw new SettingFault(`contains "${entry}", which is neither an IP address nor address=name`)
  if (name !== undefined && !NAME.test(name.trim().toLowerCase()))
    throw new SettingFault(`contains "${entry}", whose name is not a host name with at least two labels`)
  return { address: address.trim().toLowerCase(), name: name?.trim().toLowerCase() ?? null }
}

function distinct(entries: SourceIpEntry[]): SourceIpEntry[] {
  const twice = entries.find(({ address }, at) => entries.findIndex(other => other.address === address) < at)
  if (twice) throw new SettingFault(`contains ${twice.address} twice`)
  return entries
}
