/** The one door: what a user submits becomes stored emails and due deliveries, or a refusal and no change. */
import type { Plans } from '../accounts/plans.ts'
import type { Run } from '../store/command.ts'
import type { Find } from '../store/read.ts'
import type { Accepted } from './answer.ts'
import { type BatchSubmission, prepareBatch } from './batch.ts'
import type { AcceptInput, acceptCommands } from './commit.ts'
import { emailPreparer, type PrepareOptions } from './prepare.ts'
import { isRefusal, type Refusal, refuseAt, refuseField } from './refusal.ts'
import { createRepeats } from './repeats.ts'
import type { IdempotencyToken, Sender, Submission } from './submission.ts'

export interface Accept {
  /**
   * Resolves once the email is durably stored; a repeated request is answered as its first was.
   * @throws StorageUnavailable
   */
  send(
    sender: Sender,
    submission: Submission,
    idempotency: IdempotencyToken | null,
  ): Promise<Accepted | Refusal>
  /** The same for a batch: one command, one commit. */
  sendBatch(
    sender: Sender,
    batch: BatchSubmission,
    idempotency: IdempotencyToken | null,
  ): Promise<Accepted | Refusal>
}

interface AcceptOptions extends PrepareOptions {
  run: Run<typeof acceptCommands>
  find: Find
  feedbackRegions: string[]
  quotaOf: Plans['quotaOf']
}

export function createAccept(options: AcceptOptions): Accept {
  const { run, clock, feedbackRegions, quotaOf } = options
  const { once } = createRepeats(options)

  const commit = async (prepared: Pick<AcceptInput, 'sender' | 'idempotency' | 'emails' | 'batch'>) => {
    const quota = await quotaOf(prepared.sender.accountId)
    return run('accept', { ...prepared, now: clock.now(), feedbackRegions, quota })
  }

  return {
    async send(sender, submission, idempotency) {
      const foreign = refuseForeign(sender, submission)
      if (foreign) return foreign
      return once(sender, idempotency, async () => {
        const email = await emailPreparer(options, sender)(submission)
        if (isRefusal(email)) return email
        return commit({ sender, idempotency, emails: [email], batch: null })
      })
    },
    async sendBatch(sender, submitted, idempotency) {
      for (const { index, submission } of submitted.emails) {
        const foreign = refuseForeign(sender, submission)
        if (foreign) return refuseAt(index, foreign)
      }
      return once(sender, idempotency, async () => {
        const batch = await prepareBatch(emailPreparer(options, sender), submitted)
        if (isRefusal(batch)) return batch
        const { emails, ...rest } = batch
        return commit({ sender, idempotency, emails, batch: rest })
      })
    },
  }
}

/**
 * Asked before any former answer is given, which may be another credential's, and in every mode of a batch. A domain's
 * name never changes, and so no race gets past the sender's bond to one.
 */
function refuseForeign({ domain }: Sender, { from }: Submission): Refusal | undefined {
  if (domain === null || from.domain === domain) return undefined
  return refuseField('foreign_domain', 'from', `This API key may send \`from\` ${domain} only.`)
}
