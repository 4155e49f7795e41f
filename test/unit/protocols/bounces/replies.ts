/**
 * Negative replies as the world's mail servers give them (in our own words), and what each means, read from
 * `replies.txt`: `== whose [@provider]`, and below it rows of `verdict | phase | reply`. `\n` parts the lines
 * of a reply. A verdict is the action, the class, and marks: `!` the address is blamed, `~` the
 * destination is congested, `^` our reputation there is bad, `*` the operator is alerted.
 */
import { readFileSync } from 'node:fs'
import type { ReplyPhase } from '../../../../src/protocols/bounces/sentence/reading.ts'
import { replyOf, type SmtpReply } from '../../../../src/protocols/smtp/reply.ts'

export interface KnownReply {
  from: string
  provider: string | undefined
  phase: ReplyPhase
  /** Line of the file. */
  line: string
  reply: SmtpReply
  verdict: string
}

/** @param line such as `550-5.1.1 no\n550 5.1.1 such user` */
export function readLine(line: string): SmtpReply {
  const lines = line.split('\\n')
  return replyOf(
    Number(line.slice(0, 3)),
    lines.map(one => one.slice(4)),
  )
}

function read(text: string): KnownReply[] {
  const replies: KnownReply[] = []
  let from = ''
  let provider: string | undefined
  for (const row of text.split('\n')) {
    const heading = /^== (.*?)(?: @([a-z0-9-]+))?$/.exec(row)
    if (heading) {
      from = heading[1]!
      provider = heading[2]
    } else if (row !== '') {
      const [, verdict, phase, line] = /^([^|]+) \| ([a-z-]+) \| (.*)$/.exec(row)!
      replies.push({
        from,
        provider,
        phase: phase as ReplyPhase,
        line: line!,
        reply: readLine(line!),
        verdict: verdict!,
      })
    }
  }
  return replies
}

export const KNOWN_REPLIES: readonly KnownReply[] = read(
  readFileSync(new URL('replies.txt', import.meta.url), 'utf8'),
)
