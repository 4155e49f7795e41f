import * as assert from 'uvu/assert'
import { isSdk } from '../../../../src/resources/compat/sdks.ts'
import { forTypedClient, payloadFor, typedClientOf } from '../../../../src/resources/compat/typed-clients.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('http: replies to SDKs with closed types')
const UUID = '01990000-0000-7000-8000-0123456789ab'
const NET = 'resend-sdk/0.11.0 dotnet/9.0'
const RUST = 'resend-rs/0.31.0'

const read = (agent: string, body: object) =>
  forTypedClient(typedClientOf({ 'user-agent': agent })!, body) as typeof body

for (const [agent, wanted] of [
  [NET, true],
  ['resend-sdk/', true],
  [RUST, true],
  ['resend-rust/0.1.0', true],
  ['resend-sdk', false],
  ['resend-rs', false],
  ['resend-node:6.38.0', false],
  ['x resend-sdk/1', false],
  [undefined, false],
] as const)
  test(`${agent} is ${wanted ? 'recognized' : 'another client'}`, () => {
    const found = typedClientOf(agent === undefined ? {} : { 'user-agent': agent })
    assert.is(found !== undefined, wanted)
  })

test('.NET: ids in id and …_id have no prefix, at any depth', () => {
  const body = {
    id: `eml_${UUID}`,
    data: [{ id: `evt_${UUID}`, webhook_id: `wh_${UUID}`, x: { domain_id: `dom_${UUID}` } }],
  }
  assert.equal(read(NET, body), {
    id: UUID,
    data: [{ id: UUID, webhook_id: UUID, x: { domain_id: UUID } }],
  })
  assert.equal(read(RUST, body), body)
})

test('other values are unchanged', () => {
  const body = {
    id: 'eml_no-uuid',
    text: `eml_${UUID}`,
    message_id: `<${UUID}@here.example>`,
    order_id: `order_${UUID}`,
    foreign: { id: 'eml_01990000-0000-4000-8000-0123456789ab' },
    content_id: null,
    list_id: [`eml_${UUID}`],
    count: 5,
    properties: { status: 'sending', region: 'us-west-2' },
    status: 'canceled',
  }
  for (const agent of [NET, RUST]) assert.equal(read(agent, body), body)
})

/** The object, and how it is shown to .NET and to Rust. */
const CASES: [name: string, body: object, net: object, rust: object][] = [
  ...['draft', 'sent', 'queued', 'scheduled', 'failed'].map((status): [string, object, object, object] => {
    const body = { object: 'broadcast', status }
    return [`broadcast ${status}`, body, body, body]
  }),
  ...(
    [
      ['sending', 'queued'],
      ['paused', 'queued'],
      ['canceled', 'failed'],
    ] as const
  ).map(([status, word]): [string, object, object, object] => {
    const body = { object: 'broadcast', status }
    return [`broadcast ${status}`, body, { ...body, status: word }, body]
  }),
  [
    'contact with plain properties',
    { object: 'contact', properties: { plan: 'pro', seats: 3, paying: true } },
    { object: 'contact', properties: { plan: 'pro', seats: '3', paying: 'true' } },
    {
      object: 'contact',
      properties: {
        plan: { value: 'pro', type: 'string' },
        seats: { value: '3', type: 'number' },
        paying: { value: 'true', type: 'string' },
      },
    },
  ],
  [
    'contact with typed properties',
    {
      object: 'contact',
      properties: { seats: { value: 3, type: 'number' }, paying: { value: true, type: 'boolean' } },
    },
    { object: 'contact', properties: { seats: '3', paying: 'true' } },
    {
      object: 'contact',
      properties: { seats: { value: '3', type: 'number' }, paying: { value: 'true', type: 'string' } },
    },
  ],
  [
    'domain in a known region',
    { object: 'domain', region: 'eu-west-1', status: 'verified' },
    { object: 'domain', region: 'eu-west-1', status: 'verified' },
    { object: 'domain', region: 'eu-west-1', status: 'verified' },
  ],
  [
    'domain in a region of ours',
    { object: 'domain', region: 'us-west-2', status: 'temporary_failure' },
    { object: 'domain', status: 'partially_failed' },
    { object: 'domain', status: 'partially_failed', region: 'us-east-1' },
  ],
  [
    'deleted domain',
    { object: 'domain', deleted: true },
    { object: 'domain', deleted: true },
    { object: 'domain', deleted: true },
  ],
  [
    'records of a domain',
    {
      object: 'domain',
      records: ['Verification', 'DKIM 1', 'DKIM 3', 'SPF', 'MX', 'Tracking'].map(record => ({ record })),
    },
    {
      object: 'domain',
      records: ['Verification', 'DKIM 1', 'DKIM 3', 'SPF', 'MX', 'Tracking'].map(record => ({ record })),
    },
    { object: 'domain', records: ['DKIM', 'DKIM', 'SPF', 'SPF', 'Tracking'].map(record => ({ record })) },
  ],
  [
    'events of a webhook',
    { object: 'webhook', events: ['email.sent', 'email.canceled', 'domain.verified', 'suppression.added'] },
    { object: 'webhook', events: ['email.sent'] },
    { object: 'webhook', events: ['email.sent', 'suppression.added'] },
  ],
  [
    'suppressed email',
    { object: 'email', last_event: 'suppressed', status: 'suppressed' },
    { object: 'email', last_event: 'suppressed', status: 'suppressed' },
    { object: 'email', last_event: 'failed', status: 'suppressed' },
  ],
]

