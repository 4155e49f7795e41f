import * as assert from 'uvu/assert'
import {
  createSmartHostOf,
  type SmartHost,
} from '../../../../../src/pipeline/delivery/destinations/smart-host.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('smart host settings')

const relay = (name: string): SmartHost => ({
  name,
  host: 'relay.test',
  port: 587,
  tls: 'required',
  login: null,
})

test('the most specific entry for a domain applies, then the general one', () => {
  const of = createSmartHostOf({
    general: relay('general'),
    special: [
      { domains: ['there.test', '*.there.test'], smartHost: relay('there') },
      { domains: ['a.there.test'], smartHost: relay('a') },
      { domains: ['*.a.there.test', 'direct.test'], smartHost: null },
    ],
  })
  for (const [domain, expected] of [
    ['there.test', 'there'],
    ['b.there.test', 'there'],
    ['c.b.there.test', 'there'],
    ['a.there.test', 'a'],
    ['b.a.there.test', undefined],
    ['direct.test', undefined],
    ['below.direct.test', 'general'],
    ['nowhere.test', 'general'],
    ['test', 'general'],
  ] as const)
    assert.is(of(domain)?.name, expected, domain)
})

test('without settings mail goes to MX hosts', () => {
  assert.is(createSmartHostOf({ general: null, special: [] })('there.test'), undefined)
})

test.run()
