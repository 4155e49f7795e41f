import * as assert from 'uvu/assert'
import { idKey } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createMetrics } from '../../../../src/lib/metrics.ts'
import type { ReaderPool } from '../../../../src/lib/reader-pool.ts'
import { InboundProcessor } from '../../../../src/pipeline/inbound/inbound-processor.ts'
import { countInbox } from '../../../../src/pipeline/inbound/inbox-counts.ts'
import { createIngestLoad, type IngestLoad } from '../../../../src/pipeline/inbound/ingest-load.ts'
import { createMailReader, type MailReader } from '../../../../src/pipeline/inbound/mail-reader.ts'
import {
  createJudging,
  type JudgeMail,
  type Verdicts,
} from '../../../../src/pipeline/inbound/message-verdicts.ts'
import { createRecentMessageCache } from '../../../../src/pipeline/inbound/recent-message-cache.ts'
import type { MailRouting } from '../../../../src/pipeline/inbound/routing.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import type { Db } from '../../../../src/store/model/schema.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { createManualClock, type ManualClock, settled } from '../../../kit/manual-clock.ts'
import { openReaders } from '../../../kit/readers.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('inbound/inbound-processor')
const log = createLog('silent')
const entry = new URL('../../../../src/workers/inbound.ts', import.meta.url)
const GOOD: Verdicts = {
  ...{ spam: 'PASS', virus: 'DISABLED', spf: 'PASS', dkim: 'GRAY', dmarc: 'FAIL' },
  detail: { spf: { result: 'pass' } },
  authenticationResults: 'mailhorn.test; spf=pass',
}

const READS_NOTHING: MailReader = {
  read: () => Promise.reject(new Error('it is not to be read')),
  endedWith: () => false,
  close: async () => {},
}

const NO_ROUTES: MailRouting = {
  match: async () => null,
  apply: () => Promise.reject(new Error('no route matches')),
}

interface Listed {
  subject: string
  parse_error: string | null
  spam_verdict: string
  dmarc_verdict: string
}

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  const clock = createManualClock()
  const metrics = createMetrics()
  const readers = await t.using(openReaders({ location: store.location, clock, metrics }))
  const reading = { mailHost: 'mailhorn.test', readers, run: store.run, metrics, clock, log }
  const openReader = async (over: { entry?: URL; readers?: typeof readers } = {}) =>
    t.using(createMailReader({ entry, ...reading, ...over }))
  const otherAccountId = post.account()
  const take = async (mail: string, at = clock.now(), account = accountId, clientIp = '192.0.2.1') => {
    const blob = await store.blobs.stage(Buffer.from(mail.replace(/\n/g, '\r\n'), 'latin1'))
    if (blob.draft !== null) await store.blobs.place(blob)
    await store.run('storeInbound', {
      messages: [{ accountId: account, domainId: newId(1), recipients: ['bob@here.test'] }],
      ...{ sender: '', clientIp, helo: null, tls: null, sizeBytes: mail.length, blob },
      ...{ source: null, at },
    })
  }
  const start = (
    over: {
      reader?: MailReader
      judge?: JudgeMail | null
      run?: typeof store.run
      db?: typeof store.db
      ingestLoad?: Pick<IngestLoad, 'isHigh'>
      sizes?: 'small' | 'large'
    } = {},
  ): InboundProcessor => {
    const { judge = null, ...rest } = over
    const inbox = new InboundProcessor({
      ...store,
      sizes: 'small',
      recentMessages: createRecentMessageCache(clock),
      ingestLoad: createIngestLoad(clock),
      ...{
        reader: over.reader ?? createMailReader({ entry, ...reading }),
        counts: countInbox(metrics),
        routing: NO_ROUTES,
        clock,
        log,
        ...rest,
      },
      judge: createJudging({ judge, clock, log }),
    })
    t.after(() => inbox.stop())
    return inbox
  }
  const listed = () =>
    store.rows<Listed>(
      'select subject, parse_error, spam_verdict, dmarc_verdict from inbound_messages where listed_at is not null order by id',
    )
  const whenListed = (count: number) => until(async () => (listed().length === count ? listed() : undefined))
  const figures = () => metrics.text().match(/^mailhorn_.*/gm)
  return {
    ...store,
    accountId,
    otherAccountId,
    clock,
    metrics,
    openReader,
    take,
    start,
    listed,
    whenListed,
    figures,
  }
}

