/**
 * Tests deliveries while DNS fails: mail is deferred as long as the fault may be temporary, and bounces only
 * on a definite negative answer.
 */
import * as assert from 'uvu/assert'
import { suite } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { openWorker } from './open-worker.ts'

const test = suite('delivery with DNS faults')

const WELL = 'mx.there.test'

/** The zone of a domain, and what becomes of mail to it; with `!` the address is suppressed. */
type Case = [domain: string, zone: string, status: string]

const passing = (...faults: string[]) =>
  faults.flatMap((fault): Case[] => {
    const word = fault.toLowerCase()
    const host = `mx.${word}-host.test`
    return [
      [`${word}.test`, `${word}.test ${fault}`, 'delivery_delayed'],
      [`${word}-mx.test`, `${word}-mx.test ${fault} MX\n${word}-mx.test A 127.0.0.2`, 'delivery_delayed'],
      [`${word}-host.test`, `${word}-host.test MX 10 ${host}\n${host} ${fault}`, 'delivery_delayed'],
      [
        `${word}-spare.test`,
        `${word}-spare.test MX 10 ${host}\n${word}-spare.test MX 20 ${WELL}`,
        'delivered',
      ],
      [`${word}-v6.test`, `${word}-v6.test A 127.0.0.2\n${word}-v6.test ${fault} AAAA`, 'delivered'],
    ]
  })

/** It costs whatever waits on the same socket a try, too. */
const MALFORMED: Case = ['malformed.test', 'malformed.test MALFORMED', 'delivery_delayed']

const LASTING: Case[] = [
  ['truncated.test', `truncated.test TRUNCATED\ntruncated.test MX 10 ${WELL}`, 'delivered'],
  ['nxdomain.test', 'nxdomain.test NXDOMAIN', 'delivery_delayed'],
  ['null.test', 'null.test MX 0 .', 'bounced!'],
  ['null-among.test', `null-among.test MX 0 .\nnull-among.test MX 10 ${WELL}`, 'delivered'],
  ['no-mail.test', 'no-mail.test TXT nothing', 'bounced'],
  ['no-address.test', 'no-address.test MX 10 no-mail.test', 'bounced'],
  ['no-host.test', 'no-host.test MX 10 nowhere.test', 'bounced'],
  [
    'no-host-spare.test',
    `no-host-spare.test MX 10 nowhere.test\nno-host-spare.test MX 20 ${WELL}`,
    'delivered',
  ],
  ['alias.test', `alias.test CNAME there.test`, 'delivered'],
  ['circle.test', 'circle.test CNAME circle2.test\ncircle2.test CNAME circle.test', 'delivery_delayed'],
]

for (const [crowd, cases, options] of [
  ['faults that pass, and faults that last', [...passing('SERVFAIL', 'REFUSED'), ...LASTING], {}],
  ['silence', passing('TIMEOUT'), { dnsTimeoutMs: 1_000 }],
  ['answers that are no DNS', [MALFORMED], {}],
] as const)
  test(crowd, async t => {
    const zone = `there.test MX 10 ${WELL}\n${WELL} A 127.0.0.2\n${cases.map(([, lines]) => lines).join('\n')}`
    const { sendTo, rows, errors } = await openWorker(t, { zone, ...options })
    await sendTo(cases.map(([domain]) => `ok@${domain}`))
    await until(() => rows('select 1 from attempts').length === cases.length)
    const blamed = new Set(
      rows<{ email: string }>('select email from suppressions').map(({ email }) => email),
    )
    const told = rows<{ address: string; status: string }>('select address, status from deliveries')
    assert.equal(
      Object.fromEntries(
        told.map(({ address, status }) => [address.slice(3), blamed.has(address) ? `${status}!` : status]),
      ),
      Object.fromEntries(cases.map(([domain, , status]) => [domain, status])),
    )
    assert.equal(errors, [])
  })

test.run()
