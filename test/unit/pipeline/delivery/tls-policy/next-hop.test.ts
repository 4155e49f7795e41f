import * as assert from 'uvu/assert'
import {
  type DomainSecurity,
  type MessageTls,
  nextHopTo,
} from '../../../../../src/pipeline/delivery/tls-policy/next-hop.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('next hop')
const sts = (mode: 'enforce' | 'testing') => ({
  domain: 'there.test',
  mode,
  mx: ['*.there.test', 'mx.test'],
  maxAgeSeconds: 60,
})

function nextHop(requests: MessageTls, security?: Partial<DomainSecurity>) {
  const found = security && { sts: null, secureHosts: [], unknown: null, bogus: null, ...security }
  return nextHopTo({ domain: 'there.test', hostSet: 'destination', hosts: [], security: found }, requests)
}

for (const [requests, security, sessions, verified] of [
  ['any', undefined, 'destination', false],
  ['waived', undefined, 'destination', false],
  ['enforced', undefined, 'destination verified', true],
  ['any', { sts: sts('enforce') }, 'destination sts *.there.test mx.test', true],
  ['enforced', { sts: sts('enforce') }, 'destination sts *.there.test mx.test', true],
  ['required', { sts: sts('enforce') }, 'destination sts *.there.test mx.test', true],
  ['waived', { sts: sts('enforce') }, 'destination', false],
  ['any', { sts: sts('testing') }, 'destination', false],
  ['enforced', { sts: sts('testing') }, 'destination verified', true],
  ['any', { secureHosts: ['mx.test'] }, 'destination dane', false],
  ['enforced', { secureHosts: ['mx.test'] }, 'destination dane verified', true],
  ['required', { secureHosts: ['mx.test'] }, 'destination dane verified', true],
  ['waived', { secureHosts: ['mx.test'], sts: sts('enforce') }, 'destination', false],
  [
    'any',
    { secureHosts: ['mx.test'], sts: sts('enforce') },
    'destination dane sts *.there.test mx.test',
    true,
  ],
] as const)
  test(`${requests}, ${JSON.stringify(security)}: sessions "${sessions}"`, () => {
    const found = nextHop(requests, security as Partial<DomainSecurity>)
    if ('reason' in found) throw new Error(found.reason)
    assert.equal([found.sessions, found.verified], [sessions, verified])
  })

for (const [what, security, kind] of [
  ['nothing is published', undefined, 'bounced'],
  ['the policy is tested only', { sts: sts('testing') }, 'bounced'],
  ['nothing can be known now', { unknown: 'the policy cannot be had' }, 'deferred'],
] as const)
  test(`a message that requires TLS has no next hop if ${what}`, () => {
    const found = nextHop('required', security)
    assert.ok('reason' in found)
    assert.equal(found.kind, kind)
    if (kind === 'bounced') assert.is(found.enhanced, '5.7.30')
  })

test('a domain with bogus records gets no mail, unless TLS requirements are waived', () => {
  const bogus = 'the MX hosts of there.test cannot be validated'
  for (const requests of ['any', 'enforced', 'required'] as const) {
    const found = nextHop(requests, { bogus })
    assert.equal('reason' in found && [found.kind, found.reason], ['deferred', bogus])
  }
  assert.ok('hosts' in nextHop('waived', { bogus }))
})

test.run()