const LARGE = `Subject: large\n\n${`${'x'.repeat(70)}\n`.repeat(1_000)}`

test('a large message that crashes its reader process is listed by its header, and the next ones are parsed', async t => {
  const { openReader, clock, take, start, whenListed } = await open(t)
  const dying = await t.using(openReaders({ entry: new URL('./dying-reader.ts', import.meta.url), clock }))
  const reader = await openReader({ readers: dying })
  await take(LARGE)
  await take('Subject: small\n\nx')
  start({ reader })
  start({ reader, sizes: 'large' })
  const rows = (await whenListed(2)).map(({ subject, parse_error }) => [subject, parse_error])
  const reason = 'This message needs more memory to read than is allowed, so that only its header was read'
  assert.equal(
    new Map(rows as [string, string][]),
    new Map<string, string | null>([
      ['large', reason],
      ['small', null],
    ]),
  )
})

test('small messages, and large ones of other accounts, do not wait for many large ones of one account', async t => {
  const { openReader, clock, take, start, otherAccountId, rows } = await open(t)
  const began: string[] = []
  const readers: ReaderPool = {
    async run({ load, owner }) {
      await load()
      began.push(owner)
      return new Promise(() => {})
    },
    close: async () => {},
  }
  for (let i = 0; i < 600; i++) await take(`Subject: ${i}\n\n${'x'.repeat(65_536)}`)
  await take(LARGE, clock.now(), otherAccountId)
  await take('Subject: small\n\nx')
  const reader = await openReader({ readers })
  start({ reader, sizes: 'large' })
  start({ reader })
  await until(() => began.includes(idKey(otherAccountId)) || undefined)
  await until(() => rows("select 1 from inbound_messages where subject = 'small'").length === 1)
})

/** An interrupted message is read again no sooner than five seconds after the start. */
async function pastRetryDelay(clock: ManualClock, begin: () => void) {
  const timers = clock.timerCount
  begin()
  await until(() => clock.timerCount > timers)
  clock.advance(5_000)
}

/**
 * Runs of the service that are killed while they parse the message: none of them is stopped in an orderly
 * way.
 */
async function killedWhileParsing(
  { openReader, clock, start, rows }: Awaited<ReturnType<typeof open>>,
  stuck: ReaderPool,
  runs: number,
) {
  for (let run = 1; run <= runs; run++) {
    const reader = await openReader({ readers: stuck })
    const begin = () => start({ reader, sizes: 'large' })
    if (run === 1) begin()
    else await pastRetryDelay(clock, begin)
    await until(() => rows(`select 1 from inbound_messages where reading_count = ${run}`).length === 1)
    clock.advance(1)
  }
}

test('a message during whose parse the service crashed once is parsed in full after the restart', async t => {
  const scene = await open(t)
  const stuck = await t.using(
    openReaders({ entry: new URL('./stuck-reader.ts', import.meta.url), clock: scene.clock }),
  )
  await scene.take(LARGE)
  await killedWhileParsing(scene, stuck, 1)
  const reader = await scene.openReader()
  await pastRetryDelay(scene.clock, () => scene.start({ reader, judge: async () => GOOD, sizes: 'large' }))
  const [row] = await scene.whenListed(1)
  assert.equal([row!.subject, row!.parse_error, row!.dmarc_verdict], ['large', null, GOOD.dmarc])
})

test('a message during whose parse the service crashed is not begun again in the first seconds', async t => {
  const scene = await open(t)
  const { openReader, clock, take, start, rows, whenListed } = scene
  const stuck = await t.using(openReaders({ entry: new URL('./stuck-reader.ts', import.meta.url), clock }))
  await take(LARGE)
  await killedWhileParsing(scene, stuck, 1)
  const timers = clock.timerCount
  start({ reader: await openReader(), sizes: 'large' })
  await until(() => clock.timerCount > timers)
  clock.advance(4_999)
  assert.is(rows('select 1 from inbound_messages where reading_count = 1 and listed_at is null').length, 1)
  clock.advance(1)
  assert.is((await whenListed(1))[0]!.parse_error, null)
})

