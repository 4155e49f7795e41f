import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { rebuildMessage } from '../../../../src/pipeline/delivery/message/rebuild.ts'
import { readClickToken, readOpenToken } from '../../../../src/pipeline/tracking/tokens.ts'
import { readMailToken, readUnsubscribeToken } from '../../../../src/pipeline/tracking/unsubscribe-token.ts'
import { finishFor, LINK_BASE_URL, newId } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { keyResolver, openSigned, secrets } from './signed-domain.ts'

const test = suite('tracked messages')

const HTML =
  '<body><a href="https://shop.test/?a=1&amp;b=2">Shop</a> <a href="https://shop.test/no" data-no-track>No</a></body>'
const ADDRESSES = ['ann@there.test', 'bob@there.test']

async function openLinked(t: TestContext) {
  const signed = await openSigned(t)
  const domain = await signed.verifiedDomain('here.test')
  const { accountId, domains, maker, rows, find } = signed
  const setFlags = (openTracking: 0 | 1, clickTracking: 0 | 1) =>
    domains.change(accountId, domain.id, { openTracking, clickTracking })
  const make = async (emailId: Id, ordinal: number) => {
    const [delivery] = await find('deliveries', [{ emailId, ordinal }], ['address'])
    const name = { accountId, emailId, ordinal, address: delivery!.address }
    const message = await maker.make(name, Date.UTC(2026, 10, 22))
    if ('reason' in message) throw new Error(message.reason)
    return { ...message, raw: Buffer.concat(message.bytes) }
  }
  /** Marks the email as part of the broadcast, or as about the topic, from its acceptance on. */
  const markAsList = (emailId: Id, list: { broadcastId?: Id; topicId?: Id }) => {
    const [{ id }] = rows<{ id: number }>(
      'select id from link_terms where track_opens = 0 and track_clicks = 0',
    ) as [{ id: number }]
    signed.change(
      'update emails set broadcast_id = ?, topic_id = ?, link_terms_id = coalesce(link_terms_id, ?) where id = ?',
      list.broadcastId ?? null,
      list.topicId ?? null,
      id,
      emailId,
    )
  }
  return { ...signed, domain, setFlags, make, markAsList }
}

const linksIn = (html: string, path: string) =>
  [...html.matchAll(/(?:href|src)="([^"]*)"/g)]
    .map(([, url]) => url!)
    .filter(url => url.startsWith(`${LINK_BASE_URL}/${path}/`))
    .map(url => url.slice(LINK_BASE_URL.length + 3))

test('each recipient of a tracked email gets their own pixel and links', async t => {
  const { send, accountId, setFlags, make } = await openLinked(t)
  await setFlags(1, 1)
  const emailId = await send(accountId, { html: HTML, text: 'See https://shop.test/', to: ADDRESSES })
  for (const ordinal of [0, 1]) {
    const recipient = { accountId, emailId, ordinal }
    const { html, text } = await PostalMime.parse((await make(emailId, ordinal)).raw)
    const [pixel, ...morePixels] = linksIn(html!, 'o')
    const [link, ...moreLinks] = linksIn(html!, 'c')
    assert.equal([morePixels, moreLinks], [[], []])
    assert.equal(readOpenToken(secrets, pixel!), recipient)
    assert.equal(readClickToken(secrets, link!), {
      ...{ recipient, number: 0, target: 'https://shop.test/?a=1&b=2' },
    })
    assert.match(html!, /href="https:\/\/shop.test\/no" data-no-track/)
    assert.is(text?.trim(), 'See https://shop.test/')
  }
})

test('opens and clicks are tracked as the domain was set when the email was accepted', async t => {
  const { send, accountId, setFlags, make } = await openLinked(t)
  const counts = async (emailId: Id) => {
    const { html } = await PostalMime.parse((await make(emailId, 0)).raw)
    return [linksIn(html!, 'o').length, linksIn(html!, 'c').length]
  }
  const ids: Id[] = []
  for (const [opens, clicks] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ] as const) {
    await setFlags(opens, clicks)
    ids.push(await send(accountId, { html: HTML }))
  }
  await setFlags(0, 0)
  assert.equal(await Promise.all(ids.map(counts)), [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ])
})

test('plain text and simulator mail are not tracked', async t => {
  const { send, accountId, setFlags, make } = await openLinked(t)
  await setFlags(1, 1)
  const text = await send(accountId, { html: null, text: 'https://shop.test/' })
  assert.not.match(`${(await make(text, 0)).raw}`, /links\.test/)
  const simulated = await send(accountId, {
    ...{ html: HTML, from: 'you@example.com', to: ['delivered@simulator.test'] },
  })
  assert.not.match(`${(await make(simulated, 0)).raw}`, /links\.test/)
})

