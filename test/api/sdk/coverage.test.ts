import * as assert from 'uvu/assert'
import { EVENT_TYPES } from '../../../src/resources/events/types.ts'
import { openSession } from '../../kit/accounts.ts'
import { causeEveryEvent, untilEveryEvent } from '../../kit/every-event.ts'
import { assertDocumented, row } from '../../kit/sdk/page.ts'
import { faultsOfTypes, type TypedValue } from '../../kit/sdk/surface.ts'
import { type MethodReport, namesField, walkSurface } from '../../kit/sdk/walk.ts'
import { openSdkWorld } from '../../kit/sdk/world.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { startMailhornWithWebhooks, startSink } from '../../kit/webhook-sink.ts'

const test = suite('every method of the newest resend package')

/** No field can have this value. */
const WRONG = { no: 'such value' }

/**
 * Methods of which a reply is not of the declared type: broadcasts have more statuses than the package knows,
 * such as `scheduled`, and the signing secret of a webhook is shown on creation and rotation only.
 */
const DIFFERENT_REPLIES = ['broadcasts.list', 'webhooks.get']
/** The package has no types for these. */
const OWN_EVENTS = ['email.canceled', 'domain.verified']

/** Types that are not those of the method: a batch in strict mode has a type that no value has. */
const TYPES = new Map([
  ['batch.create', `sdk.CreateBatchSuccessResponse<{ batchValidation: 'permissive' }>`],
  ['batch.send', `sdk.CreateBatchSuccessResponse<{ batchValidation: 'permissive' }>`],
  ['webhooks.verify', `Extract<sdk.WebhookEventPayload, { type: 'email.sent' }>`],
])
/** Words that the service's contract has in place of those of the package. */
const CONTRACT_WORDS = [
  [/"region":"us-west-2"/g, '"region":"us-east-1"'],
  [/"record":"(?:Verification|MX)"/g, '"record":"SPF"'],
  [/"record":"DKIM [123]"/g, '"record":"DKIM"'],
] as const

let walked: Promise<MethodReport[]> | undefined
/** Once, by the first test that looks. */
function walk(t: TestContext): Promise<MethodReport[]> {
  walked ??= openSdkWorld(t).then(walkSurface)
  return walked
}

function inPackageWords(value: unknown): unknown {
  const text = JSON.stringify(value)
  return JSON.parse(CONTRACT_WORDS.reduce((words, [theirs, ours]) => words.replace(theirs, ours), text))
}

const WORDS = { works: 'works', partly: 'in part', refused: 'refused' }

test('docs/sdks.md says of each whether it works', async t => {
  const reports = await walk(t)
  const count = (state: MethodReport['state']) => reports.filter(report => report.state === state).length
  const rows = reports.map(({ name, state, notes }) => row(`\`${name}\``, WORDS[state], notes.join('<br>')))
  assertDocumented(
    'methods of the node package',
    [
      `Of ${reports.length} methods, ${count('works')} work, ${count('partly')} work in part, and ${count('refused')} are refused.`,
      '',
      '| method | result | what is refused or not honoured |',
      '|---|---|---|',
      ...rows,
    ].join('\n'),
  )
})

test('every field that the package declares is sent', async t => {
  const untried = (await walk(t)).flatMap(({ name, untried }) => untried.map(field => `${name}: ${field}`))
  assert.equal(untried, [])
})

test('no field is dropped in silence', async t => {
  const silent = (await walk(t)).flatMap(({ name, silent }) => silent.map(field => `${name}: ${field}`))
  assert.equal(silent, [])
})

test('fields that only other SDKs declare are not dropped in silence either', async t => {
  const world = await openSdkWorld(t)
  const { mailhorn, credential: session } = world
  const { id: topic } = await world.make('/topics', { name: 'Digest' })
  const { id: contact } = await world.make('/contacts', { email: 'ann@there.example' })
  const mail = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }
  const file = { filename: 'a.txt', content: 'aGVsbG8=' }
  const calls = [
    [
      'POST',
      '/emails',
      { ...mail, attachments: [{ ...file, inline_content_id: WRONG }] },
      'inline_content_id',
    ],
    ['POST', '/topics', { name: 'Weekly', visibility: WRONG }, 'visibility'],
    ['PATCH', `/topics/${topic}`, { visibility: WRONG }, 'visibility'],
    ['POST', '/segments', { name: 'Readers', audience_id: WRONG }, 'audience_id'],
    ['POST', '/segments', { name: 'Readers', filter: WRONG }, 'filter'],
    ['POST', '/contacts', { email: 'bob@there.example', audience_id: WRONG }, 'audience_id'],
    ['POST', '/contacts', { email: 'cid@there.example', segment_id: WRONG }, 'segment_id'],
    ['PATCH', `/contacts/${contact}`, { email: WRONG }, 'email'],
    ['PATCH', `/contacts/${contact}/topics`, { topics: WRONG }, 'topics'],
    ['GET', '/contacts?segment_id=no+such+value', undefined, 'segment_id'],
  ] as const
  const silent: string[] = []
  for (const [method, path, body, field] of calls) {
    const answer = await mailhorn.call(method, path, { session, ...(body && { body }) })
    if (!namesField(answer, field)) silent.push(`${method} ${world.plain(path)}: ${field}`)
  }
  assert.equal(silent, [])
})

test('every reply is assignable to its declared type', async t => {
  const values: TypedValue[] = (await walk(t)).flatMap(({ name, replies }) =>
    replies.map((value, i) => {
      const type = TYPES.get(name) ?? `Reply<'${name}'>`
      // Of batches, the first is permissive. The last contact is read at the contract's path, which has plain
      // properties.
      const isRead = name === 'contacts.get' ? i < replies.length - 1 : i === 0 || !name.startsWith('batch.')
      return { label: name, type: isRead ? type : 'unknown', value: inPackageWords(value) }
    }),
  )
  const faults = new Map(faultsOfTypes(values).map(({ label, fault }) => [label, fault]))
  assert.equal([...faults.keys()], DIFFERENT_REPLIES, [...faults].join('\n'))
})

test('every payload of a webhook is assignable to its declared type', async t => {
  const mailhorn = await t.using(startMailhornWithWebhooks())
  const session = openSession(mailhorn, 'bearer')
  const sink = await startSink(t)
  await mailhorn.call('POST', '/webhooks', { session, body: { url: sink.url, events: EVENT_TYPES } })
  await causeEveryEvent(mailhorn, session)
  await untilEveryEvent(mailhorn, sink)
  const values = sink
    .events()
    .filter(({ type }) => !OWN_EVENTS.includes(type))
    .map(event => ({
      label: event.type,
      type: `Extract<sdk.WebhookEventPayload, { type: '${event.type}' }>`,
      value: event,
    }))
  const faults = new Map(faultsOfTypes(values).map(({ label, fault }) => [label, fault]))
  assert.equal([...faults.keys()], [], [...faults].join('\n'))
})

test.run()
