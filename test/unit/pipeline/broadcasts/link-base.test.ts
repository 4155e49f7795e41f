import * as assert from 'uvu/assert'
import { linkFault, linkWarning } from '../../../../src/pipeline/broadcasts/link-base.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('broadcasts/link-base')
const setting = 'tracking.base_url'

for (const [url, fault, warning] of [
  ['https://mail.example', undefined, undefined],
  ['http://mail.example', undefined, /without https.*One-click unsubscribe does not work/],
  ['https://10.0.0.5', undefined, /a private address: recipients outside/],
  ['http://10.0.0.5', undefined, /a private address: .*One-click unsubscribe does not work/],
  ['https://localhost:8080', /which only this machine can open.*MAILHORN_TRACKING_BASE_URL/, undefined],
  ['http://127.0.0.1', /which only this machine can open/, undefined],
  ['mail.example', /which is no http\(s\) URL/, undefined],
] as const)
  test(`${url}: ${fault ? 'nobody else can open the links' : warning ? 'a warning' : 'no complaint'}`, () => {
    for (const [found, expected] of [
      [linkFault({ url, setting }), fault],
      [linkWarning({ url, setting }), warning],
    ] as const)
      if (expected === undefined) assert.is(found, undefined)
      else assert.match(found ?? '', expected)
  })

test('a private address over https gives no warning about one-click unsubscribe', () => {
  assert.not.match(linkWarning({ url: 'https://10.0.0.5', setting })!, /One-click/)
})

test.run()
