/** The doors for mail programs, on ports 587 and 465: a part of the composition root. */
import type { Accept } from './accept/accept.ts'
import type { ApiKeys } from './accounts/api-keys.ts'
import type { RateLimit } from './accounts/rate-limit.ts'
import { createIdSource } from './lib/ids.ts'
import type { Parts } from './parts.ts'
import { createIncoming } from './submission/incoming.ts'
import { startSubmissionListener } from './submission/listener.ts'
import { createMessageReader } from './submission/message-reader.ts'
import { createSignIn } from './submission/sign-in.ts'
import { createSubmit } from './submission/submit.ts'

interface Behind {
  accept: Accept
  apiKeys: ApiKeys
  /** Undefined where the rate is not limited. */
  rateLimit: RateLimit | undefined
}

export interface SubmissionDoors {
  /** STARTTLS; null where it is off. */
  submission: { address: string; port: number } | null
  /** TLS from the first octet. */
  submissionTls: { address: string; port: number } | null
}

/** Messages that are on their way in, or wait to be read. */
const MOST_BYTES = 256 * 1024 * 1024

/** @param started gets what is to be closed, in the order of the starts */
export async function startSubmissionDoors(
  { config, clock, log, store, certificates }: Parts,
  { accept, apiKeys, rateLimit }: Behind,
  started: (() => unknown)[],
): Promise<SubmissionDoors> {
  const entry = new URL('./submission-thread.ts', import.meta.url)
  const reader = createMessageReader({ entry, location: store.location, clock, newId: createIdSource(), log })
  started.push(reader.close)
  const common = {
    mailHost: config.mailHost,
    certificates,
    signIn: createSignIn(apiKeys, clock),
    spend: (accountId: Uint8Array) => rateLimit === undefined || rateLimit.take(accountId) !== undefined,
    submit: createSubmit(accept, reader),
    incoming: createIncoming(MOST_BYTES),
    clock,
    log,
  }
  const open = async (listen: { host: string; port: number } | null, isTls: boolean) => {
    if (!listen) return null
    const listener = await startSubmissionListener({ ...common, listen, isTls })
    started.push(listener.close)
    return listener.address()
  }
  const { submission, submissionTls } = config.smtp
  return {
    submission: await open(submission.listen, false),
    submissionTls: await open(submissionTls.listen, true),
  }
}
