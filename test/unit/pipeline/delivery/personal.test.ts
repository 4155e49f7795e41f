import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import type { OutgoingMessage } from '../../../../src/pipeline/delivery/message/message.ts'
import { rebuildMessage } from '../../../../src/pipeline/delivery/message/rebuild.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { finishFor, LINK_BASE_URL, newId } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { keyResolver, openSigned, secrets } from './signed-domain.ts'

const test = suite('broadcast messages')
const LONG = 'Words that everybody gets, in a line that is longer than any line of mail may be. '.repeat(3)

/** Emails that say one content, each with values of its own. */
async function openBroadcast(t: TestContext, html: string, text: string | null, isTracked: 0 | 1 = 0) {
  const signed = await openSigned(t)
  const { accountId, send, maker, change, clock, run, claim, rows, domains } = signed
  const domain = await signed.verifiedDomain('here.test')
  await domains.change(accountId, domain.id, { openTracking: isTracked, clickTracking: isTracked })
  const broadcastId = newId(clock.now())
  let contentId: number | undefined
  const emailTo = async (address: string, values: Record<string, string> | null) => {
    const id = await send(accountId, { to: [address], html, text })
    const [own] = rows<{ contentId: number }>('select content_id as "contentId" from emails where id = ?', id)
    contentId ??= own!.contentId
    const [{ terms }] = rows<{ terms: number }>(
      'select id as terms from link_terms where track_opens = ? and track_clicks = ?',
      isTracked,
      isTracked,
    ) as [{ terms: number }]
    change(
      'update emails set broadcast_id = ?, content_id = ?, variables = ?, link_terms_id = ? where id = ?',
      ...[broadcastId, contentId, values && JSON.stringify(values), terms, id],
    )
    return id
  }
  const sent = async (emailId: Id) => {
    const [delivery] = rows<{ address: string }>('select address from deliveries where email_id = ?', emailId)
    const name = { accountId, emailId, ordinal: 0, address: delivery!.address }
    const message = await maker.make(name, clock.now())
    if ('reason' in message) throw new Error(message.reason)
    const raw = Buffer.concat(message.bytes)
    const { results } = await dkimVerify(raw, { resolver: keyResolver(domain) })
    assert.equal(
      results.map(({ status }) => status.result),
      ['pass', 'pass'],
    )
    return { ...message, raw, read: await PostalMime.parse(raw) }
  }
  const claimed: ClaimedDelivery[] = []
  /** Rebuilds the message as the API shows it after delivery. */
  const again = async (emailId: Id, message: Pick<OutgoingMessage, 'signedAt' | 'signatures'>) => {
    claimed.push(...(await claim(accountId)))
    for (const delivery of claimed)
      if (Buffer.compare(delivery.emailId, emailId) === 0) {
        const { signedAt, signatures } = message
        await run(
          'finish',
          finishFor(delivery, clock.now(), { signedAt, signatures: JSON.stringify(signatures) }),
        )
      }
    return rebuildMessage({ ...signed, secrets }, { accountId, emailId, ordinal: 0 })
  }
  return { emailTo, sent, again }
}

for (const isTracked of [0, 1] as const)
  test(`each gets its own words, signed, and they can be shown again${isTracked ? ', tracked' : ''}`, async t => {
    const html = `<p>Hi {{first_name|you}}.</p>\n<p>${LONG}</p><a href="https://shop.test/">x</a> <a href="{{unsubscribe_url}}">leave</a>\n`
    const text = `Hi {{first_name|you}}.\n.\nFrom {{city}}: ${LONG}\n{{unsubscribe_url}}`
    const { emailTo, sent, again } = await openBroadcast(t, html, text, isTracked)
    const ann = await emailTo('ann@there.test', { first_name: 'Ann & Ö', city: '.com' })
    const bob = await emailTo('bob@there.test', {})
    const [forAnn, forBob] = [await sent(ann), await sent(bob)]
    assert.match(forAnn.read.html!, '<p>Hi Ann &amp; Ö.</p>')
    assert.match(forBob.read.html!, '<p>Hi you.</p>')
    assert.match(forAnn.read.text!, `Hi Ann & Ö.\n.\nFrom .com: ${LONG}\n${LINK_BASE_URL}/u/`)
    assert.match(forBob.read.text!, 'From : Words')
    assert.is(forAnn.read.html!.includes('shop.test'), isTracked === 0)
    for (const [id, message] of [
      [ann, forAnn],
      [bob, forBob],
    ] as const) {
      const shown = await again(id, message)
      assert.is(shown?.fidelity, 'exact')
      assert.equal(Buffer.concat([shown!.head, shown!.body]), message.raw)
    }
  })

