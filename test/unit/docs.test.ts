/** Checks that references from documentation pages to other pages and files are valid. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../kit/suite.ts'

const test = suite('docs')
const root = join(import.meta.dirname, '../..')
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort()
/** From where its names count. */
const FOLDERS_OF_THE_MAP = ['.', 'src', 'src/interfaces/dashboard/web']
const textOf = (page: string) => readFileSync(join(root, page), 'utf8')

/** Without what stands in code, be it a block or a few words. */
const proseOf = (page: string) =>
  textOf(page)
    .replace(/^```.*?^```/gms, '')
    .replace(/`[^`\n]*`/g, '')

/** Returns the anchors of a page's headings: lower case, with hyphens between words. */
function anchorsOf(page: string): string[] {
  const headings = textOf(page)
    .replace(/^```.*?^```/gms, '')
    .matchAll(/^#+ +(.+)$/gm)
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('links lead to pages, files and headings that are there', () => {
  const broken: string[] = []
  for (const page of pages)
    for (const [, target] of proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue
      const [path, anchor] = target!.split('#')
      const file = path ? join(dirname(page), path) : page
      if (!existsSync(join(root, file)) || (anchor && !anchorsOf(file).includes(anchor)))
        broken.push(`${page}: ${target}`)
    }
  assert.equal(broken, [])
})

test('pages and headings that programs, tests and packages name are there', () => {
  const sources = globSync(['{src,scripts,test,packaging}/**/*.{ts,tsx,yaml,env,sh}', 'compose.yaml'], {
    cwd: root,
  })
  assert.ok(sources.length > 500)
  const lost: string[] = []
  for (const source of sources)
    for (const [named, heading, page] of textOf(source).matchAll(
      /(?:"([^"\n]+)" in )?\b(docs\/[\w-]+\.md)/g,
    )) {
      const isThere =
        existsSync(join(root, page!)) && (!heading || textOf(page!).includes(`\n## ${heading}\n`))
      if (!isThere) lost.push(`${source}: ${named}`)
    }
  assert.equal(lost, [])
})

test('every page is listed', () => {
  const listed = new Set(
    [...textOf('docs/README.md').matchAll(/\]\(([^)\s]+\.md)\)/g)].map(([, page]) => page),
  )
  assert.equal(
    globSync('*.md', { cwd: join(root, 'docs') }).filter(page => page !== 'README.md' && !listed.has(page)),
    [],
  )
})

test('files that the map names are there', () => {
  const lost: string[] = []
  for (const [, name] of textOf('ARCHITECTURE.md').matchAll(/`([\w.-]+\/[\w./-]+\.tsx?)`/g))
    if (!FOLDERS_OF_THE_MAP.some(folder => existsSync(join(root, folder, name!)))) lost.push(name!)
  assert.equal(lost, [])
})

test('tests that the tables of bounds name are there, each once', () => {
  const [, section] = /^### What a stranger can make.*?$(.*?)^### /ms.exec(textOf('docs/attacks.md'))!
  const rows = section!.split('\n').filter(line => /^\| (?!what)/.test(line))
  assert.ok(rows.length > 40)
  const lost = rows.filter(row => {
    const names = [
      ...row
        .split(' | ')
        .at(-1)!
        .matchAll(/`([^`]+)`/g),
    ].map(([, name]) => name!)
    const isThere = (name: string) => globSync(`test/unit/**/${name}.test.ts`, { cwd: root }).length === 1
    return names.length === 0 || !names.every(isThere)
  })
  assert.equal(lost, [])
})

test('each decision has a number of its own', () => {
  const numbers = globSync('[0-9]*.md', { cwd: join(root, 'docs/decisions') }).map(name => name.slice(0, 4))
  assert.equal(
    numbers.filter((number, at) => !/^\d{4}$/.test(number) || numbers.indexOf(number) !== at),
    [],
  )
})

test.run()
