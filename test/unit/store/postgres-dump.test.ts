import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { blobName, sha256 } from '../../../src/store/blobs/staged.ts'
import { contentsOfDump, type PostgresSnapshot, readSnapshot } from '../../../src/store/opening/dialect.ts'
import { POSTGRES_ONLY } from '../../kit/database.ts'
import { openLocalStore, tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/postgres dump')

/** A store with two large blobs, one of which has two pieces. */
async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const folder = (await t.using(tempFolder())).path
  const { location, change } = store
  if (location.kind !== 'postgres') throw new Error('it is not PostgreSQL')
  const blobs = [randomBytes(100_000), randomBytes(300_000)].map(bytes => ({ bytes, hash: sha256(bytes) }))
  for (const { bytes, hash } of blobs) {
    change('insert into blobs values (?, ?, null, 1, 0)', hash, bytes.length)
    for (let number = 0; number * 262_144 < bytes.length; number++)
      change(
        'insert into blob_pieces values (?, ?, 0, ?)',
        hash,
        number,
        bytes.subarray(number * 262_144, (number + 1) * 262_144),
      )
  }
  const { address } = location
  return {
    ...{ change, blobs, rows: store.rows },
    read: <T>(work: (snapshot: PostgresSnapshot) => Promise<T>) => readSnapshot(address, work),
    async contents(snapshot: PostgresSnapshot) {
      const file = join(folder, randomBytes(4).toString('hex'))
      writeFileSync(file, Buffer.concat(await Array.fromAsync(snapshot.dump())))
      return contentsOfDump(file)
    },
  }
}

test(
  'dump: rows, large blobs and their pieces are those of one moment, whatever is committed meanwhile',
  async t => {
    const { read, contents, change, blobs } = await open(t)
    await read(async snapshot => {
      change('delete from blob_pieces')
      change('delete from blobs')
      const found = await contents(snapshot)
      const wanted = blobs
        .map(({ bytes, hash }) => ({ name: blobName(hash), sizeBytes: bytes.length }))
        .sort((one, other) => (one.name < other.name ? -1 : 1))
      assert.equal(found.largeBlobs, wanted)
      assert.equal(await Array.fromAsync(snapshot.largeBlobs()), wanted)
      for (const { bytes, hash } of blobs) {
        const pieces = await Array.fromAsync(snapshot.pieces(blobName(hash)))
        assert.ok(Buffer.concat(pieces).equals(bytes))
      }
      assert.equal(found.migrations, snapshot.migrations)
    })
  },
  POSTGRES_ONLY,
)

test(
  'dump: the pieces of large blobs are not in it',
  async t => {
    const { read } = await open(t)
    const bytes = await read(async snapshot => Buffer.concat(await Array.fromAsync(snapshot.dump())).length)
    assert.ok(bytes < 300_000, `${bytes} bytes`)
  },
  POSTGRES_ONLY,
)

test(
  'dump: values are read as they were written, and an inline blob with other bytes is found',
  async t => {
    const { read, contents, change } = await open(t)
    const odd = 'tab\t line\n return\r back\\slash \\N \\. \u2028 \u{1f4ec} \b\f\v'
    change('insert into settings (key, value) values (?, ?)', 'odd', odd)
    change('insert into settings (key, value) values (?, ?)', 'empty', '')
    const [small, other] = [Buffer.from('small \\ \n bytes'), Buffer.from('other')]
    change('insert into blobs values (?, ?, ?, 1, 0)', sha256(small), small.length, small)
    change('insert into blobs values (?, ?, ?, 1, 0)', sha256(other), other.length, small)
    const found = await read(contents)
    assert.equal([found.settings.get('odd'), found.settings.get('empty')], [odd, ''])
    assert.equal(found.damagedBlobs, [blobName(sha256(other))])
  },
  POSTGRES_ONLY,
)

test(
  'dump: tables of others in the schema are left out, although they cannot be read',
  async t => {
    const { read, contents, change } = await open(t)
    const role = `other_${randomBytes(4).toString('hex')}`
    change(`create role ${role}`)
    change('create table of_others (a int)')
    change(`alter table of_others owner to ${role}`)
    t.after(() => {
      change('drop table of_others')
      change(`drop role ${role}`)
    })
    await read(async snapshot => {
      const dump = Buffer.concat(await Array.fromAsync(snapshot.dump()))
      assert.ok(dump.includes('deliveries') && !dump.includes('of_others'))
      assert.ok((await contents(snapshot)).migrations.length > 0)
    })
  },
  POSTGRES_ONLY,
)

test.run()
