import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { checkNeededFor, faultInPages, type StoreLocation } from '../../../src/store/opening/dialect.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/damaged-pages')
const PAGE_BYTES = 4_096

interface Pages {
  leaf: number
  interior: number
  index: number
  overflow: number
  freelist: number
}

/** A database with a table of several levels, an index, long rows and free pages. */
async function database(t: TestContext) {
  const { path } = await t.using(tempFolder())
  const file = join(path, 'mailhorn.db')
  const raw = new Database(file)
  raw.exec('create table t (id integer primary key, name text, body blob); create index by_name on t (name)')
  const add = raw.prepare('insert into t (name, body) values (?, ?)')
  // in one transaction, since each has to wait for the disk
  raw.exec('begin')
  for (let i = 0; i < 3_000; i++)
    add.run(`name ${i} `.repeat(8), Buffer.alloc(i % 50 === 0 ? 20_000 : 100, 'x'))
  raw.exec('delete from t where id > 2500')
  raw.exec('commit')
  const pageOf = (name: string, kind: string) =>
    raw
      .prepare('select pageno from dbstat where name = ? and pagetype = ? limit 1 offset 1')
      .pluck()
      .get(name, kind) as number
  const pages: Pages = {
    leaf: pageOf('t', 'leaf'),
    interior: raw
      .prepare("select pageno from dbstat where name = 't' and pagetype = 'internal' limit 1")
      .pluck()
      .get() as number,
    index: pageOf('by_name', 'leaf'),
    overflow: pageOf('t', 'overflow'),
    freelist: 0,
  }
  raw.close()
  const descriptor = openSync(file, 'r')
  closeSync(descriptor)
  const header = new Database(file, { readonly: true })
  assert.ok((header.pragma('freelist_count', { simple: true }) as number) > 0)
  header.close()
  const location: StoreLocation = { kind: 'sqlite', databaseFile: file, blobFolder: join(path, 'blobs') }
  const write = (position: number, octets: Uint8Array) => {
    const open = openSync(file, 'r+')
    writeSync(open, octets, 0, octets.length, position)
    closeSync(open)
  }
  return { file, pages, location, write }
}

const at = (page: number, offset = 0) => (page - 1) * PAGE_BYTES + offset
const FREELIST_COUNT_AT = 36
const FREELIST_TRUNK_AT = 32
const noise = (bytes: number) => Buffer.alloc(bytes, 0xa5)

type Write = Awaited<ReturnType<typeof database>>['write']

const FOUND: [string, (write: Write, pages: Pages) => void][] = [
  ['a leaf page of a table is zeroed', (write, { leaf }) => write(at(leaf), Buffer.alloc(PAGE_BYTES))],
  ['a leaf page of a table has another type', (write, { leaf }) => write(at(leaf), Buffer.from([2]))],
  ['cell pointers of a leaf page lead elsewhere', (write, { leaf }) => write(at(leaf, 8), noise(20))],
  ['an interior page of a table is overwritten', (write, { interior }) => write(at(interior), noise(200))],
  ['a page of an index is zeroed', (write, { index }) => write(at(index), Buffer.alloc(PAGE_BYTES))],
  ['a page of an index is overwritten', (write, { index }) => write(at(index), noise(PAGE_BYTES))],
  ['an overflow chain leads out of the file', (write, { overflow }) => write(at(overflow), noise(4))],
  ['an overflow chain ends early', (write, { overflow }) => write(at(overflow), Buffer.alloc(4))],
  [
    'the number of free pages in the header is wrong',
    write => write(FREELIST_COUNT_AT, Buffer.from([0, 0, 0, 1])),
  ],
  ['the file is no database any more', write => write(0, noise(100))],
  ['the free list begins at another page', write => write(FREELIST_TRUNK_AT, Buffer.from([0, 0, 0, 2]))],
]

for (const [what, damage] of FOUND)
  test(`damaged pages: it is found that ${what}`, async t => {
    const { location, pages, write } = await database(t)
    assert.is(faultInPages(location), undefined)
    damage(write, pages)
    assert.type(faultInPages(location), 'string')
  })

const NOT_FOUND: [string, (write: Write, pages: Pages) => void][] = [
  ['the counter of changes in the header is another', write => write(24, Buffer.from([0, 0, 9, 9]))],
  ['contents in an overflow page are others', (write, { overflow }) => write(at(overflow, 100), noise(50))],
  [
    'contents in the last cell of a leaf are others',
    (write, { leaf }) => write(at(leaf, PAGE_BYTES - 20), noise(10)),
  ],
]

for (const [what, damage] of NOT_FOUND)
  test(`damaged pages: quick_check cannot find that ${what}`, async t => {
    const { location, pages, write } = await database(t)
    damage(write, pages)
    assert.is(faultInPages(location), undefined)
  })

test('damaged pages: a check is needed after a kill only, and for a large database later', async t => {
  const { location, file } = await database(t)
  assert.is(checkNeededFor(location), 'no')
  writeFileSync(`${file}-wal`, '')
  assert.is(checkNeededFor(location), 'no')
  writeFileSync(`${file}-wal`, 'a frame')
  assert.is(checkNeededFor(location), 'at-once')
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.of(0), 0, 1, 65 * 1024 * 1024)
  closeSync(handle)
  assert.ok(statSync(file).size > 64 * 1024 * 1024)
  assert.is(checkNeededFor(location), 'later')
})

test.run()