test('a message during whose parse the service crashed twice is listed by its header after the restart', async t => {
  const scene = await open(t)
  const { openReader, clock, take, start, whenListed } = scene
  const stuck = await t.using(openReaders({ entry: new URL('./stuck-reader.ts', import.meta.url), clock }))
  await take(LARGE)
  await killedWhileParsing(scene, stuck, 2)
  start({ reader: await openReader(), judge: async () => GOOD, sizes: 'large' })
  const [row] = await whenListed(1)
  assert.equal(
    [row!.subject, row!.parse_error, row!.dmarc_verdict],
    [
      'large',
      'The service ended twice while it was reading this message, so that only its header was read',
      'PROCESSING_FAILED',
    ],
  )
})

test('a message whose parse was stopped by a shutdown is parsed in full after the restart', async t => {
  const { openReader, clock, take, start, rows, whenListed } = await open(t)
  const stuck = await t.using(openReaders({ entry: new URL('./stuck-reader.ts', import.meta.url), clock }))
  await take(LARGE)
  const first = start({ reader: await openReader({ readers: stuck }), sizes: 'large' })
  await until(() => rows('select 1 from inbound_messages where reading_at is not null').length === 1)
  await first.stop()
  clock.advance(1)
  start({ reader: await openReader(), sizes: 'large' })
  const [row] = await whenListed(1)
  assert.equal([row!.subject, row!.parse_error], ['large', null])
})

test('messages stored before a restart are parsed after it in a child process, once', async t => {
  const { take, start, whenListed, rows } = await open(t)
  for (const subject of ['one', 'two', 'three']) await take(`Subject: ${subject}\n\nx`, 1)
  const first = start()
  await whenListed(3)
  await first.stop()
  start().note()
  assert.equal(
    (await whenListed(3)).map(({ subject, parse_error }) => [subject, parse_error]),
    [
      ['one', null],
      ['two', null],
      ['three', null],
    ],
  )
  assert.is(rows("select 1 from events where type = 'email.received'").length, 3)
  assert.equal(
    rows<{ count: number }>("select count from counters where kind = 'inbound'").map(({ count }) =>
      Number(count),
    ),
    [3],
  )
})

test('hostile mail is listed, and so are the messages after it', async t => {
  const { take, start, whenListed } = await open(t)
  let nested = ''
  for (let i = 0; i < 10_000; i++) nested += `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n`
  const parts = `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\nhi\n'.repeat(100_000)}--b--\n`
  await take(`Subject: nested\n${nested}`)
  await take(`Subject: parts\n${parts}`)
  await take(`Subject: heads\n${'X-A: b\n'.repeat(100_000)}\nx`)
  await take(`Subject: long\nX: ${'y'.repeat(3_000_000)}\n\nx`)
  await take('Subject: \0nul\n__proto__: a\n\n\0')
  await take('Subject: plain\n\nx')
  start()
  start({ sizes: 'large' })
  const rows = await whenListed(6)
  assert.equal(
    rows.map(({ subject }) => subject),
    ['nested', 'parts', 'heads', 'long', 'nul', 'plain'],
  )
  assert.equal(
    rows.map(({ parse_error }) => parse_error),
    [
      'Parts are nested more than 50 levels deep; those further inside were not read',
      'The message has more than 1,000 parts; the others were not read',
      'The header is too large: only its first 1,000 fields and 256 KB were read',
      'The header is too large: only its first 1,000 fields and 256 KB were read',
      null,
      null,
    ],
  )
})

function countQuestions(db: Db) {
  let questions = 0
  const counted = new Proxy(db, {
    get(target, name) {
      if (name !== 'selectFrom') return Reflect.get(target, name, target)
      return (table: 'inboundMessages') => {
        if (table === 'inboundMessages') questions += 1
        return target.selectFrom(table)
      }
    },
  })
  return { counted, questions: () => questions }
}

test('many messages are looked up with few queries', async t => {
  const { db, take, start, whenListed } = await open(t)
  for (let i = 0; i < 400; i++) await take(`Subject: ${i}\n\nx`, i)
  const { counted, questions } = countQuestions(db)
  start({ db: counted, reader: READS_NOTHING })
  await whenListed(400)
  assert.ok(questions() <= 10, `${questions()} questions`)
})

