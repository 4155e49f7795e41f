import * as assert from 'uvu/assert'
import type { Operation } from '../../../../src/interfaces/dashboard/web/reference/document.ts'
import { replayedId, replayOf } from '../../../../src/interfaces/dashboard/web/reference/replay.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('API reference: replayed requests')

const operations = [
  { operationId: 'getEmail', method: 'GET', path: '/emails/{id}' },
  {
    ...{ operationId: 'exportEmails', method: 'GET', path: '/emails/export' },
    parameters: [{ name: 'status', in: 'query' }],
  },
  { operationId: 'sendEmail', method: 'POST', path: '/emails' },
] as Operation[]

const LOGGED = {
  ...{ method: 'GET', endpoint: '/emails/export', query: null, created_at: '2026-11-26T09:00:00.000Z' },
  ...{ request_body: null, request_body_truncated: false, bodies_stored: true },
}

test('a request is filled in under the operation of its method and path', () => {
  const id = 'eml_019abc'
  for (const [logged, operationId, values] of [
    [{ endpoint: `//emails/${id}/` }, 'getEmail', { id }],
    [{ query: 'status=sent&api_key=[redacted]&other=1' }, 'exportEmails', { status: 'sent' }],
    [{ query: 'status=[redacted]' }, 'exportEmails', {}],
    [{ method: 'POST', endpoint: '/emails', request_body: { to: 'ann@there.example' } }, 'sendEmail', {}],
  ] as const) {
    const replay = replayOf({ ...LOGGED, ...logged }, operations)
    assert.equal([replay.operationId, replay.values], [operationId, values])
    assert.equal(
      replay.body && JSON.parse(replay.body),
      'request_body' in logged ? logged.request_body : undefined,
    )
  }
  assert.throws(
    () => replayOf({ ...LOGGED, endpoint: '/inboxes' }, operations),
    'The API has no operation `GET /inboxes`.',
  )
})

test('a replay says what of its body is missing', () => {
  for (const [logged, expected] of [
    [{}, /^Filled in from the request of [^.]*\.$/],
    [{ request_body: { token: '[redacted]' } }, /Secrets and contents of attachments are not stored/],
    [{ request_body: { attachments: [{ content: '[3 bytes]' }] } }, /Secrets and contents/],
    [{ request_body_truncated: true }, /stored in part/],
    [{ bodies_stored: false }, /was not stored/],
  ] as const)
    assert.match(replayOf({ ...LOGGED, ...logged }, operations).note, expected)
})

test('only ids of requests are read from the address', () => {
  const id = 'log_01990000-0000-7000-8000-000000000000'
  for (const [search, expected] of [
    [`?replay=${id}`, id],
    ['?replay=../emails', undefined],
    ['', undefined],
  ] as const)
    assert.is(replayedId(search), expected)
})

test.run()
