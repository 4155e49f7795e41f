import * as assert from 'uvu/assert'
import { forDotnetClient, isDotnetClient } from '../../../../../src/interfaces/api/compat/dotnet-compat.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http: replies to the .NET library')
const UUID = '01990000-0000-7000-8000-0123456789ab'

for (const [agent, wanted] of [
  ['resend-sdk/0.11.0 dotnet/9.0', true],
  ['resend-sdk/', true],
  ['resend-sdk', false],
  ['resend-node:6.38.0', false],
  ['x resend-sdk/1', false],
  [undefined, false],
] as const)
  test(`${agent} is ${wanted ? 'it' : 'another'}`, () => {
    assert.is(isDotnetClient(agent === undefined ? {} : { 'user-agent': agent }), wanted)
  })

test('ids lose their prefix under id and …_id, at any depth', () => {
  const body = {
    id: `eml_${UUID}`,
    data: [{ id: `evt_${UUID}`, webhook_id: `wh_${UUID}`, x: { domain_id: `dom_${UUID}` } }],
  }
  assert.equal(forDotnetClient(body), {
    id: UUID,
    data: [{ id: UUID, webhook_id: UUID, x: { domain_id: UUID } }],
  })
})

test('everything else stays', () => {
  const body = {
    id: 'eml_no-uuid',
    text: `eml_${UUID}`,
    message_id: `<${UUID}@here.example>`,
    order_id: `order_${UUID}`,
    content_id: null,
    list_id: [`eml_${UUID}`],
    count: 5,
  }
  assert.equal(forDotnetClient(body), body)
})

for (const [status, word] of [
  ['sending', 'queued'],
  ['paused', 'queued'],
  ['canceled', 'failed'],
  ['draft', 'draft'],
  ['sent', 'sent'],
])
  test(`a broadcast that is ${status} is ${word}, an email stays as it is`, () => {
    const body = {
      data: [
        { object: 'broadcast', status },
        { object: 'email', status },
      ],
    }
    assert.equal(forDotnetClient(body), {
      data: [
        { object: 'broadcast', status: word },
        { object: 'email', status },
      ],
    })
  })

test('properties of contacts are texts', () => {
  const properties = { plan: 'pro', seats: 3, paying: true }
  assert.equal(forDotnetClient({ object: 'contact', properties }), {
    object: 'contact',
    properties: { plan: 'pro', seats: '3', paying: 'true' },
  })
})

test('only our own ids are taken for ids', () => {
  const foreign = { id: 'eml_01990000-0000-4000-8000-0123456789ab' }
  assert.equal(forDotnetClient(foreign), foreign)
})

test.run()
