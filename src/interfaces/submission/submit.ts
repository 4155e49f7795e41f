/**
 * Accepts a submitted message: a child process parses it, and the accept path of the API stores it.
 */

import { wireId } from '../../lib/ids.ts'
import { printableAscii } from '../../lib/printable-ascii.ts'
import type { Accept } from '../../pipeline/accept/accept.ts'
import { isRefusal, REFUSALS, type Refusal } from '../../pipeline/accept/refusal.ts'
import { ReplyError } from '../../pipeline/inbound/reply.ts'
import type { Submit } from './listener.ts'
import type { MessageReader } from './message-reader.ts'

const REPLY_CHARACTERS_MAX = 400

export function createSubmit(accept: Pick<Accept, 'send'>, reader: Pick<MessageReader, 'read'>): Submit {
  return async (sender, pieces, envelope) => {
    const read = await reader.read(sender, pieces, envelope)
    if (isRefusal(read)) throw refusalReply(read)
    const accepted = await accept.send(sender, read.prepared, read.idempotency)
    if (isRefusal(accepted)) throw refusalReply(accepted)
    return `2.0.0 Ok: queued as ${wireId('eml', accepted.ids[0]!)}`
  }
}

/** Maps a refusal of the accept path to an SMTP reply. */
export function refusalReply({ refused, message }: Refusal): ReplyError {
  const [code, enhanced] = REFUSALS[refused].reply.split(' ')
  return new ReplyError(Number(code), `${enhanced} ${printableAscii(message, REPLY_CHARACTERS_MAX)}`)
}
