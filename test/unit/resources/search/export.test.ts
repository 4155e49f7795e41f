import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { idBelow } from '../../../../src/resources/search/export.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('search/export')
const idOf = (end: string) => Buffer.from(end.padStart(32, '5'), 'hex') as Uint8Array as Id

for (const [end, below] of [
  ['07', '06'],
  ['02', '01'],
  ['01', '00'],
  ['ff', 'fe'],
  ['0100', '00ff'],
  ['0200', '01ff'],
  ['010000', '00ffff'],
  ['ff0000', 'feffff'],
  ['00'.repeat(15), `54${'ff'.repeat(15)}`],
] as const)
  test(`the next lower id of one that ends with ${end} ends with ${below}, and the id stays as it is`, () => {
    const id = idOf(end)
    assert.is(Buffer.from(idBelow(id)).toString('hex'), Buffer.from(idOf(below)).toString('hex'))
    assert.is(Buffer.from(id).toString('hex'), Buffer.from(idOf(end)).toString('hex'))
  })

test.run()