test('messages that arrive while verdicts take long are batched and do not wait for them', async t => {
  const { clock, db, take, start, whenListed } = await open(t)
  for (let i = 0; i < 20; i++) await take(`Subject: ${i}\n\nx`, i)
  const { counted, questions } = countQuestions(db)
  const judged = Promise.withResolvers<Verdicts>()
  let judging = 0
  const judge: JudgeMail = () => (judging++ < 20 ? judged.promise : Promise.resolve(GOOD))
  const inbox = start({ db: counted, reader: READS_NOTHING, judge })
  await until(() => judging === 20 || undefined)
  for (let i = 20; i < 30; i++) {
    await take(`Subject: ${i}\n\nx`, i)
    inbox.note()
  }
  assert.is(questions(), 1)
  clock.advance(100)
  await whenListed(10)
  assert.is(questions(), 2)
  judged.resolve(GOOD)
  await whenListed(30)
})

test('of ten times the messages that are checked at a time, 128 are, and the others wait on the disk', async t => {
  const { clock, take, start } = await open(t)
  for (let i = 0; i < 1_280; i++) await take(`Subject: ${i}\n\nx`, i)
  const judged = Promise.withResolvers<Verdicts>()
  let judgingCount = 0
  const judge: JudgeMail = () => {
    judgingCount++
    return judged.promise
  }
  const inbox = start({ reader: READS_NOTHING, judge })
  await until(() => judgingCount >= 128 || undefined)
  inbox.note()
  clock.advance(1_000)
  for (let i = 0; i < 20; i++) await settled()
  assert.is(judgingCount, 128)
  judged.resolve(GOOD)
})

test('a message does not wait for thousands that came before it from other networks', async t => {
  const { clock, accountId, take, start } = await open(t)
  const many = 2_000
  for (let i = 0; i < many; i++) await take(`Subject: ${i}\n\nx`, i, accountId, `198.51.${i % 50}.1`)
  const judging: (() => void)[] = []
  let fromOther = 0
  const judge: JudgeMail = ({ clientIp }) =>
    new Promise(resolve => {
      if (clientIp === '192.0.2.1') fromOther++
      judging.push(() => resolve(GOOD))
    })
  const inbox = start({ reader: READS_NOTHING, judge })
  await until(() => judging.length === 128 || undefined)
  for (const count of [1, 2]) {
    await take(`Subject: ${count}\n\nx`, many, accountId, '192.0.2.1')
    inbox.note()
    await settled()
    clock.advance(100)
    await settled()
    // those that end while the new message is being looked up make room for others
    for (let ended = 0; fromOther < count; ended++) {
      assert.ok(ended < many / 4, 'it waits')
      const began = judging.length
      judging.shift()!()
      await until(() => judging.length === began || undefined)
    }
  }
})

test('messages that are new, older than many newer ones, are found when none waits', async t => {
  const { clock, accountId, take, start, whenListed } = await open(t)
  const now = clock.now()
  for (let i = 0; i < 200; i++) await take(`Subject: ${i}\n\nx`, now + i)
  const judged = Promise.withResolvers<Verdicts>()
  let judging = 0
  const judge: JudgeMail = () => {
    judging++
    return judged.promise
  }
  const inbox = start({ reader: READS_NOTHING, judge })
  await until(() => judging === 128 || undefined)
  for (let i = 0; i < 600; i++) await take(`Subject: new\n\nx`, now + i, accountId, '198.51.100.1')
  inbox.note()
  await settled()
  clock.advance(100)
  await settled()
  judged.resolve(GOOD)
  for (let i = 0; i < 50; i++) {
    await settled()
    clock.advance(100)
  }
  await whenListed(800)
})

test('under ingest load messages are processed one at a time, until the oldest has waited too long', async t => {
  const { clock, take, start, whenListed } = await open(t)
  for (let i = 0; i < 20; i++) await take(`Subject: ${i}\n\nx`, clock.now())
  const judged = Promise.withResolvers<Verdicts>()
  let judging = 0
  const judge: JudgeMail = () => {
    judging += 1
    return judged.promise
  }
  start({ reader: READS_NOTHING, judge, ingestLoad: { isHigh: () => true } })
  await until(() => judging === 1 || undefined)
  clock.advance(4_900)
  assert.is(judging, 1)
  for (let passed = 0; passed < 200; passed += 100) clock.advance(100)
  await until(() => judging === 20 || undefined)
  judged.resolve(GOOD)
  await whenListed(20)
})

