import * as assert from 'uvu/assert'
import { faultsOf } from '../../../scripts/planted-faults.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('planted faults')

function changed(text: string): string[] {
  return faultsOf(text).map(
    ({ start, end, replacement }) => text.slice(0, start) + replacement + text.slice(end),
  )
}

for (const [text, ...expected] of [
  ['if (a) b = c', 'if (!(a)) b = c'],
  ['x = (a as string) === b', 'x = (a as string) !== b'],
  ['x = a /* b < c */ < d', 'x = a /* b < c */ <= d'],
  ['x = a ?? b', 'x = a'],
  ['await close(a)', ';'],
  ['log.warn(a)'],
  ["x = db.where('a', '=', id)", 'x = db'],
  ['x = true', 'x = false'],
  ['x = [a, b]', 'x = [ b]'],
  ['x = [(a as string), b]', 'x = [ b]'],
  ["x = (['a'] as const).filter(b)", "x = (['a'] as const)"],
  ['x = a?.trim()', 'x = a'],
  ['x = a[0]'],
  ['const x: number = 5', 'const x: number = 6'],
  ["x = 'a < b'"],
] as const)
  test(`${text}: ${expected.length} faults`, () => {
    assert.equal(changed(text), [...expected])
  })

test('a text with types keeps its places', () => {
  const text = 'interface A { b: string }\nexport function f(a: A): boolean {\n  return a.b === "c"\n}\n'
  assert.equal(changed(text), [text.replace('===', '!==')])
})

test.run()
