import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../kit/suite.ts'

const test = suite('log events')
const root = join(import.meta.dirname, '../..')
const LOG_CALL = /\b(?:log|logger)(?:\.(?:trace|debug|info|warn|error|fatal)|\[\w+\])\(|\bthrottledLog\(/g
const EVENT = /'([a-z]+(?:_[a-z0-9]+)*)'/g
/**
 * The event and the fields of a line are its first argument; a function that logs for others is given both.
 */
const NAMED = /\bevent: [^,}]*'[a-z_0-9]+'|\bevent,/
const MESSAGE_START = /['`](?:[A-Z\d`$]|ready'|stopping')/

const sources = globSync('src/**/*.ts', { cwd: root })
  .filter(file => !file.startsWith('src/interfaces/dashboard/web/') && file !== 'src/lib/throttled-log.ts')
  .sort()
  .map(file => ({ file, text: readFileSync(join(root, file), 'utf8') }))
const calls = sources.flatMap(({ file, text }) =>
  [...text.matchAll(LOG_CALL)].map(({ index, 0: start }) => ({
    at: `${file}:${text.slice(0, index).split('\n').length}`,
    call: callAt(text, index, index + start.length),
  })),
)
const table = readFileSync(join(root, 'docs/log-events.md'), 'utf8').split('\n## Events\n')[1]!
const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, event]) => event!)

/** The call from its name to its closing parenthesis. */
function callAt(text: string, from: number, after: number): string {
  let depth = 1
  let end = after
  for (; depth > 0 && end < text.length; end++) depth += text[end] === '(' ? 1 : text[end] === ')' ? -1 : 0
  return text.slice(from, end)
}

/** Names in the call, of which there are several where the event depends on something. */
function eventsOf(call: string): string[] {
  if (call.startsWith('throttledLog')) return [...call.matchAll(EVENT)].slice(1, 2).map(([, event]) => event!)
  const value = /\bevent: ([^,}]*)/.exec(call)?.[1] ?? ''
  return [...value.matchAll(EVENT)].map(([, event]) => event!)
}

test('log events: every line of the log names its event', () => {
  const unnamed = calls.filter(({ call }) => !NAMED.test(call) && eventsOf(call).length === 0)
  assert.equal(
    unnamed.filter(({ call }) => !/\bevent, message\)$/.test(call)).map(({ at, call }) => `${at} ${call}`),
    [],
  )
})

test('log events: a message is a sentence', () =>
  assert.equal(
    calls
      .filter(({ call }) => /['`][a-z]\w* [a-z]/.test(call) && !MESSAGE_START.test(call))
      .map(({ at, call }) => `${at} ${call}`),
    [],
  ))

test('log events: docs/log-events.md has a row for each event', () => {
  const missing = new Set(calls.flatMap(({ call }) => eventsOf(call)))
  for (const event of documented) missing.delete(event)
  assert.equal([...missing], [])
})

test('log events: each row of docs/log-events.md is an event of the code, once, in alphabetical order', () => {
  const all = sources.map(({ text }) => text).join('\n')
  assert.equal(
    documented.filter(event => !all.includes(`'${event}'`)),
    [],
  )
  assert.equal(documented, [...new Set(documented)].sort())
})

test.run()
