import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { importingAccount } from '../../kit/importing.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('import from Postal')

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

/** The client of MariaDB 10.11 writes these for the commands in docs/moving-in.md. */
const FILES = {
  'domains.tsv': [
    'name\tdkim_identifier_string\ttrack_clicks\ttrack_loads',
    'a.example\tABCDEF\t1\t0',
    'b.example\tNULL\tNULL\tNULL',
  ],
  'suppressions.tsv': [
    'type\taddress\treason\ttimestamp\tkeep_until',
    'recipient\tgone@there.example\ttoo many hard fails\t1700000000.250000\t4000000000.500000',
    'recipient\told@there.example\ttoo many soft fails\t1600000000.500000\t1600100000.500000',
    'recipient\tangry@there.example\tcomplaint of the recipient\t1700000000.250000\tNULL',
    'recipient\tkept@there.example\tNULL\tNULL\tNULL',
  ],
  'webhooks.tsv': [
    'url\tenabled\tall_events\tevents',
    'https://hooks.example/all\t1\t1\tNULL',
    'https://hooks.example/some\t1\t0\tMessageBounced,MessageHeld',
    'https://hooks.example/some\t1\t0\tMessageLinkClicked',
    'https://hooks.example/off\t0\t0\tMessageSent',
    'https://hooks.example/none\t1\t0\tNULL',
  ],
  'credentials.tsv': ['name\ttype', 'Web app\tAPI', 'Shop\tSMTP', 'Tab\\there\\\\ and\\nline\tSMTP-IP'],
  'routes.tsv': [
    'route\tmode\tendpoint',
    'info@a.example\tEndpoint\thttps://app.example/in',
    'spam@a.example\tReject\tNULL',
  ],
} satisfies Record<string, readonly string[]>
type FileName = keyof typeof FILES

function start(t: TestContext, changes: Partial<Record<FileName, readonly string[] | string | null>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-postal-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, lines: readonly string[] | string | null) => {
    if (lines !== null)
      writeFileSync(
        join(folder, name),
        typeof lines === 'string' ? lines : lines.map(line => `${line}\n`).join(''),
      )
  }
  for (const [name, lines] of Object.entries({ ...FILES, ...changes })) write(name, lines)
  const account = importingAccount(mailhorn, {})
  const args = ['postal', '--from', folder, '--json']
  return {
    ...account,
    folder,
    write,
    args,
    run: (...more: string[]) => account.run({ args: [...args, ...more] }),
  }
}

test('domains, suppressions in force and webhooks arrive, and what cannot be moved is named', async t => {
  const { all, run } = start(t)
  const { code, json } = await run()
  assert.is(code, 0)
  assert.equal(
    (await all('/domains')).map(each => [each.name, each.open_tracking, each.click_tracking]).toSorted(),
    [
      ['a.example', false, true],
      ['b.example', false, false],
    ],
  )
  assert.equal(json.domains.notes, [
    'once Postal sends nothing more, remove: TXT postal-ABCDEF._domainkey.a.example, CNAME psrp.a.example',
    'once Postal sends nothing more, remove: CNAME psrp.b.example',
  ])
  const suppressions = await all('/suppressions')
  assert.equal(suppressions.map(({ email, reason }) => [email, reason]).toSorted(), [
    ['angry@there.example', 'complaint'],
    ['gone@there.example', 'bounce'],
    ['kept@there.example', 'manual'],
  ])
  const gone = suppressions.find(({ email }) => email === 'gone@there.example')
  assert.is(gone.created_at, '2023-11-14T22:13:20.250Z')
  const webhooks = (await all('/webhooks')).map(({ url, events, enabled }) => [
    url,
    events.toSorted(),
    enabled,
  ])
  assert.equal(webhooks.toSorted(), [
    [
      'https://hooks.example/all',
      [
        ...['email.bounced', 'email.clicked', 'email.delivered', 'email.delivery_delayed', 'email.failed'],
        'email.opened',
      ],
      false,
    ],
    ['https://hooks.example/some', ['email.bounced', 'email.clicked'], false],
  ])
  assert.equal(json.webhooks.not_made_reasons, [
    { name: 'https://hooks.example/none', reason: 'it has no event of this service (none)' },
  ])
  for (const words of [
    'https://hooks.example/some: left out events that do not occur here: MessageHeld',
    'https://hooks.example/all: left out events that do not occur here: MessageHeld, DomainDNSError, SendLimit',
  ])
    assert.ok(
      json.webhooks.notes.some((note: string) => note.startsWith(words)),
      words,
    )
  assert.equal(json.notes, [
    'Suppressions that have expired in Postal (`keep_until`): 1.',
    'Webhooks that are disabled in Postal: https://hooks.example/off.',
    'Credentials of the type API (Web app): create an API key (`mailhorn key create`) for each.',
    'Credentials of the type SMTP (Shop): log in to SMTP with an API key as the password.',
    'Credentials of the type SMTP-IP (Tab\there\\ and\nline): list the address of the host in `smtp.relay.networks`.',
    'Route info@a.example to https://app.example/in: make a webhook for email.received, whose payload differs.',
    'Route spam@a.example to Reject: all mail to a domain is received here, and told by the event email.received.',
  ])
})

