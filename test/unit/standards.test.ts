import { existsSync, globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { type AnyNode, parse } from 'acorn'
import { simple } from 'acorn-walk'
import * as assert from 'uvu/assert'
import { suite } from '../kit/suite.ts'

/**
 * The RFCs of docs/standards.md, and rules of the shape of calls and functions, see "Code" in
 * CONTRIBUTING.md.
 */
const test = suite('standards')
const root = join(import.meta.dirname, '../..')

const rows = readFileSync(join(root, 'docs/standards.md'), 'utf8')
  .split('\n')
  .filter(line => /^\| \d/.test(line))
const listed = new Set(rows.flatMap(line => line.split('|')[1]!.match(/\d{3,5}/g)!))
const cited = new Map<string, string>()
for (const name of globSync('src/**/*.ts', { cwd: root }))
  for (const [, number] of readFileSync(join(root, name), 'utf8').matchAll(/RFC (\d{3,5})/g))
    cited.set(number!, name)

test('every RFC cited in src is listed', () => {
  assert.equal(
    [...cited].filter(([number]) => !listed.has(number)),
    [],
  )
})

test('every RFC listed is cited in src', () => {
  assert.equal(
    [...listed].filter(number => !cited.has(number)),
    [],
  )
})

test('every file and folder that the page names is there', () => {
  const named = rows.flatMap(line => [...line.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path!))
  assert.equal(
    named.filter(path => !existsSync(join(root, path))),
    [],
  )
})

const PARTS = /^(?:create|start|open)[A-Z]/
/** Functions of Node, and one that opens a connection, whose options are settings. */
const OF_NODE = new Set(['createSecureContext', 'createSecureServer', 'openTls'])

/**
 * @returns names of the functions in whose calls an object literal spreads another, such as `create({
 * ...parts })`
 */
function spreadsIn(tree: AnyNode): string[] {
  const found: string[] = []
  simple(tree, {
    CallExpression({ callee, arguments: input }) {
      if (callee.type !== 'Identifier' || !PARTS.test(callee.name) || OF_NODE.has(callee.name)) return
      const isRow = input[0]?.type === 'Identifier' && input[0].name === 'tx'
      if (isRow) return
      for (const argument of input)
        if (argument.type === 'ObjectExpression')
          for (const { type } of argument.properties) if (type === 'SpreadElement') found.push(callee.name)
    },
  })
  return found
}

const OPTIONS = /^(?:export )?interface (\w+(?:Options|Context|Parts|Settings|Deps))\b[^\n]*\{\n(.*?)^\}/gms
const MEMBER = /^ {2}(?:readonly )?\w+\??[:(<]/gm
const MEMBERS_MAX = 14

/** @returns names of types of options with more than `MEMBERS_MAX` members of their own */
function largeOptionsIn(text: string): string[] {
  return [...text.matchAll(OPTIONS)].flatMap(([, name, body]) =>
    (body!.match(MEMBER)?.length ?? 0) > MEMBERS_MAX ? [name!] : [],
  )
}

const treeOf = (text: string) =>
  parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module', locations: true })
const sources = globSync('src/**/*.ts', { cwd: root, exclude: ['src/interfaces/dashboard/web/**'] }).map(
  file => {
    const text = readFileSync(join(root, file), 'utf8')
    return { file, text, tree: treeOf(text) }
  },
)

test('the members of what a part is created with are named where it is created', () => {
  assert.equal(
    sources.flatMap(({ file, tree }) => spreadsIn(tree).map(name => `${file}: ${name}`)),
    [],
  )
})

test('a planted spread is found', () => {
  assert.equal(spreadsIn(treeOf('createMailer({ clock, ...parts })\nstart({ ...parts })')), ['createMailer'])
})

const FUNCTION_LINES_MAX = 70

/** @returns lines of the functions that are longer than `FUNCTION_LINES_MAX`, blank lines counted */
function longFunctionsIn(tree: AnyNode): string[] {
  const found: string[] = []
  simple(tree, {
    Function({ loc }) {
      const lines = loc!.end.line - loc!.start.line + 1
      if (lines > FUNCTION_LINES_MAX) found.push(`line ${loc!.start.line}: ${lines} lines`)
    },
  })
  return found
}

test(`no function of the server has more than ${FUNCTION_LINES_MAX} lines`, () => {
  assert.equal(
    sources.flatMap(({ file, tree }) => longFunctionsIn(tree).map(text => `${file}, ${text}`)),
    [],
  )
})

test('a planted long function is found', () => {
  const text = `const run = () => {${'\n'.repeat(FUNCTION_LINES_MAX)}}`
  assert.equal(longFunctionsIn(treeOf(text)), [`line 1: ${FUNCTION_LINES_MAX + 1} lines`])
})

test(`no type of options has more than ${MEMBERS_MAX} members`, () => {
  assert.equal(
    sources.flatMap(({ file, text }) => largeOptionsIn(text).map(name => `${file}: ${name}`)),
    [],
  )
})

test('a planted large type of options is found', () => {
  const text = `interface MailerOptions {\n${'  clock: Clock\n'.repeat(MEMBERS_MAX + 1)}}\n`
  assert.equal(largeOptionsIn(text), ['MailerOptions'])
})

test.run()
