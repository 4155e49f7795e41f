import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { daneFault, parseTlsa, type Tlsa } from '../../../../../src/pipeline/delivery/tls-policy/tlsa.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('TLSA')
const NOW = Date.UTC(2026, 10, 22)
const certificate = (name: string) =>
  new X509Certificate(readFileSync(new URL(`../../../../kit/certs/${name}.pem`, import.meta.url)))
const [good, expired, wrongName, selfSigned, ca] = ['good', 'expired', 'wrong-name', 'self-signed', 'ca'].map(
  certificate,
) as [X509Certificate, X509Certificate, X509Certificate, X509Certificate, X509Certificate]

function record(
  usage: Tlsa['usage'],
  selector: Tlsa['selector'],
  matching: Tlsa['matching'],
  of = good,
): Tlsa {
  const octets = selector === 0 ? of.raw : of.publicKey.export({ type: 'spki', format: 'der' })
  const hash = [undefined, 'sha256', 'sha512'][matching]
  return { usage, selector, matching, data: hash ? createHash(hash).update(octets).digest() : octets }
}

const fault = (records: Tlsa[], chain: X509Certificate[], names = ['mx.test']) =>
  daneFault(records, chain, names, NOW)

for (const selector of [0, 1] as const)
  for (const matching of [0, 1, 2] as const) {
    test(`3 ${selector} ${matching}: the host's own certificate, whoever signed it`, () => {
      assert.is(fault([record(3, selector, matching)], [good]), undefined)
      assert.is(fault([record(3, selector, matching, selfSigned)], [selfSigned], ['another.name']), undefined)
      const other = selector === 0 ? wrongName : ca
      assert.match(fault([record(3, selector, matching, other)], [good])!, /no TLSA record fits/)
    })

    test(`2 ${selector} ${matching}: an authority of the chain that the host sends`, () => {
      const records = [record(2, selector, matching, ca)]
      assert.is(fault(records, [good, ca]), undefined)
      assert.match(fault(records, [wrongName, ca])!, /another name/)
      assert.is(fault(records, [wrongName, ca], ['mx.test', 'elsewhere.invalid']), undefined)
      assert.match(fault(records, [expired, ca])!, /expired/)
      assert.match(fault(records, [selfSigned, ca])!, /no TLSA record fits/)
    })

    test(`2 ${selector} ${matching}: an authority that the host does not send is known from the record in full alone`, () => {
      const found = fault([record(2, selector, matching, ca)], [good])
      if (matching === 0) assert.is(found, undefined)
      else assert.match(found!, /no TLSA record fits/)
    })
  }

test('an expired certificate of the host itself will do for usage 3', () => {
  assert.is(fault([record(3, 1, 1, expired)], [expired]), undefined)
})

test("the host's own certificate is no authority", () => {
  assert.match(fault([record(2, 1, 1, selfSigned)], [selfSigned])!, /no TLSA record fits/)
})

test('one record that fits is enough', () => {
  assert.is(fault([record(3, 1, 1, ca), record(2, 0, 1, ca), record(3, 0, 2)], [good]), undefined)
})

for (const [what, records, isGood] of [
  ['a wrong SHA-512 beside the right SHA-256', [record(3, 1, 1), record(3, 1, 2, ca)], false],
  ['a right SHA-512 beside a wrong SHA-256', [record(3, 1, 1, ca), record(3, 1, 2)], true],
  ['one right and one wrong SHA-512', [record(3, 1, 2, ca), record(3, 1, 2)], true],
  ['a wrong SHA-512 of another selector', [record(3, 1, 1), record(3, 0, 2, ca)], true],
  ['a wrong SHA-512 of another usage', [record(3, 1, 1), record(2, 1, 2, good)], true],
  ['a wrong SHA-512 beside the right bytes', [record(3, 1, 0), record(3, 1, 2, ca)], true],
  ['wrong bytes beside the right SHA-256', [record(3, 1, 0, ca), record(3, 1, 1)], true],
  ['a wrong SHA-512 for the authority beside its SHA-256', [record(2, 0, 1, ca), record(2, 0, 2)], false],
  ['a right SHA-512 for the authority beside a wrong SHA-256', [record(2, 0, 1), record(2, 0, 2, ca)], true],
] as const)
  test(`${what}: ${isGood ? 'good' : 'a mismatch'}, because the strongest digest counts`, () => {
    assert.is(fault([...records], [good, ca]) === undefined, isGood)
    assert.is(fault(records.toReversed(), [good, ca]) === undefined, isGood)
  })

test('no certificate, no records, or data that is none of both', () => {
  assert.match(fault([record(3, 1, 1)], [])!, /no certificate/)
  assert.match(fault([], [good])!, /no TLSA/)
  for (const selector of [0, 1] as const)
    assert.match(fault([{ usage: 2, selector, matching: 0, data: Buffer.from('junk') }], [good])!, /no TLSA/)
})

const DIGEST = new Array<number>(32).fill(7)

for (const [what, bytes, isUsable] of [
  ['3 1 1', [3, 1, 1, ...DIGEST], true],
  ['2 0 2', [2, 0, 2, ...DIGEST, ...DIGEST], true],
  ['3 0 0', [3, 0, 0, 1], true],
  ['usage 0', [0, 0, 1, ...DIGEST], false],
  ['usage 1', [1, 1, 1, ...DIGEST], false],
  ['usage 255', [255, 1, 1, ...DIGEST], false],
  ['an unknown selector', [3, 2, 1, ...DIGEST], false],
  ['an unknown matching type', [3, 1, 3, ...DIGEST], false],
  ['a digest too short', [3, 1, 1, 7], false],
  ['a digest too long', [3, 1, 1, ...DIGEST, 7], false],
  ['no data', [3, 1, 0], false],
  ['nothing', [], false],
] as const)
  test(`a record of ${what} can ${isUsable ? '' : 'not '}be used`, () => {
    assert.is(parseTlsa(Uint8Array.from(bytes)) !== undefined, isUsable)
  })

test.run()
