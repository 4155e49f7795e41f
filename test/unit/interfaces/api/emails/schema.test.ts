import * as assert from 'uvu/assert'
import { emailView } from '../../../../../src/interfaces/api/emails/schema.ts'
import { timestamp } from '../../../../../src/interfaces/api/schema/timestamp.ts'
import type { Id } from '../../../../../src/lib/ids.ts'
import { explainParts } from '../../../../../src/pipeline/queue/explained.ts'
import { mailboxText, parseMailbox } from '../../../../../src/protocols/smtp/address.ts'
import { packRecord } from '../../../../../src/resources/emails/attempt-record.ts'
import { findEmailParts } from '../../../../../src/resources/emails/email-rows.ts'
import { endings, finishFor, postOver } from '../../../../kit/mail.ts'
import { openLocalStore } from '../../../../kit/store.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'

const test = suite('http: emails, mailboxes and times as shown')

for (const [name, shown] of [
  [null, 'ann@here.example'],
  ['Ann', 'Ann <ann@here.example>'],
  ['Ann Émile 😀', 'Ann Émile 😀 <ann@here.example>'],
  ["O'Neil & Sons", "O'Neil & Sons <ann@here.example>"],
  ['Doe, Jane', '"Doe, Jane" <ann@here.example>'],
  ['a "b" \\c', '"a \\"b\\" \\\\c" <ann@here.example>'],
  ['<evil@evil.example>', '"<evil@evil.example>" <ann@here.example>'],
  ['here.example (sales)', '"here.example (sales)" <ann@here.example>'],
] as const)
  test(`${name} is shown as ${shown}, and read back as the same`, () => {
    const mailbox = { name, address: 'ann@here.example', domain: 'here.example' }
    assert.is(mailboxText(mailbox), shown)
    assert.equal(parseMailbox(shown), mailbox)
  })

test('timestamps: they have milliseconds and Z, and a missing one is null', () => {
  assert.is(timestamp(0), '1970-01-01T00:00:00.000Z')
  assert.is(timestamp(1_795_000_000_001), '2026-11-18T11:06:40.001Z')
  assert.is(timestamp(null), null)
})

/** The email as the API shows it. */
async function viewOf(
  store: Awaited<ReturnType<typeof openLocalStore>>,
  accountId: Id,
  emailId: Id,
  now: number,
) {
  const parts = (await findEmailParts(store, accountId, emailId, 0))!
  return emailView(parts, await explainParts({ db: store.db, now }, parts), [])
}

/** An email to x@there.test that has been deferred once, in a region with or without feedback. */
async function deferredOnce(t: TestContext, region: string) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { clock } = post
  const accountId = post.account()
  post.domain(accountId, 'here.test', { region })
  const emailId = await post.send(accountId, { to: ['x@there.test'] })
  const finish = async (laneClass: number, over: Parameters<typeof finishFor>[2]) => {
    const [delivery] = await post.claim(accountId, 'there.test', { class: laneClass })
    const handed = { handedOverAt: clock.now(), signedAt: clock.now(), signatures: '[]' }
    const text = { reply: '450 a secret', mxHost: 'mx.there.test', brokeOff: null }
    const silent = { phase: 'rcpt', mxIp: '192.0.2.1', tls: null, transcript: null }
    const record = { ...text, packed: packRecord({ ...text, ...silent }) }
    await store.run('finish', finishFor(delivery!, clock.now(), { ...handed, ...over, record }))
    clock.advance(600_000)
  }
  await finish(0, endings.deferred(clock.now(), 60_000))
  const recipient = async () => {
    const view = await viewOf(store, accountId, emailId, clock.now())
    return { ...view.recipients[0]!, emailStatus: view.status, error: view.error }
  }
  return { ...post, run: store.run, accountId, emailId, finish, recipient }
}

