/**
 * Prepares a request for acceptance on the thread or in the process that has read it: renders templates,
 * checks sizes, stages attachments and encodes large contents. In: submissions. Out: a `PreparedRequest` for
 * `accept.ts`, small enough to be sent to another thread.
 *
 * The HTTP API, the parse worker (large bodies and submitted messages) and the internal senders call it.
 */
import type { Id } from '../../lib/ids.ts'
import { encodeContent } from '../../resources/emails/content.ts'
import type { FindReadyTemplate } from '../../resources/templates/ready.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import { blobName, type StagedBlob } from '../../store/blobs/staged.ts'
import { type BatchSubmission, prepareBatch } from './batch.ts'
import { MESSAGE_BYTES_MAX } from './message-limits.ts'
import { contentLength, type PreparedEmail, type PreparedRequest, type PrepareEmail } from './prepared.ts'
import { refuseTooMany } from './recipients.ts'
import { isRefusal, type Refusal, refuseField } from './refusal.ts'
import {
  encodedSize,
  isRemote,
  type StagedAttachment,
  type Submission,
  type SubmittedAttachment,
} from './submission.ts'
import { type ApplyTemplate, createTemplateApplier } from './template.ts'

export interface Preparation {
  /** @throws StorageUnavailable */
  email(accountId: Id, submission: Submission): Promise<PreparedRequest>
  batch(accountId: Id, batch: BatchSubmission): Promise<PreparedRequest>
}

interface PreparationOptions {
  findTemplate: FindReadyTemplate
  blobs: BlobFiles
  /**
   * Contents with at least this number of characters are encoded to their stored form here. The parse worker
   * sets this option. Shorter contents stay as text, since the writer keeps them in memory for the delivery.
   * By default no content is encoded here.
   */
  storedFromCharacters?: number
}

export function createPreparation({
  findTemplate,
  blobs: files,
  storedFromCharacters = Number.POSITIVE_INFINITY,
}: PreparationOptions): Preparation {
  const withStage = async (
    accountId: Id,
    work: (prepare: PrepareEmail) => Promise<Omit<PreparedRequest, 'blobs'>>,
  ): Promise<PreparedRequest> => {
    const stage = createStage(files)
    const applyTemplate = createTemplateApplier(findTemplate, accountId)
    try {
      const prepared = await work(submission => prepareEmail(submission, applyTemplate, stage.put))
      return { ...prepared, emails: storedForms(prepared.emails, storedFromCharacters), blobs: stage.all() }
    } catch (error) {
      await stage.discard()
      throw error
    }
  }

  return {
    email: (accountId, submission) =>
      withStage(accountId, async prepare => {
        const email = await prepare(submission)
        const emails = isRefusal(email) ? [] : [{ index: 0, email }]
        const senders = sendersOf([{ index: 0, submission }], emails)
        return { senders, leftOut: [], mode: null, emails, refusal: isRefusal(email) ? email : null }
      }),
    batch: (accountId, batch) =>
      withStage(accountId, async prepare => {
        const { mode, emails } = batch
        const prepared = await prepareBatch(prepare, batch)
        return isRefusal(prepared)
          ? { senders: sendersOf(emails, []), mode, emails: [], leftOut: [], refusal: prepared }
          : { senders: sendersOf(emails, prepared.emails), mode, ...prepared, refusal: null }
      }),
  }
}

/** The sender of a submission that names none is known once its template has been applied. */
function sendersOf(
  submissions: BatchSubmission['emails'],
  prepared: PreparedRequest['emails'],
): PreparedRequest['senders'] {
  const known = new Map(prepared.map(({ index, email }) => [index, email.from]))
  return submissions.flatMap(({ index, submission }) => {
    const from = submission.from ?? known.get(index)
    return from ? [{ index, domain: from.domain }] : []
  })
}

async function prepareEmail(
  submission: Submission,
  applyTemplate: ApplyTemplate,
  stage: (content: Uint8Array) => Promise<StagedBlob>,
): ReturnType<PrepareEmail> {
  const { html: _html, text: _text, template: _template, attachments, raw, ...rest } = submission
  // The limit holds for the recipients that a request names, not for those that a raw message shows.
  const refusal = raw ? undefined : refuseTooMany(submission)
  if (refusal) return refusal
  const applied = await applyTemplate(submission)
  if (isRefusal(applied)) return applied
  const { html, text, ...fields } = applied
  const encodedOctets = raw ? raw.message.length : encodedSize({ html, text, attachments })
  const tooLarge = refuseTooLarge(encodedOctets, !raw && attachments.length > 0)
  if (tooLarge) return tooLarge
  const stagedMessage = raw && { ...raw, message: await stage(raw.message) }
  const staged: PreparedEmail['attachments'] = []
  for (const attachment of attachments)
    staged.push(isRemote(attachment) ? attachment : await stagedAttachment(attachment, stage))
  return {
    ...rest,
    ...fields,
    content: { html, text },
    attachments: staged,
    raw: stagedMessage,
    encodedOctets,
  }
}

function refuseTooLarge(encodedOctets: number, hasAttachments: boolean): Refusal | undefined {
  if (encodedOctets <= MESSAGE_BYTES_MAX) return undefined
  const message = `The encoded message must not be larger than ${MESSAGE_BYTES_MAX / 1024 / 1024} MB.`
  return hasAttachments
    ? refuseField('invalid_attachment', 'attachments', message)
    : { refused: 'message_too_large', message }
}

async function stagedAttachment(
  { content, ...rest }: SubmittedAttachment,
  stage: (content: Uint8Array) => Promise<StagedBlob>,
): Promise<StagedAttachment> {
  return { ...rest, blob: await stage(content) }
}

/** Stages each distinct content of a request once. */
function createStage(files: BlobFiles) {
  const staged = new Map<string, StagedBlob>()
  return {
    async put(content: Uint8Array): Promise<StagedBlob> {
      const fresh = await files.stage(content)
      const name = blobName(fresh.hash)
      const known = staged.get(name)
      if (known && fresh.draft !== null) await files.drafts.discard(fresh.draft)
      staged.set(name, known ?? fresh)
      return known ?? fresh
    },
    all: () => [...staged.values()],
    async discard() {
      for (const { draft } of staged.values()) if (draft !== null) await files.drafts.discard(draft)
    },
  }
}

function storedForms(emails: PreparedRequest['emails'], fromCharacters: number): PreparedRequest['emails'] {
  const stored = new Map<PreparedEmail['content'], PreparedEmail['content']>()
  return emails.map(({ index, email }) => {
    const content = stored.get(email.content) ?? storedForm(email.content, fromCharacters)
    stored.set(email.content, content)
    return { index, email: { ...email, content } }
  })
}

function storedForm(content: PreparedEmail['content'], fromCharacters: number): PreparedEmail['content'] {
  if ('encoding' in content || contentLength(content) < fromCharacters) return content
  const { body, ...rest } = encodeContent(content)
  return { ...rest, body: new Uint8Array(body) }
}
