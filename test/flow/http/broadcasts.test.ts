import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { MODERN_VERSIONS, openResend, requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('broadcasts over HTTP')
let mailhorn: Mailhorn
let session = ''
let audience = ''
const WORDS = { from: 'Ann <ann@here.example>', subject: 'News for {{first_name|you}}' }

test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
  await mailhorn.verifiedDomain('here.example')
  audience = (await post('/audiences', { name: 'readers' })).body.id
  for (const [email, first_name, unsubscribed] of [
    ['delivered+ann@simulator.test', 'Ann', false],
    ['delivered+bob@simulator.test', null, false],
    ['bounced@simulator.test', 'Carl', false],
    ['delivered+gone@simulator.test', 'Dan', true],
  ] as const)
    await post(`/audiences/${audience}/contacts`, {
      ...{ email, first_name, unsubscribed },
      properties: { city: 'Köln & Bonn' },
    })
})
test.after(() => mailhorn.close())

const post = (path: string, body: object = {}) => mailhorn.call('POST', path, { session, body })
const get = async (path: string) => (await mailhorn.call('GET', path, { session })).body
const draft = async (body: object = {}) => {
  const answer = await post('/broadcasts', { audience_id: audience, text: 'Hello.', ...WORDS, ...body })
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}
const when = (id: string, status: string) =>
  until(async () => {
    const broadcast = await get(`/broadcasts/${id}`)
    return broadcast.status === status ? broadcast : undefined
  })
/**
 * The broadcast once its emails have been delivered or have failed: when it is `sent`, some may be on their
 * way.
 */
const whenDelivered = (id: string) =>
  until(async () => {
    const broadcast = await when(id, 'sent')
    return broadcast.counts.queued + broadcast.counts.sent === 0 ? broadcast : undefined
  })

const bare = (id: string) => id.slice(id.indexOf('_') + 1)

