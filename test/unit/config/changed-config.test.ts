import * as assert from 'uvu/assert'
import { ConfigError, changedConfig, loadConfig } from '../../../src/config/config.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('config: other values of some settings')
const root = new URL('../../..', import.meta.url).pathname
const { config } = loadConfig(root, { MAILHORN_DNS_LISTEN: '127.0.0.1:53' })

test('the result has them, the rest stays, and only those that differ are named', () => {
  const other = { MAILHORN_MAIL_HOST: 'mail.example.com', MAILHORN_SMTP_INBOUND_LISTEN: '[::]:25' }
  const { config: next, changed } = changedConfig(config, { ...other, MAILHORN_DNS_LISTEN: '127.0.0.1:53' })
  assert.equal(changed.sort(), ['MAILHORN_MAIL_HOST', 'MAILHORN_SMTP_INBOUND_LISTEN'])
  assert.is(next.mailHost, 'mail.example.com')
  assert.equal(next.smtp.inbound.listen, { host: '::', port: 25 })
  assert.equal(next.smtp.submission, config.smtp.submission)
  assert.equal(next.dns, config.dns)
  assert.not.equal(config.mailHost, 'mail.example.com', 'the running configuration is as it was')
})

test('a value that the setting does not take is an error that names it', () => {
  assert.throws(
    () => changedConfig(config, { MAILHORN_SMTP_INBOUND_LISTEN: 'nowhere' }),
    (error: Error) => error instanceof ConfigError && /^MAILHORN_SMTP_INBOUND_LISTEN: /.test(error.message),
  )
})

test.run()
