import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { isOnPostgres } from '../../kit/database.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { addEmails } from '../../kit/many-emails.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('GET /emails/export')
const MANY = 10_000
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
  const email = { from: 'Ann <ann@here.example>', to: 'failed@simulator.test', subject: '=cmd()', text: 't' }
  await mailhorn.emailWhen(await mailhorn.send(email), 'failed')
  addEmails(mailhorn, MANY, i => `number ${i} ${'x'.repeat(1_000)}`)
})
test.after(() => mailhorn.close())

function ask(path: string, key = mailhorn.apiKey): Promise<Response> {
  return fetch(mailhorn.baseUrl + path, { headers: { authorization: `Bearer ${key}` } })
}

async function linesOf(path: string, key?: string): Promise<string[]> {
  const response = await ask(path, key)
  assert.is(response.status, 200)
  const text = await response.text()
  assert.ok(text.endsWith('\r\n'))
  return text.slice(0, -2).split('\r\n')
}

/** A reply of which nothing is read but its head. */
async function unread(): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${mailhorn.apiKey}` }
  const [reply] = await once(get(`${mailhorn.baseUrl}/emails/export`, { headers }), 'response')
  return reply
}

/** Neither the log of SQLite nor the dead rows of PostgreSQL are kept for somebody who still reads. */
async function requireNoOldState() {
  if (isOnPostgres) {
    const underWay =
      'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ' +
      'xact_start is not null'
    await until(() => mailhorn.rows(underWay).length === 0)
    return
  }
  const database = new Database(join(mailhorn.dataDir, 'mailhorn.db'))
  try {
    const [{ busy, log, checkpointed }] = database.pragma('wal_checkpoint(TRUNCATE)') as [
      { busy: number; log: number; checkpointed: number },
    ]
    assert.equal([busy, log, checkpointed], [0, 0, 0])
  } finally {
    database.close()
  }
}

test('is a CSV file of all emails, newest first', async () => {
  const response = await ask('/emails/export')
  assert.equal(
    ['content-type', 'content-disposition', 'x-content-type-options', 'cache-control'].map(name =>
      response.headers.get(name),
    ),
    ['text/csv; charset=utf-8; header=present', 'attachment; filename="emails.csv"', 'nosniff', 'no-store'],
  )
  const [header, first, second, ...rest] = (await response.text()).split('\r\n')
  assert.match(header!, /^id,from,to,cc,/)
  assert.match(first!, /,'=cmd\(\),.*,failed,failed,/)
  assert.match(second!, new RegExp(`number ${MANY - 1} `))
  assert.is(rest.length, MANY, 'the others and the end of the last line')
})

test('takes the filters of the list', async () => {
  assert.is((await linesOf('/emails/export?status=failed')).length, 2)
  assert.is((await linesOf('/emails/export?q=NUMBER%20777%20')).length, 2)
  assert.is((await linesOf('/emails/export?from=many@here.example')).length, MANY + 1)
  assert.is((await linesOf('/emails/export?status=bounced')).length, 1)
  assertRefusal(await mailhorn.call('GET', '/emails/export?status=x', { key: mailhorn.apiKey }), {
    status: 422,
    name: 'validation_error',
    path: 'status',
  })
})

test('excludes other accounts', async () => {
  const stranger = addAccount(mailhorn, 'stranger')
  assert.is((await linesOf('/emails/export', stranger.apiKey)).length, 1)
})

test('a slow client holds no snapshot and does not block others', async () => {
  const reply = await unread()
  addEmails(mailhorn, 10, () => 'later')
  await requireNoOldState()
  const { body } = await mailhorn.call('GET', '/emails?limit=1', { key: mailhorn.apiKey })
  assert.is(body.data[0].subject, 'later')
  let size = 0
  for await (const chunk of reply) size += chunk.length
  assert.ok(size > MANY * 1_000, 'it gets the rest when it reads on')
})

test('a disconnected client ends its export', async () => {
  const reply = await unread()
  reply.destroy()
  assert.is((await linesOf('/emails/export?status=failed')).length, 2)
})

test.run()
