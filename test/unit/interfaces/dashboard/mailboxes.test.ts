import * as assert from 'uvu/assert'
import { mailboxesIn, mailboxText } from '../../../../src/interfaces/dashboard/web/labels/mailboxes.ts'
import { parseMailbox } from '../../../../src/protocols/smtp/address.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('lists of addresses in forms')

test('lists are split at commas, except in quoted names, and empty entries are left out', () => {
  for (const [text, parts] of [
    ['', []],
    [' , ', []],
    ['a@b.test', ['a@b.test']],
    [' a@b.test,, Cy <c@d.test> ,', ['a@b.test', 'Cy <c@d.test>']],
    ['"Smith, Ann" <a@b.test>, c@d.test', ['"Smith, Ann" <a@b.test>', 'c@d.test']],
    [String.raw`"A \", B" <a@b.test>, c@d.test`, [String.raw`"A \", B" <a@b.test>`, 'c@d.test']],
    ['"open, c@d.test', ['"open', 'c@d.test']],
  ] as const)
    assert.equal(mailboxesIn(text), parts, text)
})

test('a display name is read by the API as it was typed', () => {
  assert.is(mailboxText('  ', 'a@b.test'), 'a@b.test')
  for (const name of ['Ann', 'Smith, Ann', String.raw`The "big" \ one`, 'Zoë <x>']) {
    const parsed = parseMailbox(mailboxText(name, 'a@b.test'))
    assert.equal(parsed, { name, address: 'a@b.test', domain: 'b.test' })
  }
})

test.run()