test('tracking links that the email already contains are not rewritten', async t => {
  const { send, accountId, setFlags, make } = await openLinked(t)
  await setFlags(0, 1)
  const own = ['o', 'c', 'u', 's'].map(path => `<a href="${LINK_BASE_URL}/${path}/token">own</a>`).join('')
  const emailId = await send(accountId, { html: `${own}<a href="${LINK_BASE_URL}/elsewhere">other</a>` })
  const { html } = await PostalMime.parse((await make(emailId, 0)).raw)
  assert.ok(html!.startsWith(own))
  assert.equal(readClickToken(secrets, linksIn(html!.slice(own.length), 'c')[0]!)?.number, 4)
})

test('a sent message is rebuilt byte for byte after the tracking host has changed', async t => {
  const { run, send, accountId, setFlags, make, claim, clock, ...store } = await openLinked(t)
  await setFlags(1, 1)
  const attachments = [
    { filename: 'a', contentType: 'text/plain', contentId: null, content: Buffer.alloc(70_000, 'x') },
  ]
  const emailId = await send(accountId, { html: HTML, to: ADDRESSES, attachments })
  store.change("update link_terms set base_url = base_url || '/a/path'")
  const sent = await Promise.all([0, 1].map(ordinal => make(emailId, ordinal)))
  for (const delivery of await claim(accountId)) {
    const { signedAt, signatures } = sent[delivery.ordinal]!
    await run(
      'finish',
      finishFor(delivery, clock.now(), { signedAt, signatures: JSON.stringify(signatures) }),
    )
  }
  await setFlags(0, 0)
  await run('linkTerms', { baseUrl: 'https://new-links.test' })
  for (const ordinal of [0, 1]) {
    const again = await rebuildMessage({ ...store, secrets }, { accountId, emailId, ordinal })
    assert.is(again?.fidelity, 'exact')
    assert.equal(Buffer.concat([again!.head, again!.body]), sent[ordinal]!.raw)
  }
  assert.not.equal(sent[0]!.bytes[1], sent[1]!.bytes[1])
})

for (const [what, list] of [
  ['a broadcast', { broadcastId: newId(0) }],
  ['a topic', { topicId: newId(0) }],
  ['a broadcast about a topic', { broadcastId: newId(0), topicId: newId(0) }],
] as const)
  test(`mail of ${what} says how to leave, and a foreign verifier finds that signed`, async t => {
    const { send, accountId, make, markAsList, domain } = await openLinked(t)
    const emailId = await send(accountId, { html: HTML, to: ['Ann@There.test'] })
    markAsList(emailId, list)
    const { raw } = await make(emailId, 0)
    const { headers } = await PostalMime.parse(raw)
    const fieldOf = (name: string) => headers.filter(({ key }) => key === name).map(({ value }) => value)
    assert.equal(fieldOf('list-unsubscribe-post'), ['List-Unsubscribe=One-Click'])
    const [field, ...more] = fieldOf('list-unsubscribe')
    assert.is(more.length, 0)
    const [, token, mailToken, subject] =
      /^<https:\/\/links\.test\/u\/([\w-]+)>, <mailto:u\+([a-z2-7]+)@send\.here\.test\?subject=([\w-]+)>$/.exec(
        field!,
      )!
    assert.equal(readUnsubscribeToken(secrets, token!), {
      ...{ accountId, address: 'ann@there.test', topicId: null, broadcastId: null },
      ...list,
      ...(!('broadcastId' in list) && { senderDomain: 'here.test' }),
    })
    assert.is(subject, token)
    assert.equal(readMailToken(secrets, mailToken!), { emailId, ordinal: 0 })
    const { results } = await dkimVerify(raw, { resolver: keyResolver(domain) })
    assert.equal(
      results.map(({ status }) => status.result),
      ['pass', 'pass'],
    )
    for (const [, h] of `${raw}`.matchAll(/\bh=([^;]*);/g)) {
      const signed = h!.toLowerCase().split(/\s*:\s*/)
      for (const name of ['list-unsubscribe', 'list-unsubscribe-post'])
        assert.is(signed.filter(key => key === name).length, 1, `${name} is signed`)
    }
    const forged = Buffer.from(raw.toString('latin1').replace('links.test/u/', 'links.test/x/'), 'latin1')
    const { results: broken } = await dkimVerify(forged, { resolver: keyResolver(domain) })
    assert.ok(broken.every(({ status }) => status.result !== 'pass'))
  })

test('other mail has no unsubscribe header of ours, and that of the sender is kept', async t => {
  const { send, accountId, make, markAsList } = await openLinked(t)
  const plain = await send(accountId, { html: HTML })
  assert.not.match(`${(await make(plain, 0)).raw}`, /^list-/im)
  const emailId = await send(accountId, {
    html: HTML,
    headers: [['List-Unsubscribe', '<https://mine.test/leave>']],
  })
  markAsList(emailId, { topicId: newId(0) })
  const text = `${(await make(emailId, 0)).raw}`
  assert.match(text, /^List-Unsubscribe: <https:\/\/mine\.test\/leave>\r$/m)
  assert.not.match(text, /links\.test/)
})

test.run()
