/**
 * Serves contact imports in the format of newer SDKs: a form with the file, followed by the fields that
 * describe its columns.
 */
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import type { Id, IdSource } from '../../../lib/ids.ts'
import { JoinedBytes } from '../../../lib/joined-bytes.ts'
import { onOneLine } from '../../../lib/line-text.ts'
import type { accountContactCommands } from '../../../resources/contacts/account-contact-commands.ts'
import { ImportFault } from '../../../resources/contacts/import/fault.ts'
import type { ImportContacts, ImportRequest } from '../../../resources/contacts/import/importer.ts'
import { ConsentQuestions, sentenceOf, surveyImport } from '../../../resources/contacts/import/survey.ts'
import { FILE_NAME_CHARACTERS_MAX } from '../../../resources/contacts/limits.ts'
import {
  findAccountImport,
  findAudience,
  findTopic,
  listAccountImports,
} from '../../../resources/contacts/read.ts'
import type { TopicSubscription } from '../../../resources/contacts/topic-commands.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import { ApiError, invalidField, orNotFound } from '../api-error.ts'
import { boundaryOf, readMultipart } from '../body/multipart.ts'
import { type ApiRequest, created, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import {
  readImportForm,
  readImportStates,
  SDK_IMPORT_STATUSES,
  sdkImportSchema,
  sdkImportView,
} from './import-form.ts'
import { type NamedAudience, unknownSegment, unknownTopic } from './schema.ts'

export interface ImportFormsOptions {
  store: { db: Db; run: Run<typeof accountContactCommands>; blobs: Pick<BlobFiles, 'drafts'> }
  importContacts: ImportContacts
  clock: Clock
  newId: IdSource
}

export const IMPORT_BYTES_MAX = 1024 * 1024 * 1024
const FORM = 'multipart/form-data'
/** Total size of all fields except the file. */
const FIELD_BYTES_MAX = 256 * 1024
const PIECE_BYTES = 64 * 1024

export function importForms(options: ImportFormsOptions): Route[] {
  const { db } = options.store
  return [
    {
      method: 'POST',
      path: '/contacts/imports',
      access: 'session',
      summary:
        'Import contacts from a CSV file in a form (newer SDKs); the reply follows when all rows are processed',
      bodyType: FORM,
      bodyLimitBytes: IMPORT_BYTES_MAX,
      replies: { 201: sdkImportSchema },
      handle: request => takeForm(options, request),
    },
    {
      method: 'GET',
      path: '/contacts/imports',
      access: 'session',
      summary: 'List imports of contacts into all audiences, newest first (newer SDKs)',
      query: { status: z.enum(SDK_IMPORT_STATUSES).optional(), ...cursorPageQuery('imp') },
      replies: { 200: listSchema(sdkImportSchema) },
      async handle({ query, credential: { accountId } }) {
        const states = readImportStates(query)
        const page = readCursorPage(query, 'imp', 'an import')
        return pageReply(await listAccountImports(db, accountId, states, page), sdkImportView)
      },
    },
    {
      method: 'GET',
      path: '/contacts/imports/:id',
      access: 'session',
      summary: 'Retrieve an import of contacts (newer SDKs)',
      replies: { 200: sdkImportSchema },
      async handle(request) {
        const id = pathId(request, 'imp')
        const row = await findAccountImport(db, request.credential.accountId, id)
        return ok(sdkImportView(orNotFound(row, 'Import')))
      },
    },
  ]
}

/**
 * Stores the file until the form is complete, because the fields that describe its columns come after it. The
 * reply is the import into the first of the audiences.
 */
async function takeForm({ store, importContacts, clock, newId }: ImportFormsOptions, request: ApiRequest) {
  const boundary = boundaryOf(request.headers['content-type'])
  if (boundary === undefined)
    throw new ApiError(415, 'validation_error', `The request body must be a form (Content-Type: ${FORM}).`)
  const { accountId } = request.credential
  const { drafts } = store.blobs
  const draft = await drafts.create()
  try {
    const { fields, fileName } = await readInto(request, boundary, draft.append).finally(draft.close)
    const { audiences, ...form } = readImportForm(fields)
    await requireNamed(store.db, accountId, audiences, form.subscriptions)
    const home = async () => {
      const at = clock.now()
      return store.run('oldestOrNewAudience', { accountId, newAudienceId: newId(at), at })
    }
    const read = <T>(work: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> => {
      const bytes = drafts.pieces(draft.name, PIECE_BYTES)
      return work(bytes)
        .catch(asRefused)
        .finally(() => bytes.destroy())
    }
    const terms = { accountId, ...form, fileName, charset: undefined }
    const plan = await read(bytes => surveyImport({ ...terms, bytes }))
    const importInto = async (audienceId: ImportRequest['audienceId']) => {
      const row = await read(bytes => importContacts({ ...terms, audienceId, plan, bytes }))
      return orNotFound(row, 'Segment')
    }
    const [first = home, ...others] = audiences.map(({ id }) => id)
    const row = await importInto(first)
    for (const audienceId of others) await importInto(audienceId)
    return created(sdkImportView(row))
  } finally {
    await drafts.discard(draft.name)
  }
}

/** @throws ApiError 422 for an audience or a topic that the account does not have */
async function requireNamed(
  db: Db,
  accountId: Id,
  audiences: readonly NamedAudience[],
  subscriptions: readonly TopicSubscription[],
) {
  for (const { id, path } of audiences)
    if (!(await findAudience(db, accountId, id))) throw unknownSegment(path)
  for (const [i, { topicId }] of subscriptions.entries())
    if (!(await findTopic(db, accountId, topicId))) throw unknownTopic(`topics[${i}].id`)
}

/**
 * Converts errors of the file into errors of the API.
 * @throws ApiError 422
 */
export function asRefused(error: unknown): never {
  if (!(error instanceof ImportFault)) throw error
  if (error instanceof ConsentQuestions)
    throw new ApiError(422, 'validation_error', error.message, {
      errors: error.questions.map(question => ({ path: question.column, message: sentenceOf(question) })),
      questions: error.questions.map(({ column, values }) => ({ column, values: [...values] })),
    })
  throw invalidField(error.part, error.message)
}

/**
 * @returns the fields except the file, and its name
 * @throws ApiError if the file is missing or the fields are too long
 */
async function readInto(
  request: ApiRequest,
  boundary: string,
  append: (pieces: readonly Uint8Array[]) => Promise<void>,
): Promise<{ fields: ReadonlyMap<string, string>; fileName: string | null }> {
  const fields = new Map<string, JoinedBytes>()
  let hasFile = false
  let fieldBytes = 0
  let nameOfFile: string | null = null
  await readMultipart(request.stream(), boundary, ({ name, isFile, fileName }) => {
    // some clients send the file as a text, without a file name
    const isTheFile = name === 'file'
    if ((isFile && !isTheFile) || (isTheFile && hasFile))
      throw invalidField(name, `\`${name}\` must not be a file: the form may contain one file, \`file\`.`)
    if (isTheFile) {
      hasFile = true
      nameOfFile = fileName && onOneLine(fileName, FILE_NAME_CHARACTERS_MAX)
      return piece => append([piece])
    }
    const value = new JoinedBytes()
    fields.set(name, value)
    return piece => {
      fieldBytes += piece.length
      if (fieldBytes > FIELD_BYTES_MAX)
        throw invalidField(
          name,
          `The fields of the form must contain at most ${FIELD_BYTES_MAX} bytes in total; \`${name}\` exceeds that.`,
        )
      // copies the bytes, which are a small part of what was read
      value.add(Buffer.from(piece))
    }
  })
  if (!hasFile)
    throw new ApiError(422, 'missing_required_field', 'Missing `file` field.', {
      errors: [{ path: 'file', message: 'Missing `file` field.' }],
    })
  const texts = [...fields].map(([name, value]): [string, string] => [name, value.take().toString()])
  return { fields: new Map(texts), fileName: nameOfFile }
}
