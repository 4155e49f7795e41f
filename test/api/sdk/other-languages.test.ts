import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import * as assert from 'uvu/assert'
import { assertDocumented, row } from '../../kit/sdk/page.ts'
import { prepareRecorded, type RecordedCall, type Recording } from '../../kit/sdk/recorded.ts'
import { REPLIES } from '../../kit/sdk/recorded-replies.ts'
import { openSdkWorld } from '../../kit/sdk/world.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { faultsFor } from '../../kit/typed-readers.ts'

const test = suite('recorded requests of the SDKs')
const LANGUAGES = ['Python', 'Ruby', 'Go', 'PHP', 'Java']
/** Fewer methods than this, and a recording has lost some. */
const METHODS_MIN = 90

function recordingOf(language: string): Recording {
  const file = new URL(`../../golden/sdks/${language.toLowerCase()}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as Recording
}

interface Answer {
  status: number
  type: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: replies have every shape
  body: any
}

/**
 * Sends the request as it was recorded: some SDKs have bodies in GET requests, which `fetch` would refuse.
 */
function send(url: URL, { method, headers, body }: RecordedCall): Promise<Answer> {
  const content = Buffer.from(body, 'latin1')
  const isChunked = 'transfer-encoding' in headers
  const length = !isChunked && content.length > 0 ? { 'content-length': content.length } : {}
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers, ...length } }, async reply => {
      const text = Buffer.concat(await Array.fromAsync(reply)).toString()
      resolve({ status: reply.statusCode!, type: reply.headers['content-type'], body: JSON.parse(text) })
    })
    sent.on('error', reject).end(content)
  })
}

async function replay(t: TestContext, { agent, calls }: Recording) {
  const world = await openSdkWorld(t)
  const names = await prepareRecorded(world)
  names.in2h = world.inHours(2)
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => names[name] ?? whole)
  const faults: string[] = []
  for (const call of calls) {
    const headers = { ...call.headers, 'user-agent': agent, authorization: `Bearer ${world.credential}` }
    const target = new URL(fill(call.path), world.mailhorn.baseUrl)
    const { status, type, body } = await send(target, { ...call, headers, body: fill(call.body) })
    const shown = `${call.call} (${call.method} ${call.path}): ${status} ${JSON.stringify(body).slice(0, 300)}`
    if (status !== call.status) faults.push(`${shown} instead of ${call.status}`)
    if (type !== 'application/json; charset=utf-8') faults.push(`${shown} is of type ${type}`)
    const found = status < 300 ? readReply(call, body) : faultsFor('rust', 'error', body)
    faults.push(...found.map(fault => `${shown}: ${fault}`))
    if (call.save) names[call.save] = body.id ?? body.data?.[0].id
  }
  return faults
}

function readReply({ call }: RecordedCall, body: unknown): string[] {
  const read = REPLIES[call]
  return read ? read(body, call) : [`nobody has said what ${call} returns`]
}

for (const language of LANGUAGES)
  test(`of ${language} are answered in the types of that SDK`, async t => {
    const recording = recordingOf(language)
    assert.ok(new Set(recording.calls.map(({ call }) => call)).size >= METHODS_MIN)
    assert.equal(await replay(t, recording), [])
  })

test('docs/sdks.md says which versions they are of, and what is refused', () => {
  const rows = LANGUAGES.map(language => {
    const { version, agent, calls } = recordingOf(language)
    const methods = (some: readonly RecordedCall[]) => new Set(some.map(({ call }) => call)).size
    const refused = calls.filter(({ status }) => status >= 300)
    const groups = [...new Set(refused.map(({ call }) => `\`${call.split('.')[0]}\``))]
    return row(
      language,
      version,
      `\`${agent}\``,
      String(methods(calls)),
      `${methods(refused)}: ${groups.join(', ')}`,
    )
  })
  const head = [row('SDK', 'version', '`User-Agent`', 'methods', 'refused'), '|---|---|---|---|---|']
  assertDocumented('recorded requests of the other SDKs', [...head, ...rows].join('\n'))
})

test('are read by readers that find missing members', () => {
  const email = { id: 'eml_1' }
  assert.ok(REPLIES['emails.get']!(email, 'email').length > 0)
  assert.ok(REPLIES['emails.list']!({ object: 'list', has_more: false, data: [email] }, 'list').length > 0)
  assert.ok(REPLIES['contacts.remove']!({ object: 'contact', id: 'con_1', deleted: true }, 'x').length > 0)
})

test.run()
