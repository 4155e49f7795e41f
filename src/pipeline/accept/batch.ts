/**
 * Prepares the emails of a batch. In strict mode the first invalid email refuses the batch; in permissive
 * mode invalid emails are left out.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type BatchMode,
  contentLength,
  type PreparedEmail,
  type PreparedRequest,
  type PrepareEmail,
} from './prepared.ts'
import { isRefusal, type Refusal, refuseAt } from './refusal.ts'
import type { LeftOut, Submission } from './submission.ts'

export interface BatchSubmission {
  mode: BatchMode
  /** `index` is the position of the email in the request, from 0. */
  emails: { index: number; submission: Submission }[]
  /** Emails that could not be read; empty in a strict batch. */
  leftOut: LeftOut[]
}

export type PreparedBatch = Pick<PreparedRequest, 'emails' | 'leftOut'>

/**
 * Limit for html and text of all emails of a request together. A template may produce more text than the
 * request has.
 */
const CHARACTERS_MAX = 56 * 1024 * 1024
/** The event loop serves other requests after this number of characters. */
const YIELD_AFTER_CHARACTERS = 1024 * 1024

/** Prepares the emails one after another and yields to the event loop between them. */
export async function prepareBatch(
  prepare: PrepareEmail,
  { mode, emails, leftOut }: BatchSubmission,
): Promise<PreparedBatch | Refusal> {
  const batch: PreparedBatch = { emails: [], leftOut: [...leftOut] }
  const admit = createTextLimit()
  let sincePause = 0
  for (const { index, submission } of emails) {
    const prepared = await prepare(submission)
    const email = isRefusal(prepared) ? prepared : admit(prepared)
    if (isRefusal(email)) {
      if (mode === 'strict') return refuseAt(index, email)
      batch.leftOut.push({ index, message: email.message })
      continue
    }
    batch.emails.push({ index, email })
    sincePause += contentLength(email.content)
    if (sincePause < YIELD_AFTER_CHARACTERS) continue
    sincePause = 0
    await nextTurn()
  }
  return batch
}

/**
 * Consecutive emails of a batch often have the same content. They then share one object, which is sent to the
 * writer and stored once, and counts once.
 */
function createTextLimit(): (email: PreparedEmail) => PreparedEmail | Refusal {
  let left = CHARACTERS_MAX
  let last: PreparedEmail['content'] | undefined
  return email => {
    const { content } = email
    if (last && isSameText(last, content)) return { ...email, content: last }
    const length = contentLength(content)
    if (length > left)
      return {
        refused: 'message_too_large',
        message: `The emails of a batch must not be larger than ${CHARACTERS_MAX / 1024 / 1024} MB in total.`,
      }
    left -= length
    last = content
    return email
  }
}

function isSameText(a: PreparedEmail['content'], b: PreparedEmail['content']): boolean {
  return 'html' in a && 'html' in b && a.html === b.html && a.text === b.text
}
