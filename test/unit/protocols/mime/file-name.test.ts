import * as assert from 'uvu/assert'
import {
  FILE_NAME_CHARACTERS_MAX,
  isLongerThan,
  shortFileName,
} from '../../../../src/protocols/mime/file-name.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/file-name')

test('a name that is not too long stays as it is, whatever its characters are made of', () => {
  for (const name of ['', 'a.txt', 'a'.repeat(255), `${'😀'.repeat(251)}.txt`])
    assert.is(shortFileName(name), name)
})

test('a longer one keeps its beginning and its ending', () => {
  assert.is(shortFileName(`${'a'.repeat(1_000_000)}.tar`), `${'a'.repeat(251)}.tar`)
  assert.is(shortFileName(`${'😀'.repeat(252)}.txt`), `${'😀'.repeat(251)}.txt`)
  assert.is(shortFileName(`x${'😀'.repeat(300)}.txt`), `x${'😀'.repeat(250)}.txt`)
  assert.is(shortFileName('a'.repeat(256)), 'a'.repeat(255))
})

test('what is too long for an ending, or has other characters, is none', () => {
  assert.is(shortFileName(`${'a'.repeat(300)}.${'b'.repeat(50)}`), 'a'.repeat(255))
  assert.is(shortFileName(`${'a'.repeat(300)}.b/c`), 'a'.repeat(255))
})

test('no half of a character is left', () => {
  for (const text of ['😀'.repeat(400), `a${'😀'.repeat(400)}`, `${'😀'.repeat(400)}.pdf`]) {
    const short = shortFileName(text)
    assert.ok(short.isWellFormed())
    assert.is([...short].length, FILE_NAME_CHARACTERS_MAX)
  }
})

test('code points are counted', () => {
  assert.not(isLongerThan('😀'.repeat(3), 3))
  assert.ok(isLongerThan('😀😀😀a', 3))
  assert.ok(isLongerThan('aaaa', 3))
})

test.run()