test('a dry run changes nothing, and a second run makes nothing twice', async t => {
  const { all, run } = start(t)
  const dry = await run('--dry-run')
  assert.equal(
    ['domains', 'suppressions', 'webhooks'].map(kind => dry.json[kind].made),
    [2, 3, 2],
  )
  for (const path of ['/domains', '/suppressions', '/webhooks']) assert.equal(await all(path), [], path)
  await run()
  const { json } = await run()
  for (const kind of ['domains', 'suppressions', 'webhooks']) assert.is(json[kind].made, 0, kind)
})

test('a file that is missing, cut off or of other columns stops the import before anything is made', async t => {
  const [header, ...rows] = FILES['suppressions.tsv']
  const cases: [Parameters<typeof start>[1], RegExp][] = [
    [
      { 'suppressions.tsv': null },
      /There is no file \S+suppressions\.tsv\. .* or name other kinds with --only\.$/m,
    ],
    [
      { 'suppressions.tsv': `${header}\n${rows[0]}` },
      /suppressions\.tsv is cut off: its last line has no end\.$/m,
    ],
    [
      { 'suppressions.tsv': [header!, rows[0]!, 'recipient\tx@there.example'] },
      /suppressions\.tsv, line 3: it has 2 cells in place of 5\.$/m,
    ],
    [{ 'suppressions.tsv': rows }, /suppressions\.tsv has no column `type`; it has recipient, gone@/m],
    [{ 'webhooks.tsv': ['url\tenabled', 'x\t1'] }, /webhooks\.tsv has no column `all_events`/m],
  ]
  for (const [changes, message] of cases) {
    const { all, run } = start(t, changes)
    const { code, err, out } = await run()
    assert.equal([code, out], [1, ''])
    assert.match(err, message)
    assert.equal(await all('/domains'), [])
  }
})

test('after an import of a part, the rest is added; 5,000 suppressions arrive at once', async t => {
  const rows = Array.from(
    { length: 5_000 },
    (_, i) => `recipient\tgone${i}@there.example\ttoo many hard fails\t1700000000.250000\t4000000000.500000`,
  )
  const header = FILES['suppressions.tsv'][0]!
  const { call, run, write } = start(t, { 'suppressions.tsv': [header, ...rows.slice(0, 3_000)] })
  assert.is((await run('--only', 'suppressions')).json.suppressions.made, 3_000)
  write('suppressions.tsv', [header, ...rows])
  const { json } = await run()
  assert.equal([json.suppressions.made, json.suppressions.existing, json.domains.made], [2_000, 3_000, 2])
  assert.is((await call('GET', '/suppressions')).total, 5_000)
})

test('files without a row are named, those that only explain may be missing, and the folder is required', async t => {
  const changes = {
    'webhooks.tsv': '',
    'credentials.tsv': null,
    'routes.tsv': null,
    'suppressions.tsv': null,
  }
  const { folder, run, runWith } = { ...start(t, changes), runWith: importingAccount(mailhorn, {}).run }
  const { code, json } = await run('--only', 'domains,webhooks')
  assert.is(code, 0)
  assert.equal(json.notes, [
    'Files without a row, from which nothing comes: webhooks.tsv.',
    'Credentials: there is no file credentials.tsv to list them from.',
    'Routes: there is no file routes.tsv to list them from.',
  ])
  const nowhere = await runWith({ args: ['postal'] })
  assert.equal([nowhere.code, nowhere.err], [2, 'mailhorn: --from is required\n'])
  rmSync(join(folder, 'domains.tsv'))
  mkdirSync(join(folder, 'domains.tsv'))
  assert.match((await run('--only', 'domains')).err, /domains\.tsv cannot be read: EISDIR/)
})

test.run()
