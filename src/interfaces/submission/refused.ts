/** A refusal of the accept path, as this door puts it. */
import { REFUSALS, type Refusal } from '../../pipeline/accept/refusal.ts'
import { ReplyError } from '../../pipeline/inbound/reply.ts'

const CHARACTERS_MAX = 400

export function refusalReply({ refused, message }: Refusal): ReplyError {
  const [code, enhanced] = REFUSALS[refused].reply.split(' ')
  return new ReplyError(Number(code), `${enhanced} ${printable(message)}`)
}

/** Reduces a text to one line of ASCII. */
function printable(text: string): string {
  return text.replace(/[^ -~]+/g, '?').slice(0, CHARACTERS_MAX)
}
