import * as assert from 'uvu/assert'
import { smartHost, smartHostDomains } from '../../../src/config/smart-host.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('config/smart-host')

const { read } = smartHost('A relay.')

for (const [raw, ...expected] of [
  ['smtps://ann:secret@Relay.Example', 'relay.example', 465, 'implicit', 'ann', 'secret'],
  ['smtps://ann:secret@relay.example:2465/', 'relay.example', 2465, 'implicit', 'ann', 'secret'],
  [
    ' smtp://ann%40here.example:p%25%3A%2F%40@relay.example:25',
    'relay.example',
    25,
    'required',
    'ann@here.example',
    'p%:/@',
  ],
  ['smtp://ann:s%C3%A9same+%20@127.0.0.1', '127.0.0.1', 587, 'required', 'ann', 'sésame+ '],
  ['smtp://relay.example', 'relay.example', 587, 'required'],
  ['smtp://relay.example?tls=required', 'relay.example', 587, 'required'],
  ['smtp://relay:25?tls=opportunistic', 'relay', 25, 'opportunistic'],
  ['smtps://[2001:db8::1]', '2001:db8::1', 465, 'implicit'],
] as const)
  test(`reads ${raw}`, () => {
    const { host, port, tls, login } = read(raw)!
    assert.equal([host, port, tls, ...(login ? [login.user, login.password] : [])], expected)
  })

test('smart host: an empty value means none', () => {
  for (const raw of ['', null]) assert.is(read(raw), null)
})

for (const [raw, fault] of [
  ['relay.example:587', 'must be smtps://'],
  ['https://ann:sesame@relay.example', 'must be smtps://'],
  ['smtps://ann:sesame@relay.example:99999', 'must be smtps://'],
  [7, 'must be smtps://'],
  ['smtps://', 'must contain a host name'],
  ['smtps://ann:sesame@rel_ay', 'must contain a host name'],
  ['smtps://ann:sesame@relay.example/x', 'a path or a fragment'],
  ['smtps://ann:ses/ame@relay.example', 'must be smtps://'],
  ['smtps://ann:ses#ame@relay.example', 'must be smtps://'],
  ['smtps://ann@relay.example', 'both a user name and a password'],
  ['smtps://:sesame@relay.example', 'both a user name and a password'],
  ['smtps://ann:ses%ame@relay.example', 'invalid percent-encoding'],
  ['smtps://ann:ses%00ame@relay.example', 'must not contain NUL'],
  ['smtp://ann:sesame@relay.example?tls=opportunistic', 'with a login'],
  ['smtp://relay.example?tls=none', 'a query other than'],
  ['smtp://relay.example?tls=required&tls=required', 'a query other than'],
  ['smtps://relay.example?tls=opportunistic', 'a query other than'],
  ['smtp://relay.example?starttls=no', 'a query other than'],
] as const)
  test(`refuses ${raw}: ${fault}`, () => {
    try {
      read(raw)
    } catch (error) {
      const { message } = error as Error
      assert.match(message, fault)
      assert.not.match(message, /ann|ses.*ame/)
      return
    }
    assert.unreachable()
  })

test('smart host domains: lower-case A-labels, * for subdomains', () => {
  const domains = smartHostDomains('Domains.')
  assert.equal(domains.read('There.example, *.bücher.example'), ['there.example', '*.xn--bcher-kva.example'])
  for (const wrong of ['*', '*.', 'a b.example', 'there.*', '@there.example'])
    assert.throws(() => domains.read([wrong]), /which is not a domain name/, wrong)
})

test.run()