test('processing resumes when the ingest load ends, even while one message is in progress', async t => {
  const { clock, take, start, whenListed } = await open(t)
  for (let i = 0; i < 20; i++) await take(`Subject: ${i}\n\nx`, clock.now())
  let isLoadHigh = true
  let judging = 0
  const judge: JudgeMail = () => (judging++ === 0 ? new Promise(() => {}) : Promise.resolve(GOOD))
  start({ reader: READS_NOTHING, judge, ingestLoad: { isHigh: () => isLoadHigh } })
  await until(() => judging === 1 || undefined)
  isLoadHigh = false
  clock.advance(100)
  await whenListed(19)
})

test('a stopped processor does not query again', async t => {
  const { clock, take, start } = await open(t)
  for (let i = 0; i < 2; i++) await take(`Subject: ${i}\n\nx`, clock.now())
  let judging = 0
  const judge: JudgeMail = () => {
    judging += 1
    return new Promise(() => {})
  }
  const inbox = start({ reader: READS_NOTHING, judge, ingestLoad: { isHigh: () => true } })
  await until(() => judging === 1 || undefined)
  const timerCount = clock.timerCount
  await inbox.stop()
  assert.is(clock.timerCount, timerCount - 1)
})

test('a message whose parse times out is listed by its header', async t => {
  const { clock, openReader, whenListed, take, start, figures } = await open(t)
  const real = await openReader({ entry: new URL('./stuck-thread.ts', import.meta.url) })
  await take('Subject: stuck\n\nx')
  start({ reader: real })
  await until(async () => clock.timerCount > 0 || undefined)
  clock.advance(21_000)
  const [row] = await whenListed(1)
  assert.equal(
    [row!.subject, row!.parse_error],
    ['by its head', 'This message takes longer to read than is allowed, so that only its header was read'],
  )
  await until(() => figures()?.includes('mailhorn_inbound_listed_total 1'))
  assert.ok(figures()!.includes('mailhorn_inbound_parse_errors_total 1'))
  assert.ok(figures()!.includes('mailhorn_threads_lost_total{thread="inbound"} 1'))
})

test('an unavailable store is queried again', async t => {
  const { run, clock, take, start, whenListed } = await open(t)
  await take('Subject: later\n\nx')
  let failures = 0
  const troubled: typeof run = async (name, input) => {
    if (failures === 2) return run(name, input)
    failures++
    throw new StorageUnavailable('disk full')
  }
  start({ run: troubled })
  for (const failed of [1, 2]) {
    await until(() => (failures === failed && clock.timerCount === 1) || undefined)
    clock.advance(5_000)
  }
  assert.is((await whenListed(1))[0]!.subject, 'later')
})

test('verdicts are stored, and a timeout of the checks is stored as such', async t => {
  const { clock, take, start, whenListed, figures } = await open(t)
  await take('Subject: good\n\nx')
  const judged = start({ judge: async () => GOOD })
  assert.equal(
    (await whenListed(1)).map(row => [row.spam_verdict, row.dmarc_verdict]),
    [['PASS', 'FAIL']],
  )
  await judged.stop()
  assert.ok(figures()!.includes('mailhorn_inbound_verdicts_total{check="dmarc",verdict="FAIL"} 1'))
  await take('Subject: broken\n\nx', 2)
  const broken = start({ judge: () => Promise.reject(new Error('no')) })
  assert.is((await whenListed(2))[1]!.spam_verdict, 'PROCESSING_FAILED')
  await broken.stop()
  await take('Subject: slow\n\nx', 3)
  const requests = Promise.withResolvers<void>()
  start({
    judge() {
      requests.resolve()
      return new Promise(() => {})
    },
  })
  await requests.promise
  clock.advance(91_000)
  assert.is((await whenListed(3))[2]!.spam_verdict, 'PROCESSING_FAILED')
})

test('stop does not wait for checks in progress', async t => {
  const { take, start, listed } = await open(t)
  await take('Subject: slow\n\nx')
  const requests = Promise.withResolvers<void>()
  const inbox = start({
    judge: () => {
      requests.resolve()
      return new Promise(() => {})
    },
  })
  await requests.promise
  await inbox.stop()
  assert.is(listed().length, 0)
})

test.run()
