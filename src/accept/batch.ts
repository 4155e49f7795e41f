/** Several emails of one request, on their way to one command: what one bad email means for the others. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Content } from '../store/contents.ts'
import type { LeftOut } from './answer.ts'
import type { PrepareEmail } from './prepare.ts'
import { isRefusal, type Refusal, refuseAt, refuseField } from './refusal.ts'
import type { NewEmail } from './store-emails.ts'
import { isRemote, type Submission } from './submission.ts'

/** With a bad email among them, nothing is taken, or all the others are. */
export type BatchMode = 'strict' | 'permissive'

export interface BatchSubmission {
  mode: BatchMode
  /** With their places in the request, from 0. */
  emails: { index: number; submission: Submission }[]
  /** Those that could not be read; only in a permissive batch. */
  leftOut: LeftOut[]
}

/** The emails that are good so far. */
export interface PreparedBatch {
  mode: BatchMode
  emails: NewEmail[]
  /** Their places in the request. */
  indexes: number[]
  leftOut: LeftOut[]
}

/** Html and text of all emails together: what a request may hold, and a template may make of a smaller one. */
const MOST_CHARACTERS = 56 * 1024 * 1024
/** Others get their turn after so much. */
const PAUSE_AFTER_CHARACTERS = 1024 * 1024

/** One after another, so that no more than one is in memory with its attachments. */
export async function prepareBatch(
  prepare: PrepareEmail,
  { mode, emails, leftOut }: BatchSubmission,
): Promise<PreparedBatch | Refusal> {
  const batch: PreparedBatch = { mode, emails: [], indexes: [], leftOut: [...leftOut] }
  const admit = createTextLimit()
  let sincePause = 0
  for (const { index, submission } of emails) {
    const prepared = refusePath(submission) ?? (await prepare(submission))
    const email = isRefusal(prepared) ? prepared : admit(prepared)
    if (isRefusal(email)) {
      if (mode === 'strict') return refuseAt(index, email)
      batch.leftOut.push({ index, message: email.message })
      continue
    }
    batch.emails.push(email)
    batch.indexes.push(index)
    sincePause += characterCount(email.content)
    if (sincePause < PAUSE_AFTER_CHARACTERS) continue
    sincePause = 0
    await nextTurn()
  }
  return batch
}

/** Emails that follow each other often say the same: they share one object then, which travels and is stored once. */
function createTextLimit(): (email: NewEmail) => NewEmail | Refusal {
  let left = MOST_CHARACTERS
  let last: Content | undefined
  return email => {
    const { html, text } = email.content
    if (last?.html === html && last.text === text) return { ...email, content: last }
    if (characterCount(email.content) > left)
      return {
        refused: 'message_too_large',
        message: `The emails of the batch are larger than ${MOST_CHARACTERS / 1024 / 1024} MB together.`,
      }
    left -= characterCount(email.content)
    last = email.content
    return email
  }
}

/** A hundred emails could have us wait for and keep very much: in a batch, files come with the request. */
function refusePath({ attachments }: Submission): Refusal | undefined {
  const remote = attachments.findIndex(isRemote)
  if (remote < 0) return undefined
  return refuseField(
    'invalid_attachment',
    `attachments[${remote}].path`,
    `Attachment ${remote + 1}: \`path\` is not fetched for emails of a batch; send the bytes of the file as \`content\`.`,
  )
}

function characterCount({ html, text }: Content): number {
  return (html?.length ?? 0) + (text?.length ?? 0)
}
