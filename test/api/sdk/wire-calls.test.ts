import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn, zoneText } from '../../kit/mailhorn.ts'
import { rawRequest } from '../../kit/raw-http.ts'
import { suite } from '../../kit/suite.ts'
import { WIRE_CLIENTS, WireForm, wireRequest } from '../../kit/wire-clients.ts'

const test = suite('clients of other languages: templates, contacts, keys, domains and logs, byte by byte')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

type Json = Record<string, unknown>
interface Topic {
  id: string
  subscription: string
}

/** Requests that the libraries write differently. */
interface Dialect {
  /** Fields of a new template, beside its name and HTML. */
  template(alias: string): Json
  /** Returns the body that changes a template's subject. */
  templateChange(subject: string): Json
  /** Paths of claims begin so. */
  claims?: string
  /** Bodies of calls without a body of their own. */
  nothing?: object
  /** The body that changes topics. */
  topics?(topics: Topic[]): unknown
  /** Name of the form field of an imported file; absent without imports. */
  importName?: string
}

const VARIABLES = [
  { key: 'NO', type: 'number', fallback_value: 7 },
  { key: 'WHO', type: 'string', fallback_value: 'you' },
]
const common = (alias: string) => ({
  ...{ alias, from: 'Ann <ann@here.example>', subject: 'Order', reply_to: ['r@here.example'] },
  ...{ text: 'Order {{{NO}}} for {{{WHO}}}', variables: VARIABLES },
})

/** Written down from the sources of the versions that `wire-clients.ts` names. */
const DIALECTS: Readonly<Record<string, Dialect>> = {
  python: { template: common, templateChange: subject => ({ subject }), importName: 'contacts.csv' },
  go: {
    template: common,
    // Name and HTML are always there.
    templateChange: subject => ({ name: 'Bill', subject, html: '<p>{{{NO}}} {{{WHO}}}</p>' }),
    importName: 'contacts.csv',
  },
  php: {
    template: common,
    templateChange: subject => ({ subject }),
    claims: 'claims',
    nothing: {},
    topics: topics => ({ topics }),
    // That of an opened file.
    importName: 'file',
  },
  ruby: { template: common, templateChange: subject => ({ subject }), importName: 'import.csv' },
  rust: {
    template: alias => ({
      ...common(alias),
      variables: [...VARIABLES, { key: 'OTHER', type: 'string', fallback_value: null }],
    }),
    templateChange: subject => ({ name: 'Bill', html: '<p>{{{NO}}} {{{WHO}}}</p>', subject }),
    importName: 'foo.csv',
  },
  java: {
    template: common,
    templateChange: subject => ({ subject }),
    importName: 'contacts.csv',
  },
  '.NET': {
    template: alias => ({
      ...common(alias),
      variables: VARIABLES.map(({ fallback_value: fallbackValue, ...variable }) => ({
        ...{ ...variable, fallbackValue },
      })),
    }),
    templateChange: subject => ({
      ...{ name: 'Bill', subject, html: '<p>{{{NO}}} {{{WHO}}}</p>', variables: null },
    }),
  },
}
const CSV = 'email,first_name\nann@there.example,Ann\n'

let accounts = 0

/** Has another account register and verify a domain. */
async function verify(name: string, session: string): Promise<void> {
  const body = { name, region: 'eu-west-1' }
  const { body: domain } = await mailhorn.call('POST', '/domains', { session, body })
  mailhorn.zone.add(zoneText(domain.records))
  const { body: verified } = await mailhorn.call('POST', `/domains/${domain.id}/verify`, { session })
  assert.is(verified.status, 'verified')
}

