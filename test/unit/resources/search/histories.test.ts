import * as assert from 'uvu/assert'
import { type Id, idText } from '../../../../src/lib/ids.ts'
import { type Batch, readExportBatch } from '../../../../src/resources/search/export.ts'
import type { EmailFilter, Scope } from '../../../../src/resources/search/facets.ts'
import { listEmails, type SearchPage } from '../../../../src/resources/search/list.ts'
import { createPacker } from '../../../../src/resources/search/pack.ts'
import type { SearchSources } from '../../../../src/resources/search/parts.ts'
import { TextCache } from '../../../../src/resources/search/texts.ts'
import { readSearchWords } from '../../../../src/resources/search/words.ts'
import { command } from '../../../../src/store/model/command.ts'
import { commands as allCommands } from '../../../../src/workers/commands.ts'
import { isOnPostgres } from '../../../kit/database.ts'
import { endings, finishFor, newId, postOver } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { type LocalStore, openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('search/histories')

/** One email, wherever it stands; retention begins with those that ended first. */
const deleteEmail = command<{ accountId: Id; id: Id }, void>(async (tx, { accountId, id }) => {
  await tx.db.deleteFrom('emails').where('accountId', '=', accountId).where('id', '=', id).execute()
  await tx.indexBlocks.moved([{ accountId, id, status: null }])
})
const commands = { ...allCommands, deleteEmail }
const BLOCK_EMAILS = 4
const SUBJECTS = ['Order 1', 'ORDER 2', 'Größe', 'grösse', 'ﬁne order', 'x', '100% _', 'an order of orders']
const FROM = ['news@one.test', 'News@one.test', 'me@two.test']
const TO = ['a@there.test', 'b@there.test', 'A@there.test']
const TAGS = [[], [{ name: 'kind', value: 'a' }], [{ name: 'kind', value: 'b' }, { other: 1 }]]

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      count: fc.integer({ min: 1, max: 6 }),
      subject: fc.nat(SUBJECTS.length - 1),
      from: fc.nat(FROM.length - 1),
      to: fc.nat(TO.length - 1),
      tags: fc.nat(TAGS.length - 1),
      late: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pack' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('attempts' as const),
      limit: fc.integer({ min: 1, max: 8 }),
      bounce: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), email: fc.nat(60) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), horizon: fc.nat(100) }) },
)

/** Absent as a rule, so that few conditions meet. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
const question = fc.record({
  status: fc.option(fc.constantFrom('queued' as const, 'delivered' as const, 'bounced' as const), {
    nil: undefined,
    freq: 1,
  }),
  subject: maybe(fc.constantFrom('order', 'größe', 'r', 'fine', '%', 'nowhere', 'order 2')),
  search: maybe(
    fc.constantFrom('order', 'a@there', 'one.te 2', 'kind:a', 'x b@', 'fine me@two', 'nowhere', '@'),
  ),
  from: maybe(fc.constantFrom('news@one.test', 'me@two.test', 'nobody@one.test')),
  to: maybe(fc.constantFrom('a@there.test', 'b@there.test')),
  tag: maybe(fc.constantFrom('kind', 'kind:a', 'kind:c', 'other')),
  domain: maybe(fc.constantFrom('one.test', 'two.test')),
  created: maybe(fc.tuple(fc.nat(60), fc.nat(60))),
  bound: maybe(fc.constantFrom('one.test')),
  horizon: maybe(fc.nat(100)),
  limit: fc.integer({ min: 1, max: 10 }),
  offset: fc.nat(12),
  cursor: maybe(fc.record({ kind: fc.constantFrom('after' as const, 'before' as const), email: fc.nat(60) })),
})

interface Row {
  id: Uint8Array
  status: string
  subject: string
  sender: string
  to_list: string
  tags: string | null
  created_at: number
  ended_at: number | null
}

test('search: a list agrees with the rows after any history of emails and sealing', async () => {
  let sealedCount = 0
  let expiredCount = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 30 }),
      fc.array(question, { minLength: 12, maxLength: 24 }),
      async (steps, questions) => {
        const store = await openLocalStore(commands)
        try {
          const post = postOver(store)
          const accountId = post.account()
          const other = post.account('Other')
          for (const account of [accountId, other])
            for (const domain of ['one.test', 'two.test']) {
              if (account === accountId) post.domain(account, domain)
              else post.domain(account, domain, { status: 'pending' })
            }
          const begin = post.clock.now()
          const reads = { db: store.db, texts: new TextCache(100) }
          const at = (share: number) => begin + Math.round(((post.clock.now() - begin) * share) / 100)
          const anything = { accountId, domain: null, horizon: 0 }
          const packer = createPacker({
            db: store.db,
            run: store.run,
            pause: async () => {},
            size: BLOCK_EMAILS,
            leftOut: 2,
          })
          for (const action of steps) {
            post.clock.advance(1_000)
            if (action.kind === 'pack') {
              await packer.pack(accountId)
              const { total } = await listEmails(
                reads,
                anything,
                { subject: 'order' },
                { limit: 1, offset: 0 },
              )
              const [row] = store.rows<{ count: number }>(
                "select count(*) as count from emails where account_id = ? and lower(subject) like '%order%'",
                accountId,
              )
              assert.is(total, row!.count)
            } else if (action.kind === 'send')
              for (let i = 0; i < action.count; i++) {
                const { name, input } = await post.request(accountId, {
                  from: FROM[action.from]!,
                  to: [TO[action.to]!],
                  subject: SUBJECTS[action.subject]!,
                  tags: TAGS[action.tags]!,
                })
                const { row } = input.emails[0]!
                if (action.late) {
                  row.createdAt = begin + ((post.clock.now() - begin) >> 1)
                  row.id = idMadeAt(row.createdAt)
                  // it is made of the id
                  row.messageId = ''
                }
                await store.run(name, input)
              }
            else if (action.kind === 'attempts')
              for (const delivery of await post.claim(accountId, 'there.test', { limit: action.limit }))
                await store.run(
                  'finish',
                  finishFor(delivery, post.clock.now(), action.bounce ? endings.bounced() : {}),
                )
            else if (action.kind === 'expire')
              expiredCount += (await store.run('deleteBeyond', { accountId, horizon: at(action.horizon) }))
                .emailCount
            else await remove(store, accountId, action.email)
          }
          sealedCount += store.rows('select id from email_segments').length
          const rows = store.rows<Row>(
            'select * from emails where account_id = ? order by id desc',
            accountId,
          )
          for (const { created, bound, horizon, limit, offset, cursor, search, ...terms } of questions) {
            const scope: Scope = {
              accountId,
              domain: bound ?? null,
              horizon: horizon === undefined ? 0 : at(horizon),
            }
            const timeOf = (index: number) => rows[index % rows.length]?.created_at
            const filter: EmailFilter = {
              ...terms,
              words: search === undefined ? undefined : readSearchWords(search),
              createdFrom: created && timeOf(created[0]),
              createdBefore: created && timeOf(created[1]),
            }
            const page: SearchPage = { limit, offset }
            if (cursor && rows.length > 0) page[cursor.kind] = rows[cursor.email % rows.length]!.id
            const shown = await listEmails(reads, scope, filter, page)
            const wanted = expected(rows, scope, filter, page)
            assert.equal(
              { total: shown.total, hasMore: shown.hasMore, ids: shown.emails.map(({ id }) => idText(id)) },
              wanted,
              JSON.stringify({ filter, page: { limit, offset, cursor } }),
            )
            assert.equal(
              await exported(reads, scope, filter),
              expected(rows, scope, filter, { limit: rows.length, offset: 0 }).ids,
            )
          }
        } finally {
          await store.close()
        }
      },
    ),
    { seed: 20261121, numRuns: isOnPostgres ? 5 : 40 },
  )
  assert.ok(sealedCount > (isOnPostgres ? 10 : 100), `only ${sealedCount} segments were sealed`)
  assert.ok(expiredCount > (isOnPostgres ? 0 : 50), `only ${expiredCount} emails went beyond a horizon`)
})

/** An id as another process may have made it at that time. */
function idMadeAt(at: number): Uint8Array {
  const id = newId(at)
  Buffer.from(id.buffer).writeUIntBE(at, 0, 6)
  return id
}

