/** Connections by where they come from: nobody holds more than a share. */
import type { SMTPServerOptions } from 'smtp-server'
import { Reply } from './reply.ts'

export function connectionLimit(mostOfOne: number): Pick<SMTPServerOptions, 'onConnect' | 'onClose'> {
  const addresses = new Map<string, number>()
  const sessions = new Set<string>()
  return {
    onConnect({ id, remoteAddress }, answer) {
      const count = (addresses.get(remoteAddress) ?? 0) + 1
      if (count > mostOfOne) return answer(new Reply(421, '4.7.0 Too many connections from you'))
      addresses.set(remoteAddress, count)
      sessions.add(id)
      return answer()
    },
    onClose({ id, remoteAddress }) {
      if (!sessions.delete(id)) return
      const count = (addresses.get(remoteAddress) ?? 1) - 1
      if (count === 0) addresses.delete(remoteAddress)
      else addresses.set(remoteAddress, count)
    },
  }
}
