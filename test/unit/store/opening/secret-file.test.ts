import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import { readOrCreateSecret, requireSameSecret } from '../../../../src/store/opening/secret-file.ts'
import { openLocalStore, tempFolder } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('store/secret-file')

test('secret file: the first start creates a secret for its owner alone, later starts read it', async t => {
  const folder = await t.using(tempFolder())
  const secret = readOrCreateSecret(folder.path)
  const file = join(folder.path, 'secret.key')
  assert.is(secret.length, 32)
  assert.is(statSync(file).mode & 0o777, 0o600)
  assert.is(readFileSync(file, 'utf8'), `${secret.toString('hex')}\n`)
  assert.equal(readOrCreateSecret(folder.path), secret)
})

test('secret file: two installations have different secrets', async t => {
  const [a, b] = [await t.using(tempFolder()), await t.using(tempFolder())]
  assert.not.equal(readOrCreateSecret(a.path), readOrCreateSecret(b.path))
})

test('secret file: a line end may be present or missing', async t => {
  const folder = await t.using(tempFolder())
  const secret = readOrCreateSecret(folder.path)
  for (const text of [secret.toString('hex'), `  ${secret.toString('hex').toUpperCase()}\r\n\n`]) {
    writeFileSync(join(folder.path, 'secret.key'), text)
    assert.equal(readOrCreateSecret(folder.path), secret)
  }
})

test('secret file: a damaged secret is refused and not replaced', async t => {
  const folder = await t.using(tempFolder())
  const file = join(folder.path, 'secret.key')
  const good = readOrCreateSecret(folder.path).toString('hex')
  const damaged = ['', '\n', good.slice(2), `${good}00`, `${good}zz`, `zz${good.slice(2)}`, good.slice(0, 63)]
  for (const text of damaged) {
    writeFileSync(file, text)
    assert.throws(() => readOrCreateSecret(folder.path), /secret\.key is damaged; restore it from a backup/)
    assert.is(readFileSync(file, 'utf8'), text)
  }
})

test('secret file: an unreadable secret is an error and not replaced', async t => {
  const folder = await t.using(tempFolder())
  assert.throws(() => readOrCreateSecret(join(folder.path, 'secret.key', 'no-such-folder')), /ENOENT/)
  writeFileSync(join(folder.path, 'a-file'), '')
  assert.throws(() => readOrCreateSecret(join(folder.path, 'a-file')), /ENOTDIR/)
})

test('secret check: a database opens with its first secret only', async t => {
  const store = await t.using(openLocalStore())
  const first = createSecretKeys(Buffer.alloc(32, 1))
  await requireSameSecret(store.db, store.run, first)
  await requireSameSecret(store.db, store.run, createSecretKeys(Buffer.alloc(32, 1)))
  await requireSameSecret(store.db, store.run, createSecretKeys(Buffer.alloc(32, 2))).then(
    () => assert.unreachable(),
    error => {
      assert.match(error.message, /not the one this database was written with: restore the former one/)
      assert.ok(error.cause)
    },
  )
  await requireSameSecret(store.db, store.run, first)
})

test('secret check: the stored value reveals nothing of the secret', async t => {
  const store = await t.using(openLocalStore())
  await requireSameSecret(store.db, store.run, createSecretKeys(Buffer.alloc(32, 7)))
  const [row] = store.rows<{ value: string }>('select value from settings')
  assert.not(Buffer.from(row!.value, 'base64').includes(Buffer.alloc(8, 7)))
})

test.run()
