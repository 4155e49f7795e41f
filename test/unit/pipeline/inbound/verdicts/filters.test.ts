import { rm } from 'node:fs/promises'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock as clock } from '../../../../../src/lib/clock.ts'
import { createClamd } from '../../../../../src/pipeline/inbound/verdicts/clamd.ts'
import type { FilterSettings } from '../../../../../src/pipeline/inbound/verdicts/filters.ts'
import { createRspamd } from '../../../../../src/pipeline/inbound/verdicts/rspamd.ts'
import { createSpamd } from '../../../../../src/pipeline/inbound/verdicts/spamd.ts'
import { createManualClock, settled } from '../../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { until } from '../../../../kit/until.ts'
import { envelope, GOOD_ZONE, letter, mailOf, startScene, textOf } from './scene.ts'
import {
  atOnce,
  hangsUp,
  silent,
  startFilter,
  type Talk,
  whenStreamed,
  whenWhole,
} from './scripted-filters.ts'

const test = suite('verdicts/filters')
const TEXT = textOf(letter())
const mail = mailOf(TEXT, 100)

/** Returns the message that clamd received, joined from its chunks. */
function unchunked(heard: Buffer): string {
  assert.is(heard.subarray(0, 10).toString(), 'zINSTREAM\0')
  const pieces: Buffer[] = []
  for (let at = 10; ; ) {
    const length = heard.readUInt32BE(at)
    if (length === 0) return Buffer.concat(pieces).toString()
    pieces.push(heard.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
}

test('clamd gets the message in chunks, and its word is taken', async t => {
  const replies: [reply: string, verdict: string, found?: string][] = [
    ['stream: OK\0', 'PASS'],
    ['stream: Mailhorn.Test-1 FOUND\0', 'FAIL', 'Mailhorn.Test-1'],
    ['stream: Two Words FOUND\0', 'FAIL', 'Two Words'],
  ]
  for (const [reply, verdict, found] of replies) {
    const filter = await startFilter(t, whenStreamed(reply))
    const told = await createClamd(filter.address, { clock }).ask(mail, envelope())
    assert.equal([told.verdict, told.found], [verdict, found])
    assert.is(unchunked(filter.heard()), TEXT)
  }
})

test('a socket in the file system will do as well', async t => {
  const path = join(tmpdir(), `mailhorn-clamd-${process.pid}.sock`)
  t.after(() => rm(path, { force: true }))
  const { address } = await startFilter(t, whenStreamed('stream: OK\0'), path)
  assert.is((await createClamd(address, { clock }).ask(mail, envelope())).verdict, 'PASS')
})

const SPAMD_TRUE =
  'SPAMD/1.1 0 EX_OK\r\nContent-length: 20\r\nSpam: True ; 15.2 / 5.0\r\n\r\nGTUBE,NO_RELAYS\r\n'

test('spamd gets the message behind its length, and its score is taken', async t => {
  const filter = await startFilter(t, whenWhole(SPAMD_TRUE))
  assert.equal(await createSpamd(filter.address, { clock }).ask(mail, envelope()), {
    by: 'spamd',
    verdict: 'FAIL',
    score: 15.2,
    threshold: 5,
    rules: ['GTUBE', 'NO_RELAYS'],
  })
  assert.is(filter.heard().toString(), `SYMBOLS SPAMC/1.5\r\nContent-length: ${TEXT.length}\r\n\r\n${TEXT}`)
  const other = await startFilter(t, whenWhole('SPAMD/1.5 0 EX_OK\r\nSpam: False ; -1.5 / 5.0\r\n\r\n\r\n'))
  assert.equal(await createSpamd(other.address, { clock }).ask(mail, envelope()), {
    by: 'spamd',
    verdict: 'PASS',
    score: -1.5,
    threshold: 5,
    rules: [],
  })
})

/** Starts a web server that records its requests. */
async function startHttp(
  t: TestContext,
  answer: (request: IncomingMessage) => { status?: number; body: string | Buffer } | undefined,
): Promise<{
  url: string
  requests: { method: string; url: string; headers: IncomingMessage['rawHeaders']; body: string }[]
}> {
  const requests: Awaited<ReturnType<typeof startHttp>>['requests'] = []
  const server = createHttpServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString()
    requests.push({ method: request.method!, url: request.url!, headers: request.rawHeaders, body })
    const reply = answer(request)
    if (reply) response.writeHead(reply.status ?? 200).end(reply.body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const rspamdReply = (action: string) =>
  JSON.stringify({
    ...{ action, score: 7.5, required_score: 15 },
    symbols: { BAD_WORDS: { score: 7.5 }, ARC_NA: { score: 0 }, ODD: null },
  })

for (const symbols of [undefined, null, 'none', {}])
  test(`rspamd: a reply whose symbols are ${JSON.stringify(symbols)} counts, without rules`, async t => {
    const body = JSON.stringify({ action: 'reject', score: 20, required_score: 15, symbols })
    const { url } = await startHttp(t, () => ({ body }))
    const told = await createRspamd(url, { clock }).ask(mail, envelope())
    assert.equal([told.verdict, told.score, told.rules], ['FAIL', 20, []])
  })

test('rspamd gets the message and its envelope, and what it would do is the verdict', async t => {
  const actions: [action: string, verdict: string][] = [
    ['no action', 'PASS'],
    ['greylist', 'PASS'],
    ['soft reject', 'PASS'],
    ['add header', 'GRAY'],
    ['rewrite subject', 'GRAY'],
    ['quarantine', 'GRAY'],
    ['reject', 'FAIL'],
    ['discard', 'FAIL'],
  ]
  let action = ''
  const { url, requests } = await startHttp(t, () => ({ body: rspamdReply(action) }))
  for (const [next, verdict] of actions) {
    action = next
    const told = await createRspamd(`${url}/`, { clock }).ask(
      mail,
      envelope({ recipients: ['a@b.test', 'c@d.test'] }),
    )
    assert.equal(told, {
      by: 'rspamd',
      verdict,
      score: 7.5,
      threshold: 15,
      rules: ['BAD_WORDS'],
    } as typeof told)
  }
  const [first] = requests
  assert.equal([first!.method, first!.url, first!.body], ['POST', '/checkv2', TEXT])
  const names = ['IP', 'From', 'Rcpt', 'Helo', 'Content-Length']
  assert.equal(
    first!.headers.flatMap((name, i) =>
      i % 2 === 0 && names.includes(name) ? [`${name}: ${first!.headers[i + 1]}`] : [],
    ),
    [
      `Content-Length: ${TEXT.length}`,
      'IP: 192.0.2.1',
      'From: <ann@here.test>',
      'Rcpt: <a@b.test>',
      'Rcpt: <c@d.test>',
      'Helo: out.here.test',
    ],
  )
})

test('what the envelope says of itself is one line to rspamd', async t => {
  const { url, requests } = await startHttp(t, () => ({ body: rspamdReply('no action') }))
  const strange = { helo: 'a\r\nPass: all', mailFrom: 'ü"\n@x', recipients: ['ä@b'] }
  await createRspamd(url, { clock }).ask(mail, envelope(strange))
  assert.ok(!requests[0]!.headers.includes('Pass'))
})

const closedPort = { host: '127.0.0.1', port: 1 }
const NOT_THERE = /ECONNREFUSED/
const CLAMD: [what: string, talk: Talk, reason: RegExp][] = [
  [
    'says that the message is too large',
    atOnce('INSTREAM size limit exceeded. ERROR\0'),
    /size limit exceeded/,
  ],
  ['says nothing', atOnce(''), /closed without an answer/],
  ['hangs up', hangsUp, /closed without an answer|ECONNRESET|EPIPE/],
  ['says something else', whenStreamed('HTTP/1.1 400 Bad Request\r\n\r\n'), /it said "HTTP/],
  ['says too much', whenStreamed('x'.repeat(10_000)), /more than 4096 bytes/],
]
for (const [what, talk, reason] of CLAMD)
  test(`clamd ${what}: no verdict`, async t => {
    const { address: clamd } = await startFilter(t, talk)
    await expectFailure(t, { clamd }, 'virus', reason)
  })

const SPAMD: [what: string, talk: Talk, reason: RegExp][] = [
  ['fails', whenWhole('SPAMD/1.5 74 EX_IOERR\r\nSpam: False ; 0 / 5\r\n\r\n'), /74 EX_IOERR/],
  ['does not know the word', atOnce('SPAMD/1.0 76 Bad header line: x\r\n'), /76 Bad header line/],
  ['says half of it', whenWhole(SPAMD_TRUE.slice(0, 30)), /it said/],
  ['says something else', whenWhole('220 mail ESMTP\r\n'), /it said "220/],
  ['says too much', whenWhole(`SPAMD/1.1 0 EX_OK\r\n${'x'.repeat(100_000)}`), /more than 65536 bytes/],
]
for (const [what, talk, reason] of SPAMD)
  test(`spamd ${what}: no verdict`, async t => {
    const { address: spamd } = await startFilter(t, talk)
    await expectFailure(t, { spamd }, 'spam', reason)
  })

const RSPAMD: [what: string, status: number, body: string, reason: RegExp][] = [
  ['fails', 500, '{"error":"x"}', /it answered 500/],
  ['knows an action that we do not', 200, rspamdReply('explode'), /it said/],
  ['says nothing', 200, '', /it said/],
  ['says what is no object', 200, '[[1]]', /it said/],
  ['says null', 200, 'null', /it said/],
  ['says too much', 200, ' '.repeat(10 * 1_048_576), /more than 1048576 bytes/],
]
for (const [what, status, body, reason] of RSPAMD)
  test(`rspamd ${what}: no verdict`, async t => {
    const { url: rspamdUrl } = await startHttp(t, () => ({ status, body }))
    await expectFailure(t, { rspamdUrl }, 'spam', reason)
  })

test('a filter that is not there: no verdict, and authentication as ever', async t => {
  await expectFailure(t, { clamd: closedPort }, 'virus', NOT_THERE)
  await expectFailure(t, { clamd: { path: '/nowhere/clamd.sock' } }, 'virus', /ENOENT/)
  await expectFailure(t, { spamd: closedPort }, 'spam', NOT_THERE)
  await expectFailure(t, { rspamdUrl: 'http://127.0.0.1:1' }, 'spam', NOT_THERE)
})

async function expectFailure(
  t: TestContext,
  filters: Partial<FilterSettings>,
  which: 'spam' | 'virus',
  reason: RegExp,
): Promise<void> {
  const { judge } = await startScene(t, GOOD_ZONE, { filters })
  const verdicts = await judge(mail, envelope())
  assert.is(verdicts[which], 'PROCESSING_FAILED', JSON.stringify(verdicts.detail[which]))
  assert.match(verdicts.detail[which].reason!, reason)
  assert.is(verdicts.spf, 'PASS')
}

test('a filter that is silent is waited for half a minute, and its connection is closed', async t => {
  const { url } = await startHttp(t, () => undefined)
  const filter = await startFilter(t, silent)
  const asks = [
    (time: typeof clock) => createClamd(filter.address, { clock: time }).ask(mail, envelope()),
    (time: typeof clock) => createSpamd(filter.address, { clock: time }).ask(mail, envelope()),
    (time: typeof clock) => createRspamd(url, { clock: time }).ask(mail, envelope()),
  ]
  for (const ask of asks) {
    const time = createManualClock()
    const asking = ask(time).catch((error: Error) => error.message)
    await settled()
    time.advance(30_000)
    assert.is(await asking, 'no answer within 30 s')
    assert.is(time.timerCount, 0)
  }
  await until(() => filter.connections() === 0)
})

test('a message is read no faster than a filter takes it', async t => {
  let read = 0
  const large = {
    sizeBytes: 40 * 1024 * 1024,
    async *read() {
      for (; read < 40 * 1024 * 1024; read += 65_536) yield Buffer.alloc(65_536, 'x')
    },
  }
  let stopped: Socket | undefined
  const filter = await startFilter(t, (heard, socket) => {
    if (stopped) return
    stopped = socket
    socket.pause()
    assert.ok(heard.length > 0)
  })
  const time = createManualClock()
  const asking = createClamd(filter.address, { clock: time })
    .ask(large, envelope())
    .catch(() => 'given up')
  await until(() => stopped !== undefined)
  await settled()
  const before = read
  await settled()
  assert.ok(before < 20 * 1024 * 1024, `${before}`)
  time.advance(30_000)
  assert.is(await asking, 'given up')
})

test('what is too large for spamd is not sent to it', async t => {
  const filter = await startFilter(t, silent)
  const huge = { sizeBytes: 11 * 1024 * 1024, read: mail.read }
  const asking = createSpamd(filter.address, { clock }).ask(huge, envelope())
  assert.match(await asking.then(String, (error: Error) => error.message), /too large/)
  assert.is(filter.heard().length, 0)
})

test('each says whether it is there', async t => {
  const { signal } = new AbortController()
  const good = await startHttp(t, () => ({ body: 'pong\r\n' }))
  await createRspamd(good.url, { clock }).ping(signal)
  assert.equal([good.requests[0]!.method, good.requests[0]!.url], ['GET', '/ping'])
  const clamd = await startFilter(t, atOnce('PONG\0'))
  await createClamd(clamd.address, { clock }).ping(signal)
  assert.is(clamd.heard().toString(), 'zPING\0')
  const spamd = await startFilter(t, atOnce('SPAMD/1.5 0 PONG\r\n'))
  await createSpamd(spamd.address, { clock }).ping(signal)
  assert.is(spamd.heard().toString(), 'PING SPAMC/1.5\r\n\r\n')
  const other = await startFilter(t, atOnce('220 hello\r\n'))
  const pings = [createClamd(other.address, { clock }), createSpamd(other.address, { clock })]
  for (const filter of pings)
    assert.match(await filter.ping(signal).then(String, (error: Error) => error.message), /instead of PONG/)
})

test.run()