/** Later events of the deferred email. */
const LATER = {
  async expired({ finish }: Awaited<ReturnType<typeof deferredOnce>>) {
    await finish(2, endings.failed('expired after 48 h: 450 a secret'))
  },
  async canceled({ run, emailId, clock }: Awaited<ReturnType<typeof deferredOnce>>) {
    const selector = { domain: null, accountId: null, broadcastId: null, emailId }
    const place = { kind: 'email', emailId } as const
    await run('cancelWaiting', { place, selector, after: null, limit: 10, now: clock.now() })
  },
  async suppressed({ suppress, claim, accountId }: Awaited<ReturnType<typeof deferredOnce>>) {
    suppress(accountId, 'x@there.test')
    await claim(accountId, 'there.test', { class: 2 })
  },
}

for (const [what, happen] of Object.entries(LATER)) {
  test(`region without feedback: a recipient ${what} after a deferral shows no attempts`, async t => {
    const scene = await deferredOnce(t, 'eu-west-1')
    await happen(scene)
    const { status, emailStatus, ...rest } = await scene.recipient()
    const isSuppressed = what === 'suppressed'
    assert.equal([status, emailStatus], isSuppressed ? ['suppressed', 'suppressed'] : ['sent', 'sent'])
    assert.equal([rest.next_attempt_at, rest.mx_host, rest.reply, rest.transcripts], [null, null, null, []])
    assert.not(rest.error?.includes('secret'))
  })

  test(`region with feedback: a recipient ${what} after a deferral shows its attempts`, async t => {
    const scene = await deferredOnce(t, 'us-west-2')
    await happen(scene)
    const { status, reply, mx_host: host, transcripts } = await scene.recipient()
    assert.is(status, what === 'suppressed' ? 'suppressed' : 'failed')
    assert.equal([reply, host], ['450 a secret', 'mx.there.test'])
    assert.ok(transcripts.length > 0)
  })
}

test('region without feedback: a failure before the transfer is shown', async t => {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test', { region: 'eu-west-1' })
  const emailId = await post.send(accountId, { to: ['x@there.test'] })
  const [delivery] = await post.claim(accountId)
  const over = { ...endings.failed('the email is gone'), handedOverAt: null }
  await store.run('finish', finishFor(delivery!, post.clock.now(), over))
  const [recipient] = (await viewOf(store, accountId, emailId, post.clock.now())).recipients
  assert.equal([recipient!.status, recipient!.transcripts.length], ['failed', 1])
})

test('a full disk is the reason of mail that is due, and of no other', async t => {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const emailId = await post.send(accountId, { to: ['x@there.test'] })
  const explained = async (isFull: boolean) => {
    const parts = (await findEmailParts(store, accountId, emailId, 0))!
    const options = { db: store.db, isDiskFull: async () => isFull, now: post.clock.now() }
    return (await explainParts(options, parts)).explanation
  }
  assert.is((await explained(false)).code, 'due_now')
  const { code, summary, next_attempt_at: nextAt } = await explained(true)
  assert.equal([code, summary, nextAt], ['storage_full', 'Waiting: the disk of this server is full.', null])
  await post.claim(accountId, 'there.test')
  assert.is((await explained(true)).code, 'in_progress')
})

test('recipients: a queued one is scheduled, queued or sent as far as it has come', async t => {
  const store = await t.using(openLocalStore())
  const { account, domain, send, claim, clock } = postOver(store)
  const accountId = account()
  domain(accountId, 'here.test')
  const statusOf = async (id: Id) => {
    const view = await viewOf(store, accountId, id, clock.now())
    return view.recipients.map(({ status, attempts }) => [status, attempts])
  }
  const scheduled = await send(accountId, { to: ['x@later.test'], scheduledAt: clock.now() + 3_600_000 })
  const waiting = await send(accountId, { to: ['x@there.test', 'y@elsewhere.test'] })
  assert.equal(await statusOf(scheduled), [['scheduled', 0]])
  assert.equal(await statusOf(waiting), [
    ['queued', 0],
    ['queued', 0],
  ])
  await claim(accountId, 'there.test')
  assert.equal(await statusOf(waiting), [
    ['sent', 1],
    ['queued', 0],
  ])
})

test.run()
