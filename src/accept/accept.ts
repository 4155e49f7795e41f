/** The one door: what a user submits becomes stored emails and due deliveries, or a refusal and no change. */
import type { Plans } from '../accounts/plans.ts'
import type { Run } from '../store/command.ts'
import type { Find } from '../store/read.ts'
import type { Accepted } from './answer.ts'
import { type BatchSubmission, prepareBatch } from './batch.ts'
import type { AcceptInput, acceptCommands } from './commit.ts'
import { emailPreparer, type PrepareOptions } from './prepare.ts'
import { isRefusal, type Refusal } from './refusal.ts'
import { createRepeats, type Repeats } from './repeats.ts'
import type { IdempotencyToken, Sender, Submission } from './submission.ts'

export interface Accept extends Repeats {
  /**
   * Resolves once the email is durably stored.
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

  const commit = async (prepared: Pick<AcceptInput, 'sender' | 'idempotency' | 'emails' | 'batch'>) => {
    const quota = await quotaOf(prepared.sender.accountId)
    return run('accept', { ...prepared, now: clock.now(), feedbackRegions, quota })
  }

  return {
    ...createRepeats(options),
    async send(sender, submission, idempotency) {
      const email = await emailPreparer(options, sender)(submission)
      if (isRefusal(email)) return email
      return commit({ sender, idempotency, emails: [email], batch: null })
    },
    async sendBatch(sender, submitted, idempotency) {
      const batch = await prepareBatch(emailPreparer(options, sender), submitted)
      if (isRefusal(batch)) return batch
      const { emails, ...rest } = batch
      return commit({ sender, idempotency, emails, batch: rest })
    },
  }
}
