/**
 * An open session: runs transactions one after another, pipelines the next envelope behind a message, and
 * ends with QUIT.
 */
import type { Clock } from '../../../lib/clock.ts'
import { replyOf } from '../../../protocols/smtp/reply.ts'
import { type Prepared, prepare, writeEnvelope } from './envelope.ts'
import { type TransactionOutcome, transact } from './transaction.ts'
import type {
  RecipientResult,
  SessionOptions,
  SmtpFailure,
  SmtpSession,
  SmtpSessionFacts,
  Transaction,
  TransactionResult,
} from './types.ts'
import type { Wire } from './wire.ts'

interface Job {
  transaction: Transaction
  prepared: Prepared
  envelopeSent: boolean
  onFollowable: (() => void) | undefined
  resolve(result: TransactionResult): void
  reject(error: unknown): void
}

/**
 * When the peer takes longer to accept a message, pipelining saves little, and another session may be faster.
 */
const QUICK_ANSWER_MS_MAX = 500

export class WireSession implements SmtpSession {
  readonly facts: SmtpSessionFacts
  readonly #wire: Wire
  readonly #clock: Clock
  readonly #pipelining: boolean
  /** Whether the peer accepted the last message quickly. */
  #isQuick = false
  readonly #jobs: Job[] = []
  #work: Promise<void> | undefined
  #left: Promise<void> | undefined

  constructor(wire: Wire, facts: SmtpSessionFacts, { clock, pipelining = true }: SessionOptions) {
    this.#wire = wire
    this.#clock = clock
    this.#pipelining = pipelining && facts.extensions.has('PIPELINING')
    this.facts = facts
  }

  get alive(): boolean {
    return this.#wire.alive && this.#left === undefined
  }

  async send(transaction: Transaction, onFollowable?: () => void): Promise<TransactionResult> {
    const prepared = prepare(transaction, this.facts)
    if ('refusal' in prepared) {
      const result: RecipientResult = { kind: 'refused', phase: 'mail', reply: prepared.refusal, local: true }
      return {
        recipients: transaction.recipients.map(() => result),
        reusable: this.alive,
        timings: {},
        replies: {},
      }
    }
    if (this.#left) return failed(transaction, 'the session is taking leave')
    return new Promise((resolve, reject) => {
      this.#jobs.push({ transaction, prepared, envelopeSent: false, onFollowable, resolve, reject })
      this.#work ??= this.#workOff()
    })
  }

  quit(): Promise<void> {
    this.#left ??= this.#takeLeave()
    return this.#left
  }

  destroy() {
    this.#wire.close('destroyed by us')
  }

  async #takeLeave() {
    await this.#work?.catch(() => {}) // whoever started the work gets its error
    await leave(this.#wire)
  }

  async #workOff() {
    for (let job = this.#jobs.shift(); job; job = this.#jobs.shift()) await this.#carryOut(job)
    this.#work = undefined
  }

  async #carryOut(job: Job) {
    const wire = this.#wire
    const { prepared, transaction } = job
    const writeNext = () => {
      const next = this.#pipelining ? this.#jobs[0] : undefined
      if (!next) return
      writeEnvelope(wire, next.prepared)
      next.envelopeSent = true
      this.#envelopeLeft(next)
    }
    try {
      if (wire.alive) this.facts.transactionCount++
      const transacting = transact(prepared, {
        wire,
        pipelining: this.#pipelining,
        envelopeSent: job.envelopeSent,
        writeNext,
        mayWaitOn: transaction.mayWaitOn,
        monotonic: this.#clock.monotonic,
      })
      if (this.#pipelining && !job.envelopeSent) this.#envelopeLeft(job)
      const outcome = await transacting
      const recipients = withSurplus(outcome.recipients, transaction)
      const { timings, replies } = outcome
      this.#learnFrom(outcome)
      job.resolve({ recipients, timings, replies, reusable: this.alive })
      if (outcome.resetting) await this.#resetAnswered()
    } catch (error) {
      wire.close('destroyed after an internal error')
      job.reject(error)
    }
  }

  #learnFrom({ timings }: TransactionOutcome) {
    const answerMs = timings['final-dot']
    if (answerMs !== undefined) this.#isQuick = answerMs <= QUICK_ANSWER_MS_MAX
  }

  #envelopeLeft({ onFollowable }: Job) {
    if (this.#isQuick) onFollowable?.()
  }

  async #resetAnswered() {
    const raw = await this.#wire.reply('rset')
    if ('kind' in raw || raw.code < 300) return
    this.#wire.close('the peer refused RSET', replyOf(raw.code, raw.lines))
  }
}

/** Results of all recipients. Those beyond the peer's limit per transaction are deferred. */
function withSurplus(results: RecipientResult[], { recipients }: Transaction): RecipientResult[] {
  if (results.length === recipients.length) return results
  const text = `this server takes ${results.length} recipients at once`
  const reply = { code: 452, enhanced: '4.5.3', text }
  const surplus = { kind: 'refused', phase: 'rcpt', reply, local: true } as const
  return recipients.map((_, i) => results[i] ?? surplus)
}

function failed({ recipients }: Transaction, message: string): TransactionResult {
  const failure: SmtpFailure = { phase: 'mail', kind: 'closed', reply: null, message }
  const result: RecipientResult = { kind: 'failed', phase: 'mail', failure }
  return { recipients: recipients.map(() => result), reusable: false, timings: {}, replies: {} }
}

/** Sends QUIT and closes the connection, whatever the peer replies. */
export async function leave(wire: Wire): Promise<void> {
  wire.write('QUIT\r\n', 1)
  await wire.reply('quit')
  wire.close('QUIT was sent')
}
