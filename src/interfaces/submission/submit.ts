/**
 * From a submitted message to its stored email: read in a child process, then through the one door of all.
 */

import { wireId } from '../../lib/ids.ts'
import type { Accept } from '../../pipeline/accept/accept.ts'
import { isRefusal } from '../../pipeline/accept/refusal.ts'
import type { Submit } from './listener.ts'
import type { MessageReader } from './message-reader.ts'
import { refusalReply } from './refused.ts'

export function createSubmit(accept: Pick<Accept, 'send'>, reader: Pick<MessageReader, 'read'>): Submit {
  return async (sender, pieces, recipients) => {
    const read = await reader.read(sender, pieces, recipients)
    if (isRefusal(read)) throw refusalReply(read)
    const accepted = await accept.send(sender, read.prepared, read.idempotency)
    if (isRefusal(accepted)) throw refusalReply(accepted)
    return `2.0.0 Ok: queued as ${wireId('eml', accepted.ids[0]!)}`
  }
}