function openClient(name: string) {
  const client = WIRE_CLIENTS[name]!
  const { session } = addAccount(mailhorn, `wire-${++accounts}`)
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
  const ask = async (method: string, path: string, body?: unknown): Promise<any> => {
    const target = { host: new URL(mailhorn.baseUrl).host, key: session }
    const call = { method, path, ...(body !== undefined && { body }) }
    const answer = await rawRequest(mailhorn.baseUrl, wireRequest(client, call, target))
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  return { ask, session }
}

for (const [name, dialect] of Object.entries(DIALECTS)) {
  test(`${name}: a template is written, published, found by its alias, copied and sent`, async () => {
    const { ask, session } = openClient(name)
    const alias = `order-${accounts}`
    const html = '<p>{{{NO}}} {{{WHO}}}</p>'
    const { id } = await ask('POST', '/templates', { name: 'Bill', html, ...dialect.template(alias) })
    await ask('PATCH', `/templates/${id}`, dialect.templateChange('Bill'))
    await ask('POST', `/templates/${id}/publish`, dialect.nothing)
    const found = await ask('GET', `/templates/${alias}`)
    assert.equal([found.id, found.subject, found.html], [id, 'Bill', html])
    const copy = await ask('POST', `/templates/${id}/duplicate`, dialect.nothing)
    assert.is.not(copy.id, id)
    const mail = { to: ['delivered@simulator.test'], template: { id: alias, variables: { NO: 4711 } } }
    const sent = await ask('POST', '/emails', mail)
    const { body: email } = await mailhorn.call('GET', `/emails/${sent.id}`, { session })
    assert.equal([email.subject, email.html], ['Bill', '<p>4711 you</p>'])
    assert.equal([email.from, email.reply_to], ['Ann <ann@here.example>', ['r@here.example']])
  })

  test(`${name}: a contact joins a segment, leaves it, and changes its topics`, async () => {
    const { ask } = openClient(name)
    const contact = await ask('POST', '/contacts', { email: 'ann@there.example' })
    const first = await ask('POST', '/segments', { name: 'A' })
    const second = await ask('POST', '/segments', { name: 'B' })
    for (const segment of [first, second])
      await ask('POST', `/contacts/${contact.id}/segments/${segment.id}`, dialect.nothing)
    await ask('DELETE', `/contacts/ann@there.example/segments/${first.id}`)
    const { data: segments } = await ask('GET', `/contacts/${contact.id}/segments?limit=10`)
    const ids = segments.map((segment: { id: string }) => segment.id)
    assert.equal([ids.includes(first.id), ids.includes(second.id)], [false, true])
    const topic = await ask('POST', '/topics', { name: 'Digest', default_subscription: 'opt_in' })
    const topics = [{ id: topic.id, subscription: 'opt_out' }]
    await ask('PATCH', `/contacts/${contact.id}/topics`, dialect.topics?.(topics) ?? topics)
    const { data } = await ask('GET', `/contacts/${contact.id}/topics`)
    assert.equal([data[0].id, data[0].subscription], [topic.id, 'opt_out'])
  })

  test(`${name}: a key is renamed, a request is found in the log, and a domain is claimed`, async () => {
    const { ask } = openClient(name)
    const { id } = await ask('POST', '/api-keys', { name: 'first' })
    await ask('PATCH', `/api-keys/${id}`, { name: 'second' })
    const { data } = await ask('GET', '/api-keys')
    assert.ok(data.some((key: { id: string; name: string }) => key.id === id && key.name === 'second'))
    assert.is((await ask('GET', '/logs?limit=1')).object, 'list')
    const word = dialect.claims ?? 'claim'
    const domain = `wire-${accounts}.example`
    const holder = addAccount(mailhorn, `wire-holder-${accounts}`)
    await verify(domain, holder.session)
    const claim = await ask('POST', `/domains/${word}`, { name: domain, region: 'eu-west-1' })
    assert.equal([claim.object, claim.name, claim.status], ['domain_claim', domain, 'pending'])
    for (const [method, end] of [
      ['GET', ''],
      ['POST', '/verify'],
    ] as const)
      assert.is(
        (await ask(method, `/domains/${claim.domain_id}/${word}${end}`, dialect.nothing)).name,
        domain,
      )
  })

  if (dialect.importName)
    test(`${name}: a file of contacts is imported into a segment`, async () => {
      const { ask } = openClient(name)
      const segment = await ask('POST', '/segments', { name: 'Readers' })
      const file = { name: 'file', text: CSV, filename: dialect.importName!, type: 'text/csv' }
      const segments = { name: 'segments', text: JSON.stringify([{ id: segment.id }]) }
      const body = new WireForm([file, { name: 'on_conflict', text: 'upsert' }, segments])
      const { id } = await ask('POST', '/contacts/imports', body)
      const { object, counts } = await ask('GET', `/contacts/imports/${id}`)
      assert.equal([object, counts.created], ['contact_import', 1])
    })
}

test.run()