for (const [name, body, net, rust] of CASES)
  test(`${name}: in the words of the SDK, alone and in a list`, () => {
    for (const [agent, wanted] of [
      [NET, net],
      [RUST, rust],
    ] as const) {
      assert.equal(read(agent, body), wanted)
      assert.equal(read(agent, { object: 'list', data: [body] }), { object: 'list', data: [wanted] })
    }
  })

const DOMAIN_EVENT = {
  id: `evt_${UUID}`,
  type: 'domain.updated',
  data: {
    ...{ object: 'domain', id: `dom_${UUID}`, region: 'us-west-2', status: 'temporary_failure' },
    records: [{ record: 'Verification' }, { record: 'DKIM 2' }, { record: 'MX' }],
  },
}

test('payloads: a domain has the words of its reply, and its id keeps the prefix', () => {
  for (const [dialect, agent] of [
    ['rust', RUST],
    ['dotnet', NET],
  ] as const) {
    const { id: _, ...reply } = read(agent, DOMAIN_EVENT.data) as typeof DOMAIN_EVENT.data
    const { id, ...shown } = payloadFor(dialect, DOMAIN_EVENT).data as typeof DOMAIN_EVENT.data
    assert.equal([id, shown], [`dom_${UUID}`, reply])
  }
  assert.is(payloadFor(null, DOMAIN_EVENT), DOMAIN_EVENT)
})

for (const [input, rust] of [
  [{ bounce: { subType: 'NoEmail' } }, { bounce: { subType: 'MessageRejected' } }],
  [{ bounce: { subType: null } }, { bounce: { subType: 'MessageRejected' } }],
  [{ bounce: { subType: 'Suppressed' } }, { bounce: { subType: 'Suppressed' } }],
  [{ tags: { a: 1, b: null, c: { d: 'e' }, f: 'g' } }, { tags: { a: '1', c: '{"d":"e"}', f: 'g' } }],
  [{ click: { link: 'x', ipAddress: null } }, { click: { link: 'x', ipAddress: '', userAgent: '' } }],
  [{ message_id: null }, { message_id: '' }],
  [{ first_name: null }, { first_name: null }],
] as const)
  test(`payloads: Rust reads ${JSON.stringify(input)}`, () => {
    assert.equal(payloadFor('rust', { data: input }).data, rust)
  })

for (const [agent, expected] of [
  ['resend-node:6.38.0', true],
  ['resend-rs/0.31.0', true],
  ['Resend-Java/4.20.0', true],
  ['resend', false],
  ['resend/1', false],
  ['x resend-node:1', false],
] as const)
  test(`${agent} is ${expected ? 'an' : 'no'} SDK`, () => {
    assert.is(isSdk({ 'user-agent': agent }), expected)
  })

test.run()
