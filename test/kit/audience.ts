/** An audience in a store, its contacts added in a line each. */

import type { Id } from '../../src/lib/ids.ts'
import type { ContactFields } from '../../src/resources/contacts/contact.ts'
import { createImporter, type ImportRequest } from '../../src/resources/contacts/import/importer.ts'
import { type SurveyRequest, surveyImport } from '../../src/resources/contacts/import/survey.ts'
import { ReplayedStream } from '../../src/store/blobs/replayed-stream.ts'
import { newId, postOver } from './mail.ts'
import { openLocalStore } from './store.ts'
import type { TestContext } from './suite.ts'

export async function openAudience(t: TestContext) {
  const store = await t.using(openLocalStore())
  const { account, clock } = postOver(store)
  const accountId = account()
  const newAudience = async (ofAccount = accountId): Promise<Id> => {
    const id = newId(clock.now())
    await store.run('createAudience', { accountId: ofAccount, id, name: 'All', at: clock.now() })
    return id
  }
  const audienceId = await newAudience()
  /** @throws when it is refused */
  const add = async (fields: Partial<ContactFields> & { email: string }, to = audienceId): Promise<Id> => {
    const id = newId(clock.now())
    const none = { firstName: null, lastName: null, unsubscribed: false, properties: new Map() }
    const place = { accountId, audienceId: to }
    const answer = await store.run('addContact', {
      ...place,
      id,
      fields: { ...none, ...fields },
      at: clock.now(),
    })
    if ('refused' in answer) throw new Error(answer.refused)
    return id
  }
  const importContacts = createImporter({ run: store.run, clock, newId })
  return {
    ...store,
    ...{ clock, account, accountId, audienceId, newAudience, add },
    audienceOf: (id: Id) =>
      store.db.selectFrom('audiences').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    /** Has a webhook told of contacts from now on: without one, nothing is recorded of them. */
    async listen(ofAccount = accountId) {
      const at = clock.now()
      await store.run('createWebhook', {
        ...{ accountId: ofAccount, id: newId(at), url: 'https://hooks.invalid/', enabled: 1, createdAt: at },
        events: JSON.stringify(['contact.created', 'contact.updated', 'contact.deleted']),
        ...{ secret: new Uint8Array(32), formerSecret: null, formerUntil: null, standard: 0 },
        ...{ earlierSecret: null, earlierUntil: null, domainIds: null, dialect: null },
        ...{ failingSince: null, disabledAt: null, disabledReason: null, noticeDue: 0 },
      })
    },
    /** The file as one piece, unless it is given in several. */
    async importFile(
      file: string | Uint8Array | AsyncIterable<Uint8Array>,
      { columnMap, meanings, ...more }: Partial<ImportRequest & SurveyRequest> = {},
    ) {
      const bytes =
        typeof file === 'string' || file instanceof Uint8Array ? inPieces(Buffer.from(file), Infinity) : file
      const terms = { accountId, audienceId, onExisting: 'update', charset: undefined, ...more } as const
      const upload = new ReplayedStream(store.blobs.drafts, bytes)
      try {
        const plan = await surveyImport({ ...terms, columnMap, meanings, bytes: upload.first() })
        return await importContacts({ ...terms, plan, bytes: upload.again() })
      } finally {
        await upload.discard()
      }
    },
    /** Lists the contacts of the audience, ordered by address. */
    contacts: (id = audienceId) =>
      store.db.selectFrom('contacts').selectAll().where('audienceId', '=', id).orderBy('email').execute(),
  }
}

export async function* inPieces(bytes: Uint8Array, sizeBytes: number): AsyncGenerator<Uint8Array> {
  const size = Math.min(sizeBytes, Math.max(1, bytes.length))
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