async function remove(store: LocalStore<typeof commands>, accountId: Uint8Array, index: number) {
  const rows = store.rows<{ id: Uint8Array }>('select id from emails where account_id = ?', accountId)
  if (rows.length === 0) return
  await store.run('deleteEmail', { accountId, id: rows[index % rows.length]!.id })
}

/** All that is found, batch by batch. */
async function exported(reads: SearchSources, scope: Scope, filter: EmailFilter): Promise<string[]> {
  const ids: string[] = []
  let from: Id | null = null
  do {
    const batch: Batch = await readExportBatch(reads, scope, filter, from, { emails: 3, parts: 2, slice: 3 })
    ids.push(...batch.emails.map(({ id }) => idText(id)))
    from = batch.next
  } while (from)
  return ids
}

/** Returns the texts that the words of a search are compared with. */
function wordsOf({ subject, sender, to_list }: Row, tags: readonly { name?: string; value?: string }[]) {
  const shown = tags.flatMap(({ name, value }) => (name === undefined ? [] : `${name}:${value}`))
  return [subject, sender, to_list, ...shown].map(text => text.normalize('NFKC').toLowerCase())
}

/** The same, the slow way. */
function expected(rows: readonly Row[], scope: Scope, filter: EmailFilter, page: SearchPage) {
  const fold = (text: string) => text.normalize('NFKC').toLowerCase()
  const list = (json: string) =>
    (JSON.parse(json) as { address: string }[]).map(({ address }) => fold(address))
  const found = rows.filter(row => {
    const [from] = list(row.sender)
    const domain = from!.split('@')[1]
    const tags = row.tags === null ? [] : (JSON.parse(row.tags) as { name?: string; value?: string }[])
    return (
      (row.ended_at === null || row.ended_at > scope.horizon) &&
      (scope.domain === null || scope.domain === domain) &&
      (filter.status === undefined || filter.status === row.status) &&
      (filter.subject === undefined || fold(row.subject).includes(filter.subject)) &&
      (filter.words ?? []).every(({ part }) => wordsOf(row, tags).some(text => text.includes(part))) &&
      (filter.from === undefined || filter.from === from) &&
      (filter.to === undefined || list(row.to_list).includes(filter.to)) &&
      (filter.domain === undefined || filter.domain === domain) &&
      (filter.tag === undefined ||
        tags.some(({ name, value }) => name === filter.tag || `${name}:${value}` === filter.tag)) &&
      (filter.createdFrom === undefined || row.created_at >= filter.createdFrom) &&
      (filter.createdBefore === undefined || row.created_at < filter.createdBefore)
    )
  })
  const ids = found.map(({ id }) => idText(id))
  const { limit, offset } = page
  if (page.before) {
    const newer = ids.filter(id => id > idText(page.before!)).reverse()
    const slice = newer.slice(offset, offset + limit)
    return { total: ids.length, hasMore: newer.length > offset + limit, ids: slice.reverse() }
  }
  const older = page.after ? ids.filter(id => id < idText(page.after!)) : ids
  return {
    total: ids.length,
    hasMore: older.length > offset + limit,
    ids: older.slice(offset, offset + limit),
  }
}

test.run()
