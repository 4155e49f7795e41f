/**
 * Answers queries of a scripted DNS server: records by name, CNAME chains, wildcards, and names that another
 * server answers.
 */
import { type DnsRecord, FLAG, RCODE, type TypeName } from '../../src/protocols/dns/wire.ts'
import { askServer } from './zone-client.ts'
import { type Behaviour, parseZoneText, type ZoneEntry } from './zone-text.ts'

export interface WorldReply {
  rcode: number
  answers: DnsRecord[]
  behaviour?: Behaviour | undefined
}

export interface ZoneWorld {
  set(text: string): void
  add(text: string): void
  remove(name: string): void
  forward(suffix: string, server: string): void
  /** @param name lower case */
  answer(name: string, type: TypeName): Promise<WorldReply>
  /** Waits no longer for servers that were asked further. */
  close(): void
}

const MAX_CHAIN = 16
const EDNS = { payloadBytes: 1232, version: 0, dnssecOk: false }
const RCODES: Record<Behaviour, number> = {
  SERVFAIL: RCODE.SERVFAIL,
  REFUSED: RCODE.REFUSED,
  NXDOMAIN: RCODE.NXDOMAIN,
  TIMEOUT: RCODE.NOERROR,
  TRUNCATED: RCODE.NOERROR,
  MALFORMED: RCODE.NOERROR,
}

export function createZoneWorld(text: string, { bareCname }: { bareCname: boolean }): ZoneWorld {
  let index = indexOf(parseZoneText(text))
  const forwards = new Map<string, string>()
  const closing = new AbortController()

  const answerOne = async (name: string, type: TypeName): Promise<WorldReply> => {
    const suffix = [...forwards.keys()].find(known => name === known || name.endsWith(`.${known}`))
    if (suffix !== undefined) return askFurther(forwards.get(suffix)!, name, type, closing.signal)
    const entries = entriesAt(index, name)
    const scripted = entries.find(entry => 'behaviour' in entry && (entry.type ?? type) === type)
    const behaviour = scripted && 'behaviour' in scripted ? scripted.behaviour : undefined
    if (behaviour && behaviour !== 'TRUNCATED') return { rcode: RCODES[behaviour], answers: [], behaviour }
    const records = entries.flatMap(entry => ('record' in entry ? [{ ...entry.record, name }] : []))
    const requests = records.filter(record => record.type === type)
    const answers = requests.length > 0 ? requests : records.filter(record => record.type === 'CNAME')
    const exists = entries.length > 0 || index.above.has(name)
    return { rcode: exists ? RCODE.NOERROR : RCODE.NXDOMAIN, answers, behaviour }
  }

  return {
    set: lines => {
      index = indexOf(parseZoneText(lines))
    },
    add: lines => {
      index = indexOf([...index.entries, ...parseZoneText(lines)])
    },
    remove: name => {
      index = indexOf(index.entries.filter(entry => nameOf(entry) !== name.toLowerCase()))
    },
    forward: (suffix, server) => void forwards.set(suffix.toLowerCase(), server),
    close: () => closing.abort(),
    async answer(name, type) {
      const answers: DnsRecord[] = []
      let at = name
      for (let links = 0; links <= MAX_CHAIN; links++) {
        const step = await answerOne(at, type)
        answers.push(...step.answers)
        const last = step.answers.at(-1)
        const chasing = last?.type === 'CNAME' && type !== 'CNAME' && step.rcode === RCODE.NOERROR
        if (step.behaviour || !chasing || bareCname) return { ...step, answers }
        at = last.target.toLowerCase()
      }
      return { rcode: RCODE.SERVFAIL, answers: [] }
    },
  }
}

async function askFurther(
  server: string,
  name: string,
  type: TypeName,
  signal: AbortSignal,
): Promise<WorldReply> {
  const requests = (transport: 'udp' | 'tcp') =>
    askServer(server, name, type, { edns: EDNS, transport, signal }).catch(() => undefined)
  const overUdp = await requests('udp')
  const cut = overUdp !== undefined && (overUdp.flags & FLAG.TC) !== 0
  const reply = cut ? await requests('tcp') : overUdp
  if (!reply || reply.rcode === RCODE.REFUSED) return { rcode: RCODE.SERVFAIL, answers: [] }
  return { rcode: reply.rcode, answers: [...reply.answers] }
}

interface ZoneIndex {
  entries: readonly ZoneEntry[]
  byName: ReadonlyMap<string, ZoneEntry[]>
  /** Every name that lies above one with entries: it exists, too, though it may be empty (RFC 8020). */
  above: ReadonlySet<string>
}

function indexOf(entries: readonly ZoneEntry[]): ZoneIndex {
  const byName = Map.groupBy(entries, nameOf)
  const above = new Set([...byName.keys()].flatMap(parentsOf))
  return { entries, byName, above }
}

/** The lines of the name itself, else those of the nearest `*` above it (RFC 4592). */
function entriesAt({ byName, above }: ZoneIndex, name: string): readonly ZoneEntry[] {
  const own = byName.get(name)
  if (own || above.has(name)) return own ?? []
  for (const parent of parentsOf(name)) {
    const wild = byName.get(`*.${parent}`)
    if (wild) return wild
  }
  return []
}

function parentsOf(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, i) => labels.slice(i + 1).join('.'))
}

function nameOf(entry: ZoneEntry): string {
  return 'record' in entry ? entry.record.name : entry.name
}
