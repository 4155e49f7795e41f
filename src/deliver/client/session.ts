/** An open session: takes transactions one after the other, watches the line in between, and takes leave. */
import type { Clock } from '../../lib/clock.ts'
import { replyOf } from '../../smtp/reply.ts'
import { type Prepared, prepare } from './envelope.ts'
import { transact } from './transaction.ts'
import type {
  Failure,
  RecipientResult,
  Session,
  SessionFacts,
  Transaction,
  TransactionResult,
} from './types.ts'
import type { Wire } from './wire.ts'

interface Job extends Prepared {
  envelopeSent: boolean
  resolve(result: TransactionResult): void
  reject(error: unknown): void
}

export class WireSession implements Session {
  readonly facts: SessionFacts
  readonly #wire: Wire
  readonly #clock: Clock
  readonly #pipelining: boolean
  readonly #jobs: Job[] = []
  #work: Promise<void> | undefined
  #left: Promise<void> | undefined

  constructor(wire: Wire, facts: SessionFacts, clock: Clock) {
    this.#wire = wire
    this.#clock = clock
    this.#pipelining = facts.extensions.has('PIPELINING')
    this.facts = facts
  }

  get alive(): boolean {
    return this.#wire.alive && this.#left === undefined
  }

  async send(transaction: Transaction): Promise<TransactionResult> {
    const prepared = prepare(transaction, this.facts)
    if ('refusal' in prepared) {
      const result: RecipientResult = { kind: 'refused', phase: 'mail', reply: prepared.refusal, local: true }
      return { recipients: transaction.recipients.map(() => result), reusable: this.alive, timings: {} }
    }
    if (this.#left) return failed(transaction, 'the session is taking leave')
    return new Promise((resolve, reject) => {
      this.#jobs.push({ ...prepared, envelopeSent: false, resolve, reject })
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
    await this.#work
    await leave(this.#wire)
  }

  async #workOff() {
    for (let job = this.#jobs.shift(); job; job = this.#jobs.shift()) await this.#carryOut(job)
    this.#work = undefined
  }

  async #carryOut(job: Job) {
    const wire = this.#wire
    const writeNext = () => {
      const next = this.#pipelining ? this.#jobs[0] : undefined
      if (!next) return
      wire.write(next.commands.join(''), next.commands.length)
      next.envelopeSent = true
    }
    try {
      if (wire.alive) this.facts.transactionCount++
      const outcome = await transact(job, {
        wire,
        pipelining: this.#pipelining,
        envelopeSent: job.envelopeSent,
        writeNext,
        monotonic: this.#clock.monotonic,
      })
      job.resolve({ recipients: outcome.recipients, timings: outcome.timings, reusable: this.alive })
      if (outcome.resetting) await this.#resetAnswered()
    } catch (error) {
      wire.close('destroyed after an internal error')
      job.reject(error)
    }
  }

  async #resetAnswered() {
    const raw = await this.#wire.reply('rset')
    if ('kind' in raw || raw.code < 300) return
    this.#wire.close('the peer refused RSET', replyOf(raw.code, raw.lines))
  }
}

function failed({ recipients }: Transaction, message: string): TransactionResult {
  const failure: Failure = { phase: 'mail', kind: 'closed', reply: null, message }
  const result: RecipientResult = { kind: 'failed', phase: 'mail', failure }
  return { recipients: recipients.map(() => result), reusable: false, timings: {} }
}

/** QUIT, and whatever the peer makes of it. */
export async function leave(wire: Wire): Promise<void> {
  wire.write('QUIT\r\n', 1)
  await wire.reply('quit')
  wire.close('QUIT was sent')
}