test('broadcasts: a broadcast is created, sent and read back with its counts', async () => {
  const made = await draft({
    name: 'July',
    html: '<html><body><p>Hi {{first_name|you}} in {{city}}: <a href="{{unsubscribe_url}}">leave</a></p></body></html>',
    text: 'Hi {{first_name|you}} in {{city}}: {{unsubscribe_url}}',
    preview_text: 'All about {{city}}',
    reply_to: 'desk@here.example',
  })
  assert.equal([made.status, made.progress.total, made.preview_text], ['draft', null, 'All about {{city}}'])
  const sent = await post(`/broadcasts/${made.id}/send`)
  assert.equal([sent.status, sent.body.status], [200, 'sending'])
  const done = await whenDelivered(made.id)
  assert.equal(done.progress, { total: 4, expanded: 4, handed_over: 3 })
  assert.equal([done.counts.delivered, done.counts.bounced, done.skipped.unsubscribed], [2, 1, 1])
  assert.is(done.html.includes('display:none'), false, 'the author’s words stay as they were')

  const { total, data } = await get(`/emails?broadcast_id=${made.id}&q=news%20for%20ANN`)
  assert.equal([total, data[0].subject, data[0].to], [1, 'News for Ann', ['delivered+ann@simulator.test']])
  const email = await get(`/emails/${data[0].id}`)
  assert.equal(
    [email.broadcast_id, email.subject, email.reply_to],
    [made.id, 'News for Ann', ['desk@here.example']],
  )
  assert.match(email.text, /^Hi Ann in Köln & Bonn: http/)
  assert.match(email.html, /All about Köln &amp; Bonn.*<p>Hi Ann in Köln &amp; Bonn: <a href="http/s)

  const raw = (await mailhorn.call('GET', `/emails/${email.id}/raw`, { session })).body as string
  const read = await PostalMime.parse(raw)
  assert.match(read.html!, /Hi Ann in Köln &amp; Bonn/)
  const field = (name: string) => read.headers.find(({ key }) => key === name)?.value
  const { id: account } = await get('/account')
  assert.is(field('feedback-id'), `${made.id}:${account}:broadcast:mailhorn`)
  assert.match(field('list-unsubscribe')!, /^<http.*>, <mailto:u\+/)
  assert.is(field('list-unsubscribe-post'), 'List-Unsubscribe=One-Click')
  const other = (await get(`/emails?broadcast_id=${made.id}&q=you`)).data[0]
  assert.match((await get(`/emails/${other.id}`)).text, /^Hi you in/)
})

test('broadcasts: a broadcast to a segment is scheduled', async () => {
  const filters = [{ field: 'first_name', op: 'eq', value: 'ann' }]
  const segment = (await post(`/audiences/${audience}/segments`, { name: 'anns', filters })).body.id
  const at = new Date(mailhorn.clock.now() + 3_600_000).toISOString()
  const made = await draft({ segment_id: segment, scheduled_at: at })
  assert.equal([made.status, made.scheduled_at], ['scheduled', at])
  const later = new Date(mailhorn.clock.now() + 7_200_000).toISOString()
  const changed = await mailhorn.call('PATCH', `/broadcasts/${made.id}`, {
    session,
    body: { scheduled_at: later, name: 'other' },
  })
  assert.equal(
    [changed.body.status, changed.body.scheduled_at, changed.body.name, changed.body.segment_id],
    ['scheduled', later, 'other', segment],
  )
  mailhorn.clock.advance(7_200_000)
  assert.equal((await whenDelivered(made.id)).progress, { total: 1, expanded: 1, handed_over: 1 })
})

test('broadcasts: an empty time of the Go SDK sends at once', async () => {
  const made = await draft()
  const answer = await post(`/broadcasts/${made.id}/send`, { broadcast_id: made.id, scheduled_at: '' })
  assert.is(answer.status, 200, JSON.stringify(answer.body))
  assert.is((await when(made.id, 'sent')).scheduled_at, null)
})

for (const [path, fields] of [
  ['/broadcasts', { segment_id: '', send: true }],
  ['/broadcasts', { topic_id: '', send: true }],
  ['/broadcasts', { scheduled_at: '', send: true }],
  ['/broadcasts', { segment_id: [], send: true }],
  ['send', { scheduled_at: '' }],
] as const)
  test(`broadcasts: ${JSON.stringify(fields)} at ${path} is refused, and nothing is sent`, async () => {
    const made = await draft()
    const body = path === 'send' ? fields : { audience_id: made.audience_id, ...WORDS, ...fields }
    const answer = await post(path === 'send' ? `/broadcasts/${made.id}/send` : path, body)
    assert.equal([answer.status, answer.body.errors[0].path], [422, Object.keys(fields)[0]])
    assert.is((await get(`/broadcasts/${made.id}`)).status, 'draft')
  })

test('broadcasts: emails that failed before any handover are not counted as sent', async () => {
  const { id: readers } = (await post('/audiences', { name: 'failing' })).body
  for (const email of ['failed@simulator.test', 'delivered+f@simulator.test', 'bounced+f@simulator.test'])
    await post(`/audiences/${readers}/contacts`, { email })
  const { id } = await draft({ audience_id: readers, send: true })
  const { progress, counts } = await whenDelivered(id)
  assert.equal([counts.failed, counts.delivered, counts.bounced], [1, 1, 1])
  assert.equal(progress, { total: 3, expanded: 3, handed_over: 2 })
})

test('broadcasts: a segment id may name an audience, and a segment of another audience is removed', async () => {
  const filters = [{ field: 'first_name', op: 'exists' }]
  const segment = (await post(`/audiences/${audience}/segments`, { name: 'named', filters })).body.id
  const other = (await post('/audiences', { name: 'others' })).body.id
  const to = (broadcast: Record<string, unknown>) => [broadcast.audience_id, broadcast.segment_id]
  const { id } = await draft({ audience_id: null, segment_id: segment })
  const change = async (body: object) => {
    const answer = await mailhorn.call('PATCH', `/broadcasts/${id}`, { session, body })
    return answer.status === 200 ? to(answer.body) : [answer.status, answer.body.errors[0].path]
  }
  assert.equal(await change({ segment_id: audience }), [audience, null])
  assert.equal(await change({ segment_id: other, subject: 's' }), [other, null])
  assert.equal(await change({ segment_id: segment }), [422, 'segment_id'], 'of another audience')
  assert.equal(await change({ audience_id: audience, segment_id: segment }), [audience, segment])
  assert.equal(await change({ subject: 'n' }), [audience, segment])
  assert.equal(await change({ segment_id: bare(other) }), [other, null])
  assert.equal(await change({ audience_id: audience, segment_id: other }), [404, 'segment_id'])
  assert.equal(await change({ audience_id: audience, segment_id: bare(other) }), [404, 'segment_id'])
  assert.equal(await change({ segment_id: 'aud_01890000-0000-7000-8000-000000000000' }), [404, 'segment_id'])
  assert.equal(to(await draft({ audience_id: null, segment_id: bare(other) })), [other, null])
  assert.equal(to(await draft({ audience_id: null, segment_id: bare(segment) })), [audience, segment])
})

test('broadcasts: a client without id prefixes always reads a segment, which may be an audience', async () => {
  const headers = { 'user-agent': 'resend-sdk/0.11.0 dotnet/9.0' }
  const call = async (method: string, path: string, body?: object) =>
    (await mailhorn.call(method, path, { session, headers, ...(body && { body }) })).body
  const made = await call('POST', '/broadcasts', { ...WORDS, segment_id: bare(audience), text: 't' })
  assert.equal([made.audience_id, made.segment_id], [bare(audience), bare(audience)])
  const found = await call('GET', `/broadcasts/${made.id}`)
  assert.is(found.segment_id, bare(audience))
  const changed = await call('PATCH', `/broadcasts/${made.id}`, { ...found, subject: 'n' })
  assert.equal([changed.subject, changed.segment_id], ['n', bare(audience)])
  const { data } = await call('GET', '/broadcasts?limit=100')
  assert.ok(data.every((row: { segment_id: unknown }) => typeof row.segment_id === 'string'))
  assert.is((await get(`/broadcasts/${made.id}`)).segment_id, null)
})

test('broadcasts: a client with a closed list of states reads canceled broadcasts, and properties as strings', async () => {
  const headers = { 'user-agent': 'resend-sdk/0.11.0 dotnet/9.0' }
  const read = async (path: string) => (await mailhorn.call('GET', path, { session, headers })).body
  const { id } = await draft()
  await post(`/broadcasts/${id}/send`)
  await post(`/broadcasts/${id}/pause`)
  assert.is((await post(`/broadcasts/${id}/cancel`)).body.status, 'canceled')
  assert.is((await read(`/broadcasts/${id}`)).status, 'failed')
  const known = ['draft', 'queued', 'sent', 'scheduled', 'failed']
  for (const { status } of (await read('/broadcasts?limit=100')).data)
    assert.ok(known.includes(status), status)
  const dot = (await post('/audiences', { name: 'typed' })).body.id
  const properties = { plan: 'pro', seats: 3, paying: true }
  await post(`/audiences/${dot}/contacts`, { email: 'dot@there.example', properties })
  const [contact] = (await read(`/segments/${dot}/contacts`)).data
  assert.equal(contact.properties, { plan: 'pro', seats: '3', paying: 'true' })
})

test('broadcasts: a scheduled broadcast that is canceled is a draft, which can be changed, sent again or deleted', async () => {
  const scheduledAt = new Date(mailhorn.clock.now() + 3_600_000).toISOString()
  const { id } = await draft({ scheduled_at: scheduledAt, reply_to: '' })
  const { body } = await post(`/broadcasts/${id}/cancel`)
  assert.equal([body.id, body.status, body.scheduled_at, body.reply_to], [id, 'draft', null, []])
  assertRefusal(await post(`/broadcasts/${id}/cancel`), { status: 422, name: 'validation_error' })
  const change = async (changes: object) =>
    (await mailhorn.call('PATCH', `/broadcasts/${id}`, { session, body: changes })).body
  assert.equal((await change({ subject: 'New', reply_to: 'desk@here.example' })).reply_to, [
    'desk@here.example',
  ])
  assert.equal((await change({ reply_to: '' })).reply_to, [])
  const again = await post(`/broadcasts/${id}/send`, { scheduled_at: scheduledAt })
  assert.equal([again.body.status, again.body.scheduled_at], ['scheduled', scheduledAt])
  await post(`/broadcasts/${id}/cancel`)
  assert.is((await mailhorn.call('DELETE', `/broadcasts/${id}`, { session })).body.deleted, true)
})

test('broadcasts: a duplicate is a draft of its own with the words and recipients of the original', async () => {
  const words = {
    html: '<p>Hi</p>',
    text: 'Hi',
    preview_text: 'p',
    reply_to: ['desk@here.example'],
    name: 'n',
  }
  const original = await draft(words)
  const { status, body: copy } = await post(`/broadcasts/${original.id}/duplicate`)
  assert.equal([status, copy.status], [201, 'draft'])
  assert.is.not(copy.id, original.id)
  assert.is(copy.name, 'n (copy)')
  for (const field of [
    'html',
    'text',
    'preview_text',
    'reply_to',
    'from',
    'subject',
    'audience_id',
    'version',
  ])
    assert.equal(copy[field], original[field], field)
  const changes = { session, body: { subject: 'Changed' } }
  await mailhorn.call('PATCH', `/broadcasts/${copy.id}`, changes)
  assert.is((await get(`/broadcasts/${original.id}`)).subject, original.subject)
  assert.is((await post('/broadcasts/brd_01890000-0000-7000-8000-000000000000/duplicate')).status, 404)
})

test('broadcasts: content that is empty cannot be sent', async () => {
  const { body: template } = await post('/templates', { name: 'empty', subject: 's', html: '' })
  for (const words of [{ text: '' }, { text: '', html: '' }, { text: null, template_id: template.id }]) {
    const { id } = await draft(words)
    assertRefusal(await post(`/broadcasts/${id}/send`), {
      ...{ status: 422, name: 'missing_required_field', path: 'html' },
    })
  }
})

test('broadcasts: an empty text opts out of the derived one, and `derive_text` takes this back', async () => {
  const { id } = await draft({ html: '<p>Hello <b>there</b></p>', text: 'Hi' })
  const change = async (body: object) => {
    const { body: changed } = await mailhorn.call('PATCH', `/broadcasts/${id}`, { session, body })
    return [changed.text, (await get(`/broadcasts/${id}/preview`)).text]
  }
  assert.equal(await change({ text: '' }), ['', ''])
  assert.equal(await change({ name: 'x' }), ['', ''], 'an absent text stays')
  assert.equal(await change({ text: null }), ['', ''], 'null changes nothing')
  assert.equal(await change({ derive_text: true }), [null, 'Hello there'])
  assert.equal(await change({ text: 'Hi', derive_text: false }), ['Hi', 'Hi'])
  const both = { session, body: { text: 'Hi', derive_text: true } }
  assertRefusal(await mailhorn.call('PATCH', `/broadcasts/${id}`, both), {
    ...{ status: 422, name: 'validation_error', path: 'derive_text' },
  })
})

test('broadcasts: a draft may hold tags that are not supported, and cannot be sent until they are gone', async () => {
  const tag = '{{#each items}}'
  for (const [field, change] of [
    ['html', { html: `<p>\n  ${tag}` }],
    ['text', { text: `a\n  ${tag}` }],
    ['subject', { subject: tag }],
  ] as const) {
    const { id } = await draft(change)
    for (const body of [{}, { scheduled_at: new Date(mailhorn.clock.now() + 3_600_000).toISOString() }]) {
      const { status, body: refusal } = await post(`/broadcasts/${id}/send`, body)
      assert.equal([status, refusal.errors[0].path], [422, field])
      assert.match(refusal.message, `\`${field}\` contains \`${tag}\` at line`)
    }
    assert.is((await get(`/broadcasts/${id}`)).status, 'draft')
    const body = { ...WORDS, html: '<p>Hi</p>', text: 'Hi' }
    assert.is((await mailhorn.call('PATCH', `/broadcasts/${id}`, { session, body })).status, 200)
    const { status, body: answer } = await post(`/broadcasts/${id}/send`)
    assert.is(status, 200, JSON.stringify(answer))
    await when(id, 'sent')
  }
})

test('broadcasts: a refusal names the faulty field and changes nothing', async () => {
  const { total } = await get('/broadcasts')
  const good = { audience_id: audience, ...WORDS, text: 'Hi' }
  const segment = (await get(`/audiences/${audience}/segments`)).data[0].id
  const elsewhere = (await post('/audiences', { name: 'other' })).body.id
  const past = '2020-01-01T00:00:00Z'
  for (const [change, status, path] of [
    [{ audience_id: null }, 422, 'audience_id'],
    [{ audience_id: 'aud_nobody' }, 404, 'audience_id'],
    [{ audience_id: 'aud_01890000-0000-7000-8000-000000000000' }, 404, 'audience_id'],
    [{ audience_id: elsewhere, segment_id: segment }, 422, 'segment_id'],
    [{ segment_id: 'seg_01890000-0000-7000-8000-000000000000' }, 404, 'segment_id'],
    [{ topic_id: 'top_01890000-0000-7000-8000-000000000000' }, 404, 'topic_id'],
    [{ template_id: 'tpl_01890000-0000-7000-8000-000000000000' }, 404, 'template_id'],
    [{ from: null }, 422, 'from'],
    [{ from: 'nobody' }, 422, 'from'],
    [{ subject: '' }, 422, 'subject'],
    [{ subject: 'a\nb' }, 422, 'subject'],
    [{ subject: 'leave: {{unsubscribe_url}}' }, 422, 'subject'],
    [{ reply_to: 'nobody' }, 422, 'reply_to'],
    [{ text: '{{a}}'.repeat(1_001) }, 422, 'text'],
    [{ name: 'n'.repeat(201) }, 422, 'name'],
    [{ attachments: [{ filename: 'a.pdf' }] }, 422, 'attachments[0]'],
    [
      { attachments: [{ filename: 'a.pdf', content: Buffer.alloc(1_600_000).toString('base64') }] },
      422,
      'attachments',
    ],
    [{ preview_text: 'p'.repeat(501) }, 422, 'preview_text'],
    [{ scheduled_at: past }, 422, 'scheduled_at'],
    [{ scheduled_at: 'tomorrow' }, 422, 'scheduled_at'],
    [{ send: false, scheduled_at: past }, 422, 'scheduled_at'],
    [{ send: true, text: null }, 422, 'html'],
    [{ send: true, from: 'ann@elsewhere.example' }, 403, 'from'],
    [{ send: true, text: 'Hi {{#if vip}}you{{/if}}' }, 422, 'text'],
    [{ send: true, html: '<p>{% if vip %}Hi{% endif %}</p>' }, 422, 'html'],
    [{ send: true, subject: 'Hi {{first_name' }, 422, 'subject'],
    [{ send: true, scheduled_at: '2099-01-01T00:00:00Z', text: '{{> footer}}' }, 422, 'text'],
    [{ send: true, html: '<p>Hi</p>', preview_text: '{{^vip}}' }, 422, 'preview_text'],
  ] as const) {
    const answer = await post('/broadcasts', { ...good, ...change })
    assert.is(answer.status, status, JSON.stringify([change, answer.body]))
    assert.is(answer.body.errors[0].path, path, JSON.stringify([change, answer.body]))
  }
  assert.is((await get('/broadcasts')).total, total)
  const { id } = await draft({ from: 'ann@elsewhere.example' })
  assert.is((await post(`/broadcasts/${id}/send`)).status, 403)
  assert.is((await post(`/broadcasts/${id}/pause`)).status, 422)
  const scheduling = { session, body: { scheduled_at: new Date(mailhorn.clock.now() + 1e6).toISOString() } }
  assert.is(
    (await mailhorn.call('PATCH', `/broadcasts/${id}`, scheduling)).body.errors[0].path,
    'scheduled_at',
  )
  assert.is((await get(`/broadcasts/${id}`)).status, 'draft')
})

test('broadcasts: the content of a template is copied once', async () => {
  const words = { name: 't', subject: 'Of {{city}}', html: '<p>{{city}}</p>', text: 'x' }
  const { id: template } = (await post('/templates', words)).body
  const { id, ...made } = (
    await post('/broadcasts', { audience_id: audience, from: WORDS.from, template_id: template, text: 'own' })
  ).body
  assert.equal(
    [made.subject, made.html, made.text, made.name, made.template_id],
    ['Of {{city}}', '<p>{{city}}</p>', 'own', 'Of {{city}}', template],
  )
  await mailhorn.call('PUT', `/templates/${template}`, { session, body: { name: 'changed' } })
  assert.is((await get(`/broadcasts/${id}`)).html, '<p>{{city}}</p>')
  const emptied = { session, body: { html: '', preview_text: 'now' } }
  const { body } = await mailhorn.call('PATCH', `/broadcasts/${id}`, emptied)
  assert.equal([body.html, body.preview_text, body.text], [null, 'now', 'own'])
})

test('broadcasts: a broadcast can be tested, previewed for a contact and linted', async () => {
  const { id } = await draft({ html: '<a href="">x</a> {{first_name}} {{nick}} {{email}}' })
  const to = ['delivered+ann@simulator.test', 'delivered+stranger@simulator.test']
  const { body } = await post(`/broadcasts/${id}/test`, { to })
  const [ann, stranger] = await Promise.all(
    body.emails.map((each: { id: string }) => mailhorn.emailWhen(each.id, 'delivered')),
  )
  assert.equal([ann.subject, stranger.subject], ['News for Ann', 'News for you'])
  assert.match(ann.html, / Ann {2}delivered\+ann@simulator\.test$/)
  assert.equal([ann.broadcast_id, ann.tags], [null, [{ name: 'broadcast_test', value: id }]])
  assert.equal((await get(`/broadcasts/${id}`)).progress, { total: null, expanded: 0, handed_over: 0 })
  assert.is((await post(`/broadcasts/${id}/test`, { to: [] })).status, 422)
  assert.is((await post(`/broadcasts/${id}/test`, { to: 'nobody' })).body.errors[0].path, 'to')
  const contacts = await get(`/audiences/${audience}/contacts?q=carl`)
  const asCarl = (await post(`/broadcasts/${id}/test`, { to, contact_id: contacts.data[0].id })).body
  const both = asCarl.emails.map((each: { id: string }) => mailhorn.emailWhen(each.id, 'delivered'))
  for (const { subject, html } of await Promise.all(both))
    assert.equal([subject, html.endsWith(` Carl  ${contacts.data[0].email}`)], ['News for Carl', true])
  for (const contact_id of ['con_01890000-0000-7000-8000-000000000000', 'carl'])
    assertRefusal(await post(`/broadcasts/${id}/test`, { to, contact_id }), {
      ...{ status: 404, name: 'not_found', path: 'contact_id' },
    })
  const preview = await get(`/broadcasts/${id}/preview?contact_id=${contacts.data[0].id}`)
  assert.equal([preview.subject, preview.text], ['News for Carl', 'Hello.'])
  assert.is((await get(`/broadcasts/${id}/preview`)).subject, 'News for you')
  const { findings } = (await post(`/broadcasts/${id}/lint`)).body
  assert.equal(
    findings.map(({ rule, part }: { rule: string; part: string }) => [rule, part]),
    [
      ['missing_unsubscribe', 'html'],
      ['empty_link', 'html'],
      ['unknown_variable', 'html'],
    ],
  )
})

test('broadcasts: few words are a finding while the domain of the sender counts opens', async () => {
  const { id } = await draft({ html: '<p>Hi</p>' })
  const rules = async () => {
    const { findings } = (await post(`/broadcasts/${id}/lint`)).body
    return findings.map(({ rule }: { rule: string }) => rule)
  }
  assert.not((await rules()).includes('tracked_few_words'))
  const { data } = await get('/domains')
  const { id: domain } = data.find(({ name }: { name: string }) => name === 'here.example')
  const count = (open_tracking: boolean) =>
    mailhorn.call('PATCH', `/domains/${domain}`, { session, body: { open_tracking } })
  assert.is((await count(true)).status, 200)
  assert.ok((await rules()).includes('tracked_few_words'))
  await count(false)
})

test('broadcasts: broadcasts are listed newest first, by name and status', async () => {
  const first = await draft({ name: 'Ärger 1' })
  const second = await draft({ name: 'Ärger 2' })
  const { total, has_more, data } = await get('/broadcasts?q=%C3%84RGER&limit=1')
  assert.equal([total, has_more, data[0].id], [2, true, second.id])
  assert.is((await get('/broadcasts?q=%C3%A4rger&status=draft&offset=1')).data[0].id, first.id)
  assert.is((await get('/broadcasts?q=%C3%A4rger&status=sent')).total, 0)
  assert.is((await mailhorn.call('GET', '/broadcasts?status=gone', { session })).status, 422)
  const gone = await mailhorn.call('DELETE', `/broadcasts/${first.id}`, { session })
  assert.equal(gone.body, { object: 'broadcast', id: first.id, deleted: true })
  assert.is((await mailhorn.call('GET', `/broadcasts/${first.id}`, { session })).status, 404)
})

for (const release of MODERN_VERSIONS)
  test(`broadcasts: resend ${release.version} with a session instead of a key manages broadcasts`, async () => {
    const { broadcasts } = await openResend(release, { ...mailhorn, apiKey: session })
    const words = { from: WORDS.from, subject: 's', html: '<p>h</p>', previewText: 'p', name: 'n' }
    const { id } = requireData(await broadcasts.create({ audienceId: audience, ...words }))
    requireData(await broadcasts.update(id, { name: 'm' }))
    const found = requireData(await broadcasts.get(id))
    assert.equal(
      [found.name, found.preview_text, found.status, found.audience_id],
      ['m', 'p', 'draft', audience],
    )
    const inAnHour = new Date(mailhorn.clock.now() + 3_600_000).toISOString()
    assert.is(requireData(await broadcasts.send(id, { scheduledAt: inAnHour })).id, id)
    assert.ok(requireData(await broadcasts.list()).data.some(row => row.id === id))
    assert.ok(requireData(await broadcasts.remove(id)))
  })

test.run()
