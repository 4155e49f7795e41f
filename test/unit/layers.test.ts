import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../kit/suite.ts'

const test = suite('layers')
const root = join(import.meta.dirname, '../..')
const src = join(root, 'src')

/** From the top down: files import only from their own folder and from folders that stand below it. */
const FOLDERS = [
  'main.ts, cli.ts',
  'app',
  'workers',
  'config',
  'interfaces',
  'pipeline',
  'resources',
  'store',
  'protocols',
  'lib',
]
/** Inside a folder likewise: a part imports from parts in lower rows, never from its own row or above. */
const PARTS: Record<string, string[][]> = {
  interfaces: [['cli'], ['api', 'submission', 'dashboard'], ['setup'], ['doctor']],
  pipeline: [
    ['alerts', 'deletion'],
    ['delivery', 'broadcasts', 'simulator', 'webhooks'],
    ['inbound'],
    ['accept', 'tracking'],
    ['queue'],
  ],
  resources: [
    ['retention', 'usage'],
    ['domains', 'templates', 'contacts'],
    ['accounts', 'request-log'],
    ['search'],
    ['events'],
    ['emails'],
    ['suppressions', 'certificates'],
    ['alerts', 'compat'],
  ],
  protocols: [['s3'], ['http-client'], ['dns', 'dkim', 'bounces'], ['mime'], ['smtp']],
}
/** Only the composition root and the two programs read the configuration. */
const CONFIG_READERS = ['main.ts, cli.ts', 'app', 'config']

interface Place {
  folder: string
  /** Part of a folder that has several; empty otherwise. */
  part: string
}

function placeOf(file: string): Place {
  const [first, second, third] = relative(src, file).split('/')
  if (second === undefined) return { folder: FOLDERS[0]!, part: '' }
  return { folder: first!, part: third !== undefined && first! in PARTS ? second : '' }
}

/** Whether files at `from` may import files at `to`. */
function mayImport(from: Place, to: Place): boolean {
  if (from.folder !== to.folder) return FOLDERS.indexOf(to.folder) > FOLDERS.indexOf(from.folder)
  if (from.part === to.part) return true
  const rowOf = ({ part }: Place) => PARTS[from.folder]!.findIndex(row => row.includes(part))
  return rowOf(to) > rowOf(from)
}
/** A program of its own, for browsers: a client of the API. */
const web = join(src, 'interfaces/dashboard/web')
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
    from: placeOf(file),
    to: placeOf(join(dirname(file), target)),
    target,
  })),
)

test('layers: every folder of src, and every part of it, stands in the table', () => {
  const unknown = files
    .map(placeOf)
    .filter(
      ({ folder, part }) =>
        !FOLDERS.includes(folder) || (folder in PARTS && !PARTS[folder]!.flat().includes(part)),
    )
  assert.equal(unknown, [])
})

test('layers: imports point down, without exemption', () => {
  for (const folder of FOLDERS)
    console.log([folder, ...(PARTS[folder] ?? []).map(row => row.join(' '))].join(PARTS[folder] ? ' | ' : ''))
  assert.equal(
    imports.filter(({ from, to }) => !mayImport(from, to)),
    [],
  )
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

test('layers: no two folders import each other, at any depth', () => {
  const edges = new Set(
    allFiles.flatMap(file =>
      importedBy(file).map(target => roomsOf(relative(src, file), relative(src, target))),
    ),
  )
  const mutual = [...edges].filter(edge => {
    const [from, to] = edge.split(' > ')
    return from! < to! && edges.has(`${to} > ${from}`)
  })
  assert.equal(mutual, [])
})

/** Names the folders in which the paths of an import part; files beside a folder form one of their own. */
function roomsOf(from: string, to: string): string {
  const [one, other] = [from.split('/'), to.split('/')]
  let depth = 0
  while (depth < one.length - 1 && depth < other.length - 1 && one[depth] === other[depth]) depth++
  const room = (path: readonly string[]) =>
    path.length - 1 > depth ? path.slice(0, depth + 1).join('/') : [...path.slice(0, depth), '*'].join('/')
  return `${room(one)} > ${room(other)}`
}

test('layers: only the composition root reads the configuration', () => {
  const readers = imports.filter(
    ({ from, to }) => to.folder === 'config' && !CONFIG_READERS.includes(from.folder),
  )
  assert.equal(readers, [])
})

test('one file chooses the database, and nothing else knows which it is', () => {
  const folders = /^src\/store\/(?:sqlite|postgres)\//
  const knowing = imports.filter(
    ({ file, target }) =>
      !folders.test(file) && folders.test(relative(root, join(root, dirname(file), target))),
  )
  assert.equal([...new Set(knowing.map(({ file }) => file))], ['src/store/opening/dialect.ts'])
})

/**
 * Files of the server that browsers run, too: they render templates as the server does, and use nothing of
 * Node.
 */
const SHARED_WITH_WEB = [
  'src/pipeline/accept/message-limits.ts',
  'src/pipeline/broadcasts/inert-links.ts',
  'src/pipeline/broadcasts/names.ts',
  'src/pipeline/broadcasts/starter.ts',
  'src/protocols/mime/html/text-part.ts',
  'src/resources/accounts/scopes.ts',
  'src/resources/alerts/kinds.ts',
  'src/resources/contacts/filter-ops.ts',
  'src/resources/contacts/limits.ts',
  'src/resources/templates/compile.ts',
  'src/resources/templates/declared.ts',
  'src/resources/templates/render.ts',
  'src/resources/templates/variables.ts',
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
