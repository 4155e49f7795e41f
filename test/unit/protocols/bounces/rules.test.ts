import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { PROVIDERS } from '../../../../src/pipeline/delivery/destinations/providers.ts'
import { classify } from '../../../../src/protocols/bounces/classify.ts'
import { RULES } from '../../../../src/protocols/bounces/rules/index.ts'
import { HARMLESS, PREDICATES } from '../../../../src/protocols/bounces/sentence/predicates.ts'
import type { ReplyPhase } from '../../../../src/protocols/bounces/sentence/reading.ts'
import { suite } from '../../../kit/suite.ts'
import { readLine } from './replies.ts'

const test = suite('reports/rules')
const facts = { recipient: 'x@there.test', ours: [] }

test('each rule has a name of its own', () => {
  const names = RULES.map(({ name }) => name)
  assert.equal(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  )
})

test('each rule is the first that holds for its sample: none is shadowed by an earlier one', () => {
  for (const { name, provider, sample } of RULES) {
    const [, phase, line] = /^(\S+) (.*)$/.exec(sample)!
    assert.is(
      classify({ phase: phase as ReplyPhase, ...readLine(line!), provider, facts }).rule,
      name,
      sample,
    )
  }
})

/** Table beside the rules, so that a rule that is lost or changed is noticed. */
const CLASSES = readFileSync(join(import.meta.dirname, '../../../golden/replies/classes.txt'), 'utf8')
  .split('\n')
  .slice(1, -1)
  .map(row => row.split(' | '))

test('each reply of the table has its class', () => {
  for (const [bounceClass, provider, phase, ...words] of CLASSES) {
    const line = words.join(' | ')
    const reply = { phase: phase as ReplyPhase, ...readLine(line), facts }
    const found = classify({ ...reply, provider: provider === '-' ? undefined : provider })
    assert.is(found.class, bounceClass, line)
  }
})

test('the table has a row for each rule', () => {
  const rows = new Set(CLASSES.map(([, , phase, ...words]) => `${phase} ${words.join(' | ')}`))
  assert.equal(
    RULES.flatMap(({ name, sample }) => (rows.has(sample) ? [] : [name])),
    [],
  )
})

test('the last rule holds for everything, and no other does', () => {
  const unconditional = RULES.filter(
    ({ provider, phases, codes, statuses, words, finding }) =>
      !provider && !phases && !codes && !statuses && !words && !finding,
  )
  assert.equal(unconditional, [RULES.at(-1)])
})

test('rules are scoped by providers that there are', () => {
  for (const { name, provider } of RULES)
    if (provider)
      assert.ok(
        PROVIDERS.some(({ name: known }) => known === provider),
        name,
      )
})

test('a rule that names the recipient blames it, and one that asks to come back does not', () => {
  for (const { name, class: bounceClass, namesRecipient, tryAgain } of RULES) {
    if (namesRecipient) assert.ok(['invalid-recipient', 'inactive-mailbox'].includes(bounceClass), name)
    assert.not(namesRecipient && tryAgain, name)
  }
})

test('words are matched in linear time: every repetition is bounded, and none stands in another', () => {
  for (const { name, words, unless } of RULES)
    for (const { source } of [words ?? [], unless ?? []].flat())
      assert.equal(faultsOf(source), [], `${name}: ${source}`)
  for (const phrase of [...PREDICATES.map(({ phrase }) => phrase), ...HARMLESS.map(([phrase]) => phrase)])
    assert.equal(faultsOf(ofWholeWords(phrase.source)), [], phrase.source)
})

test('this test sees what it is to see', () => {
  assert.equal(faultsOf('a*b'), ['* at 1'])
  assert.equal(faultsOf('(?:a|b)+'), ['+ at 7'])
  assert.equal(faultsOf('a{3,}'), ['{3,} at 1'])
  assert.equal(faultsOf('(?:a{0,9}){0,9}'), ['nested at 10'])
  assert.equal(faultsOf('a{0,900}'), ['{0,900} at 1'])
  assert.equal(faultsOf('(?:x|[*+]|\\*){0,60}?b?[^.]{0,20}'), [])
})

test('words are written as they are compared: lower case, without accents', () => {
  for (const { name, words } of RULES) {
    const literal = (words?.source ?? '').replace(/\\[SbdD]/g, '')
    const plain = literal
      .normalize('NFD')
      .replace(/[\u0300-\u036f]/g, '')
      .normalize('NFC')
      .toLowerCase()
    assert.is(literal.replace(/\[sś\]/g, '[ss]'), plain.replace(/\[ss\]/g, '[ss]'), name)
  }
})

/** Words with a blank at their end can be repeated: there is one way to split them. */
function ofWholeWords(source: string): string {
  return source.replaceAll(/\(\?: ?@\?\\p\{L\}\{1,30\} ?\)/g, '(?:w)')
}

/** Repetitions without a bound, with a bound above 100, or of something that repeats in turn. */
function faultsOf(source: string): string[] {
  const faults: string[] = []
  const groups: boolean[] = []
  let repeats = false
  let closed = false
  for (let at = 0; at < source.length; at++) {
    const char = source[at]!
    const counted = /^\{(\d+)(?:,(\d*))?\}/.exec(source.slice(at))
    if (char === '\\') at++
    else if (char === '[') at = endOfSet(source, at)
    else if (char === '(') {
      groups.push(repeats)
      repeats = false
      if (source[at + 1] === '?')
        at = source.indexOf(source[at + 2] === '<' ? source[at + 3]! : source[at + 2]!, at)
    } else if (char === ')') {
      closed = repeats
      repeats = groups.pop()! || repeats
      const next = source.slice(at + 1)
      if (closed && /^(?:[*+]|\{)/.test(next)) faults.push(`nested at ${at + 1}`)
    } else if (char === '*' || char === '+') faults.push(`${char} at ${at}`)
    else if (counted) {
      const max = counted[2] ?? counted[1]!
      if (max === '' || Number(max) > 100) faults.push(`${counted[0]} at ${at}`)
      if (Number(max) > 1) repeats = true
      at += counted[0].length - 1
    }
  }
  return faults
}

function endOfSet(source: string, from: number): number {
  let at = from + 1
  while (source[at] !== ']') at += source[at] === '\\' ? 2 : 1
  return at
}

test.run()
