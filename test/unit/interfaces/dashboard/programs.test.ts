import * as assert from 'uvu/assert'
import { programOf } from '../../../../src/interfaces/dashboard/web/labels/programs.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: names of programs')

for (const [userAgent, name] of [
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
    'Chrome on Linux',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1',
    'Safari on iPhone',
  ],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['curl/8.14.1', 'curl'],
  ['resend-node:6.38.0', 'resend-node:6.38.0'],
  ['', undefined],
  [null, undefined],
] as const)
  test(`${userAgent} is ${name}`, () => {
    assert.is(programOf(userAgent), name)
  })

test.run()
