/** Connections by where they come from: nobody holds more than a share of them, or opens them without end. */
import type { SMTPServerOptions } from 'smtp-server'
import { isLoopback } from '../dns/address-safety.ts'
import { clientNetworkOf } from '../dns/netblock.ts'
import type { Clock } from '../lib/clock.ts'
import { Reply } from './reply.ts'

interface ConnectionTerms {
  /** At a time. */
  mostOfOne: number
  /** New ones; any number when 0, and from this machine, where a gateway brings the mail of many. */
  newPerMinute: number
  clock: Clock
}

const MINUTE_MS = 60_000

export function connectionLimit({
  mostOfOne,
  newPerMinute,
  clock,
}: ConnectionTerms): Pick<SMTPServerOptions, 'onConnect' | 'onClose'> {
  const places = new Map<string, number>()
  const sessions = new Set<string>()
  const isNew = countPerMinute(newPerMinute, clock)
  return {
    onConnect({ id, remoteAddress }, answer) {
      const place = clientNetworkOf(remoteAddress)
      if (!isLoopback(remoteAddress) && !isNew(place))
        return answer(new Reply(421, '4.7.0 Too many new connections from you'))
      const count = (places.get(place) ?? 0) + 1
      if (count > mostOfOne) return answer(new Reply(421, '4.7.0 Too many connections from you'))
      places.set(place, count)
      sessions.add(id)
      return answer()
    },
    onClose({ id, remoteAddress }) {
      if (!sessions.delete(id)) return
      const place = clientNetworkOf(remoteAddress)
      const count = (places.get(place) ?? 1) - 1
      if (count === 0) places.delete(place)
      else places.set(place, count)
    },
  }
}

/** Counts by minutes that begin with their first connection. @returns false beyond the limit */
function countPerMinute(limit: number, clock: Clock): (place: string) => boolean {
  const counts = new Map<string, number>()
  let began = clock.monotonic()
  return place => {
    if (limit === 0) return true
    const now = clock.monotonic()
    if (now - began >= MINUTE_MS) {
      counts.clear()
      began = now
    }
    const count = (counts.get(place) ?? 0) + 1
    if (count <= limit) counts.set(place, count)
    return count <= limit
  }
}