for (const isTracked of [0, 1] as const)
  test(`HTML alone gets a text with the values of the recipient and untracked links${isTracked ? ', tracked' : ''}`, async t => {
    const html =
      '<style>.a{color:red}</style><div style="display:none">Preview {{first_name}}</div>' +
      `<h1>Hi {{first_name|you}}</h1><p>${LONG}</p><p>{{{promo}}}</p>` +
      '<p><a href="https://shop.test/?c={{city}}">Shop in {{city}}</a></p><a href="{{unsubscribe_url}}">Leave</a>'
    const { emailTo, sent, again } = await openBroadcast(t, html, null, isTracked)
    const values = { first_name: 'Ann <3 & Ö', city: 'A&B', promo: 'Ten percent' }
    const ann = await emailTo('ann@there.test', values)
    const bob = await emailTo('bob@there.test', { promo: '<b>Buy</b> <a href="https://bob.test">this</a>' })
    const [forAnn, forBob] = [await sent(ann), await sent(bob)]
    const shared = `${LONG.trim()}\n\n`
    assert.ok(
      forAnn.read.text!.startsWith(
        `Hi Ann <3 & Ö\n\n${shared}Ten percent\n\nShop in A&B (https://shop.test/?c=A&B)\n\nLeave (${LINK_BASE_URL}/u/`,
      ),
    )
    assert.ok(
      forBob.read.text!.startsWith(
        `Hi you\n\n${shared}Buy this (https://bob.test)\n\nShop in (https://shop.test/?c=)\n\nLeave (${LINK_BASE_URL}/u/`,
      ),
    )
    assert.is((await again(ann, forAnn))?.fidelity, 'exact')
    assert.is((await again(bob, forBob))?.fidelity, 'exact')
  })

test('an empty text opts out of the text part', async t => {
  const { emailTo, sent } = await openBroadcast(t, '<p>Hi {{first_name}}</p>', '')
  for (const values of [{ first_name: 'Ann' }, null])
    assert.is((await sent(await emailTo('ann@there.test', values))).read.text, undefined)
})

test('recipients without differences share the body bytes', async t => {
  const { emailTo, sent, again } = await openBroadcast(t, `<p>${LONG}{{not_filled_in}}</p>`, null)
  const ids = [await emailTo('ann@there.test', null), await emailTo('bob@there.test', null)]
  const messages = [await sent(ids[0]!), await sent(ids[1]!)]
  assert.is(messages[0]!.bytes[1], messages[1]!.bytes[1])
  assert.match(messages[0]!.read.html!, '{{not_filled_in}}', 'what is no template is not filled in')
  assert.is((await again(ids[1]!, messages[1]!))?.fidelity, 'exact')
})

test('text in another script is encoded as a whole', async t => {
  const { emailTo, sent } = await openBroadcast(
    t,
    '<p>{{first_name}}, добро пожаловать</p>',
    'Привет, {{first_name}}!',
  )
  const { read } = await sent(await emailTo('ann@there.test', { first_name: 'Анна' }))
  assert.equal([read.html?.trim(), read.text?.trim()], ['<p>Анна, добро пожаловать</p>', 'Привет, Анна!'])
})

test.run()
