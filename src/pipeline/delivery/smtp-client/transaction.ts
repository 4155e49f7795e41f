/**
 * One mail transaction on an open session (RFC 5321 §3.3): envelope, message, and a result for each
 * recipient.
 */
import { formatReply, replyOf, type SmtpReply } from '../../../protocols/smtp/reply.ts'
import { type Prepared, writeEnvelope } from './envelope.ts'
import { EMPTY_MESSAGE } from './framing.ts'
import type { RawReply } from './reply-reader.ts'
import type { PhaseReplies, PhaseTimings, RecipientResult, SmtpFailure } from './types.ts'
import type { Wire } from './wire.ts'

interface TransactionContext {
  wire: Wire
  /** Whether commands may be sent before the previous ones are answered (RFC 2920). */
  pipelining: boolean
  /** Whether the envelope was sent together with the previous message. */
  envelopeSent: boolean
  mayWaitOn: (() => boolean) | undefined
  /** Writes the envelope of the next transaction, if one waits. Called right after the final dot. */
  writeNext(): void
  monotonic(): number
}

export interface TransactionOutcome {
  recipients: RecipientResult[]
  timings: PhaseTimings
  replies: PhaseReplies
  /** Whether RSET was sent and its reply is outstanding. */
  resetting: boolean
}

type EnvelopePhase = 'mail' | 'rcpt' | 'data'
type VerdictPhase = EnvelopePhase | 'body' | 'final-dot'

interface Progress extends Prepared, TransactionContext {
  /** Undefined for recipients without a result. */
  results: (RecipientResult | undefined)[]
  timings: PhaseTimings
  replies: PhaseReplies
  markedAt: number
  resetting: boolean
}

/** Never rejects: failures are in the results. After a failure the connection is closed. */
export async function transact(prepared: Prepared, context: TransactionContext): Promise<TransactionOutcome> {
  const progress: Progress = {
    ...prepared,
    ...context,
    results: new Array<undefined>(prepared.recipientCount).fill(undefined),
    timings: {},
    replies: {},
    markedAt: context.monotonic(),
    resetting: false,
  }
  context.wire.mayWaitOn = context.mayWaitOn
  context.wire.isPipelined = context.pipelining
  const failure = await converse(progress)
  if (failure) {
    settle(progress, { kind: 'failed', phase: failure.phase, failure })
    context.wire.close(failure.message, failure.reply)
  }
  const { timings, replies, resetting } = progress
  return { recipients: progress.results as RecipientResult[], timings, replies, resetting }
}

async function converse(progress: Progress): Promise<SmtpFailure | undefined> {
  const { pipelining, recipientCount } = progress
  if (pipelining && !progress.envelopeSent) writeEnvelope(progress.wire, progress)
  const mail = await ask(progress, 'mail', 0)
  if (isFailure(mail)) return mail
  const mailAccepted = mail.code < 400
  if (!mailAccepted) settle(progress, refusal('mail', mail))
  if (!mailAccepted && !pipelining) return undefined
  for (let i = 0; i < recipientCount; i++) {
    const rcpt = await ask(progress, 'rcpt', 1 + i)
    if (isFailure(rcpt)) return rcpt
    if (rcpt.code >= 400) progress.results[i] ??= refusal('rcpt', rcpt)
  }
  if (!pipelining && allSettled(progress)) return reset(progress)
  const data = await ask(progress, 'data', 1 + recipientCount)
  if (isFailure(data)) return data
  if (data.code === 354) return allSettled(progress) ? sendNothing(progress) : sendMessage(progress)
  settle(progress, refusal('data', data))
  return mailAccepted ? reset(progress) : undefined
}

/**
 * Some peers expect a message although they accepted no recipient. They get an empty one, whose reply is
 * ignored (RFC 2920 §3.1).
 */
async function sendNothing(progress: Progress): Promise<SmtpFailure | undefined> {
  progress.wire.write(EMPTY_MESSAGE, 1)
  const reply = await answer(progress, 'final-dot')
  return isFailure(reply) ? reply : undefined
}

async function sendMessage(progress: Progress): Promise<SmtpFailure | undefined> {
  const { wire, blocks, writeNext } = progress
  if (!wire.alive) return wire.failure('body')
  for (let i = 0; i < blocks.length - 1; i++) {
    wire.write(blocks[i]!, i === 0 ? 1 : 0)
    await wire.writable('body')
    if (wire.hasReply || !wire.alive) return stopEarly(progress)
  }
  wire.together(() => {
    wire.write(blocks.at(-1)!, blocks.length === 1 ? 1 : 0)
    writeNext()
  })
  mark(progress, 'body')
  const reply = await answer(progress, 'final-dot')
  if (isFailure(reply)) return reply
  if (reply.code >= 400) settle(progress, refusal('final-dot', reply))
  else settle(progress, { kind: 'accepted', phase: 'final-dot', reply: replyOf(reply.code, reply.lines) })
  return undefined
}

/**
 * The peer replied or closed the connection before the message was complete. What was sent cannot be revoked,
 * so the session ends.
 */
async function stopEarly(progress: Progress): Promise<SmtpFailure | undefined> {
  const { wire } = progress
  const reply = await answer(progress, 'body')
  if (isFailure(reply)) return reply
  if (reply.code < 400) {
    wire.breach(`the peer sent ${reply.code} before the message was complete`)
    return wire.failure('body')
  }
  const refused = refusal('body', reply)
  settle(progress, refused)
  wire.close('the peer refused the message before it was complete', refused.reply)
  return undefined
}

/** Resets a transaction that is open at the peer, without waiting for the reply. */
function reset(progress: Progress): undefined {
  progress.wire.write('RSET\r\n', 1)
  progress.resetting = true
}

function ask(progress: Progress, phase: EnvelopePhase, command: number): Promise<RawReply | SmtpFailure> {
  if (!progress.pipelining) progress.wire.write(progress.commands[command]!, 1)
  return answer(progress, phase)
}

/**
 * Returns the reply to what was sent in this phase. 421 is a failure, and so is a code that is not valid in
 * this phase.
 */
async function answer(progress: Progress, phase: VerdictPhase): Promise<RawReply | SmtpFailure> {
  const { wire } = progress
  const raw = await wire.reply(phase)
  mark(progress, phase)
  if (isFailure(raw)) return raw
  progress.replies[phase] = raw
  if (raw.code === 421) {
    const reply = replyOf(raw.code, raw.lines)
    return { phase, kind: 'reply', reply, message: formatReply(reply) }
  }
  const isGoAhead = raw.code >= 300 && raw.code < 400
  if (raw.code >= 400 || (phase === 'data' ? raw.code === 354 : !isGoAhead)) return raw
  wire.breach(`the peer answered ${raw.code} in phase ${phase}`)
  return wire.failure(phase)
}

function mark(progress: Progress, phase: VerdictPhase) {
  const now = progress.monotonic()
  progress.timings[phase] = (progress.timings[phase] ?? 0) + now - progress.markedAt
  progress.markedAt = now
}

/** Gives the result to every recipient that has none. */
function settle({ results }: Progress, result: RecipientResult) {
  for (let i = 0; i < results.length; i++) results[i] ??= result
}

function allSettled({ results }: Progress): boolean {
  return results.every(result => result !== undefined)
}

function refusal(phase: VerdictPhase, raw: RawReply): RecipientResult & { reply: SmtpReply } {
  return { kind: 'refused', phase, reply: replyOf(raw.code, raw.lines), local: false }
}

function isFailure(answer: RawReply | SmtpFailure): answer is SmtpFailure {
  return 'kind' in answer
}
