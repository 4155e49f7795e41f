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
  test(`.NET client: ${agent} is ${wanted ? 'recognized' : 'another client'}`, () => {
    assert.is(isDotnetClient(agent === undefined ? {} : { 'user-agent': agent }), wanted)
  })

test('.NET client: ids in id and …_id have no prefix, at any depth', () => {
  const body = {
    id: `eml_${UUID}`,
    data: [{ id: `evt_${UUID}`, webhook_id: `wh_${UUID}`, x: { domain_id: `dom_${UUID}` } }],
  }
  assert.equal(forDotnetClient(body), {
    id: UUID,
    data: [{ id: UUID, webhook_id: UUID, x: { domain_id: UUID } }],
  })
})

test('.NET client: other values are unchanged', () => {
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
  test(`.NET client: broadcast status ${status} becomes ${word}, the status of emails is unchanged`, () => {
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

test('.NET client: properties of contacts are strings', () => {
  const properties = { plan: 'pro', seats: 3, paying: true }
  assert.equal(forDotnetClient({ object: 'contact', properties }), {
    object: 'contact',
    properties: { plan: 'pro', seats: '3', paying: 'true' },
  })
})

test('.NET client: only ids with our prefixes are converted', () => {
  const foreign = { id: 'eml_01990000-0000-4000-8000-0123456789ab' }
  assert.equal(forDotnetClient(foreign), foreign)
})

test.run()
