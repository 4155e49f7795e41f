import * as assert from 'uvu/assert'
import { createLinkTermsCache, linkTermsFor } from '../../../../src/resources/emails/link-terms.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('emails/link-terms')

test('link terms: each base URL has four, which are found again by their ids', async t => {
  const { run, find } = await t.using(openLocalStore())
  const one = await run('linkTerms', { baseUrl: 'https://one.test' })
  const two = await run('linkTerms', { baseUrl: 'https://two.test' })
  assert.equal(await run('linkTerms', { baseUrl: 'https://one.test' }), one)
  assert.equal([...one, ...two], [1, 2, 3, 4, 5, 6, 7, 8])
  const termsOf = createLinkTermsCache(find)
  const kinds = [
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ]
  for (const [ids, baseUrl] of [
    [one, 'https://one.test'],
    [two, 'https://two.test'],
  ] as const)
    for (const [i, id] of ids.entries()) {
      const [opens, clicks] = kinds[i]!
      assert.equal(await termsOf(id), { baseUrl, opens, clicks })
      assert.is(await termsOf(id), await termsOf(id), 'they are read once')
    }
  await termsOf(9).then(
    () => assert.unreachable(),
    error => assert.match(error.message, 'no link terms 9'),
  )
})

for (const [openTracking, clickTracking, trackingTerms, isList, expected] of [
  [0, 0, null, false, null],
  [0, 0, 40, false, null],
  [0, 0, null, true, 10],
  [0, 0, 40, true, 40],
  [1, 0, null, false, 11],
  [0, 1, null, false, 12],
  [1, 1, null, false, 13],
  [1, 0, 40, false, 41],
  [0, 1, 40, true, 42],
  [1, 1, 40, false, 43],
] as const)
  test(`link terms: opens ${openTracking}, clicks ${clickTracking}, own ${trackingTerms}, list ${isList}`, () => {
    const domain = { openTracking, clickTracking, trackingTerms }
    assert.is(linkTermsFor([10, 11, 12, 13], domain, isList), expected)
  })

test.run()
