import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../kit/suite.ts'

const test = suite('layers')
const root = join(import.meta.dirname, '../..')
const src = join(root, 'src')

/** Rooms from the bottom up. A room imports from itself and from lower rows, never from its own row or above. */
const ROWS = [
  ['lib'],
  ['smtp'],
  ['dns', 'mime', 'dkim', 'reports'],
  ['store', 'outbound'],
  ['events', 'search', 'verdicts', 'acme'],
  ['accounts', 'domains', 'suppressions', 'templates', 'contacts'],
  ['accept', 'queue', 'retention', 'doctor', 'tracking'],
  ['deliver', 'inbound', 'broadcasts', 'simulator', 'webhooks', 'control'],
  ['http', 'submission', 'dashboard', 'cli'],
  ['.', 'config'],
]
/** Who may read the configuration: the composition root and its helpers beside it. */
const CONFIG_READERS = ['.', 'config']

const row = (room: string) => ROWS.findIndex(rooms => rooms.includes(room))
const roomOf = (file: string) => {
  const path = relative(src, file)
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '.'
}
/** A program of its own, for browsers: a client of the API. */
const web = join(src, 'dashboard/web')
const allFiles = globSync('**/*.{ts,tsx}', { cwd: src }).map(name => join(src, name))
const files = allFiles.filter(file => !file.startsWith(`${web}/`))
const namedIn = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(
    ([, name]) => name!,
  )
const importedBy = (file: string) => namedIn(file).map(name => join(dirname(file), name))
const imports = files.flatMap(file =>
  namedIn(file).map(target => ({
    file: relative(root, file),
    from: roomOf(file),
    to: roomOf(join(dirname(file), target)),
    target,
  })),
)

test('every room has its row', () => {
  assert.equal(
    [...new Set(files.map(roomOf))].filter(room => row(room) < 0),
    [],
  )
})

test('imports point downwards', () => {
  const upward = imports.filter(({ from, to }) => from !== to && row(to) >= row(from) && from !== '.')
  assert.equal(upward, [])
})

test('no two rooms import each other', () => {
  const arrows = new Set(imports.filter(({ from, to }) => from !== to).map(({ from, to }) => `${from} ${to}`))
  const mutual = [...arrows].filter(arrow => arrows.has(arrow.split(' ').reverse().join(' ')))
  assert.equal(mutual, [])
})

test('no files import each other in a circle, not even types', () => {
  const targets = new Map(allFiles.map(file => [file, importedBy(file)]))
  const circles: string[] = []
  const done = new Set<string>()
  const follow = (file: string, path: readonly string[]) => {
    const from = path.indexOf(file)
    const circle = path.slice(from).map(one => relative(src, one))
    if (from >= 0) circles.push(circle.join(' → '))
    if (from >= 0 || done.has(file)) return
    for (const target of targets.get(file) ?? []) follow(target, [...path, file])
    done.add(file)
  }
  for (const file of allFiles) follow(file, [])
  assert.equal(circles, [])
})

test('only the composition root reads the configuration', () => {
  const readers = imports.filter(({ from, to }) => to === 'config' && !CONFIG_READERS.includes(from))
  assert.equal(readers, [])
})

test('one file chooses the database, and nothing else knows which it is', () => {
  const folders = /^src\/store\/(?:sqlite|postgres)\//
  const knowing = imports.filter(
    ({ file, target }) =>
      !folders.test(file) && folders.test(relative(root, join(root, dirname(file), target))),
  )
  assert.equal([...new Set(knowing.map(({ file }) => file))], ['src/store/dialect.ts'])
})

/** What the browser runs of ours beside its own: it renders templates as the server does, without a line that needs one. */
const SHARED_WITH_WEB = [
  'src/broadcasts/starter.ts',
  'src/templates/compile.ts',
  'src/templates/render.ts',
  'src/templates/variables.ts',
]

test('the program for browsers takes types alone from the server, and code that needs none', () => {
  const taken = allFiles
    .filter(file => file.startsWith(`${web}/`))
    .flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/^import (type )?[^;]*?from '(\.[^']+)'/gms)].map(
        ([, type, target]) => ({ file: relative(root, file), type, target: join(dirname(file), target!) }),
      ),
    )
    .filter(({ type, target }) => !type && !target.startsWith(`${web}/`))
    .map(({ target }) => relative(root, target))
  assert.equal([...new Set(taken)].sort(), SHARED_WITH_WEB)
})

test('every import names its file', () => {
  assert.equal(
    imports.filter(({ target }) => !/\.(?:ts|json)$/.test(target)),
    [],
  )
})

test('every source file opens with what it is', () => {
  const silent = allFiles.filter(file => !readFileSync(file, 'utf8').startsWith('/**'))
  assert.equal(
    silent.map(file => relative(root, file)),
    [],
  )
})

test('no source file is longer than 400 lines', () => {
  const long = allFiles.filter(file => readFileSync(file, 'utf8').split('\n').length > 400)
  assert.equal(
    long.map(file => relative(root, file)),
    [],
  )
})

test('every test file uses the suite of the kit, or the battery of attacks over it, and runs it', () => {
  const tests = globSync('test/**/*.test.ts', { cwd: root }).map(name => join(root, name))
  const strange = tests.filter(file => {
    const text = readFileSync(file, 'utf8')
    return !/(?:kit\/suite|\.\/battery)\.ts'/.test(text) || !/^(?:\w+\.)?run\(\)$/m.test(text)
  })
  assert.equal(
    strange.map(file => relative(root, file)),
    [],
  )
})

test.run()
