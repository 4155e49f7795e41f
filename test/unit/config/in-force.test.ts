import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { loadConfig } from '../../../src/config/config.ts'
import { settingsInForce } from '../../../src/config/in-force.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('config/in-force')

/** Returns a function that finds a setting, with `config/default.json`, a local file and the environment. */
function given(t: TestContext, local: object, env: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'in-force-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config/default.json'), '{"plans": {"free": {"daily": 100, "monthly": null}}}')
  writeFileSync(join(root, 'config/local.json'), JSON.stringify(local))
  writeFileSync(join(root, 'passphrase'), 'correct horse battery\n')
  const { config, settings } = loadConfig(
    root,
    Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace('ROOT', root)])),
  )
  const list = settingsInForce(config, settings)
  const of = (key: string) => list.find(setting => setting.key === key)!
  return { of, list, root }
}

/** Value, source and name of the source. */
const shortOf = ({ value, source, sourceName }: { value: unknown; source: unknown; sourceName: unknown }) => [
  value,
  source,
  sourceName,
]

test('settings in force: each has its value and names the file, the variable or the default it came from', t => {
  const { of, root } = given(
    t,
    { 'http.listen': '0.0.0.0:80', 'backup.at': '04:30', 'delivery.threads': 2, 'dns.records': [] },
    { MAILHORN_DELIVERY_THREADS: '3', MAILHORN_MAIL_HOST: 'MX.shop.example', MAILHORN_DATA_DIR: 'there' },
  )
  assert.equal(shortOf(of('http.listen')), ['0.0.0.0:80', 'file', 'config/local.json'])
  assert.equal(shortOf(of('backup.at')), ['04:30', 'file', 'config/local.json'])
  assert.equal(shortOf(of('delivery.threads')), ['3', 'environment', 'MAILHORN_DELIVERY_THREADS'])
  assert.equal(shortOf(of('mail_host')), ['mx.shop.example', 'environment', 'MAILHORN_MAIL_HOST'])
  assert.equal(shortOf(of('data_dir')), [join(root, 'there'), 'environment', 'MAILHORN_DATA_DIR'])
  assert.equal(shortOf(of('dns.records')), [null, 'file', 'config/local.json'])
  assert.equal(shortOf(of('plans.free.daily')), ['100', 'file', 'config/default.json'])
  assert.equal(shortOf(of('plans.free.monthly')), [null, 'file', 'config/default.json'])
  assert.equal(shortOf(of('smtp.inbound.listen')), ['127.0.0.1:2525', 'default', null])
  assert.equal(shortOf(of('simulator.domain')), ['simulator.mx.shop.example', 'default', null])
  assert.equal(shortOf(of('backup.folder')), [null, 'default', null])
  assert.is(of('backup.every_hours').unit, 'hours')
  assert.match(of('database.snapshots').description, /Number of snapshots that stay/)
})

test('settings in force: secrets are never shown, wherever they stand', t => {
  const { of, list } = given(
    t,
    { 'metrics.token': 'hush-token', 'smart_hosts.eu.url': 'smtps://ann:hush-login@relay.example' },
    {
      MAILHORN_BACKUP_PASSPHRASE_FILE: 'ROOT/passphrase',
      MAILHORN_DATABASE_URL: 'postgres://ann:hush-database@there/mail',
      MAILHORN_ACME_DIRECTORY_URL: 'https://ann:hush-url@ca.example/',
      MAILHORN_ADMIN_PASSWORD: '',
    },
  )
  for (const key of ['metrics.token', 'smart_hosts.eu.url', 'backup.passphrase', 'database.url'])
    assert.equal([of(key).value, of(key).isSecret], ['[redacted]', true], key)
  assert.is(of('backup.passphrase').sourceName, 'MAILHORN_BACKUP_PASSPHRASE_FILE')
  assert.is(of('acme.directory_url').value, 'https://[redacted]@ca.example/')
  assert.equal(shortOf(of('admin.password')), [null, 'environment', 'MAILHORN_ADMIN_PASSWORD'])
  assert.is(of('secret_key').value, 'a generated file in data_dir')
  assert.not.match(JSON.stringify(list), /hush|correct horse/)
})

test.run()
