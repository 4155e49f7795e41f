import * as assert from 'uvu/assert'
import type { Session } from '../../../../src/deliver/client/types.ts'
import type { HostTerms } from '../../../../src/deliver/policy/host-terms.ts'
import { createTlsResults } from '../../../../src/deliver/policy/tls-results.ts'
import { wayTo } from '../../../../src/deliver/policy/way.ts'
import type { TlsResultRow } from '../../../../src/store/schema/tls.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('deliver/policy/tls-results')
const WANTED = 'v=TLSRPTv1; rua=mailto:tls@there.test'

const way = wayTo({ domain: 'there.test', hostSet: 'mx.test', hosts: [], security: undefined }, 'any')
if ('reason' in way) throw new Error(way.reason)
const inPlainText = { facts: { tls: null, tlsFallback: null, localAddress: '198.51.100.7' } } as Session

/** What is stored of one session in plain text on the terms. */
async function counted(terms: Pick<HostTerms, 'brokenTls'>): Promise<TlsResultRow> {
  const stored: TlsResultRow[] = []
  const results = createTlsResults({
    resolver: { txt: async () => ({ kind: 'found', records: [WANTED] }) },
    run: (async (_: string, rows: TlsResultRow[]) => void stored.push(...rows)) as never,
    clock: createManualClock(),
    onError: assert.unreachable,
  })
  results.note(
    way as never,
    { policy: 'none', options: { tls: 'none' }, ...terms },
    'mx.test',
    '192.0.2.1',
    inPlainText,
  )
  await results.close()
  assert.is(stored.length, 1)
  return stored[0]!
}

test('a host that offers no TLS is told so, with our address', async () => {
  const { result, reason, mxHost, mxIp, policy } = await counted({ brokenTls: null })
  assert.equal([result, reason, mxHost, mxIp], ['starttls-not-supported', null, 'mx.test', '192.0.2.1'])
  assert.equal(JSON.parse(policy), { from: '198.51.100.7' })
})

test('one whose TLS broke before is not said to have none', async () => {
  const { result, reason } = await counted({ brokenTls: 'alert internal error' })
  assert.equal([result, reason], ['validation-failure', 'alert internal error'])
})

test.run()
