import * as assert from 'uvu/assert'
import { createWebhooks } from '../../../../src/pipeline/webhooks/webhooks.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'
import { SECRETS } from '../../../kit/webhooks.ts'

const test = suite('webhooks/urls')
const NOT_PUBLIC = /^must not lead to an address that is not public$/
const HTTPS = /^must begin with https:\/\/$/
const HTTPS_OR_LOCAL =
  /^must begin with https:\/\/; for tests, the operator .*`webhooks\.allow_insecure_loopback` \(MAILHORN_WEBHOOKS_ALLOW_INSECURE_LOOPBACK=true\)$/

const NO_RULE = { allowInsecureLoopback: false, allowLoopback: false }
const INSECURE = { ...NO_RULE, allowInsecureLoopback: true }
const LOOPBACK = { ...NO_RULE, allowLoopback: true }

for (const [url, rules, fault] of [
  ['https://hooks.example/a', NO_RULE, undefined],
  ['https://8.8.8.8/', NO_RULE, undefined],
  ['https://[2606:4700::1111]/', NO_RULE, undefined],
  ['https://10.0.0.1/', NO_RULE, NOT_PUBLIC],
  ['https://10.0.0.1/', LOOPBACK, NOT_PUBLIC],
  ['https://127.0.0.1/', NO_RULE, NOT_PUBLIC],
  ['https://127.0.0.1/', INSECURE, NOT_PUBLIC],
  ['https://127.0.0.1/', LOOPBACK, undefined],
  ['https://[::1]/', NO_RULE, NOT_PUBLIC],
  ['http://127.0.0.1:3000/', INSECURE, undefined],
  ['http://[::1]:3000/', INSECURE, undefined],
  ['http://127.0.0.1:3000/', NO_RULE, HTTPS_OR_LOCAL],
  ['http://[::1]:3000/', NO_RULE, HTTPS_OR_LOCAL],
  ['http://localhost:3000/', INSECURE, HTTPS_OR_LOCAL],
  ['http://hooks.example/', NO_RULE, HTTPS],
  ['ftp://localhost/', NO_RULE, HTTPS],
  ['hooks', NO_RULE, /^must be an absolute URL$/],
] as const)
  test(`${url} is ${fault ? 'refused' : 'accepted'} with ${JSON.stringify(rules)}`, async t => {
    const store = await t.using(openLocalStore())
    const { faultIn } = createWebhooks({
      db: store.db,
      run: store.run,
      clock: createManualClock(),
      newId,
      secrets: SECRETS,
      isStandardByDefault: false,
      outbound: { send: () => assert.unreachable() as never },
      random: () => 0.5,
      mailHost: 'mailhorn.test',
      ...rules,
    })
    const found = faultIn(url)
    if (fault === undefined) assert.is(found, undefined)
    else assert.match(found ?? '', fault)
  })

test.run()
