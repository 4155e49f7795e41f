import { once } from 'node:events'
import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { settingsOf } from '../../../src/interfaces/setup/own-name.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('a service that is started with the settings of the first steps')

/** Exactly what is printed, with ports and addresses that a test may take, and no authority that is asked. */
function printedSettings(): Record<string, string> {
  const printed = settingsOf({
    ...{ host: 'mail.here.example', addresses: ['203.0.113.7'], localAddresses: ['127.0.0.1'] },
    ...{ email: 'ops@here.example', https: 'own' },
  })
  const entries = printed.map(([name, value]) => [
    name,
    name.endsWith('_LISTEN') ? value.replace(/^.*:\d+$/, '127.0.0.1:0') : value,
  ])
  return { ...Object.fromEntries(entries), MAILHORN_ACME_DIRECTORY_URL: 'https://127.0.0.1:9/directory' }
}

test('its links are public, and it takes mail, submissions, HTTPS and DNS', async t => {
  const mailhorn = await t.using(startMailhorn({ dns: true, env: printedSettings() }))
  const { app } = mailhorn
  assert.is(app.baseUrl, 'https://mail.here.example')
  const greeting = async ({ address, port }: { address: string; port: number }) => {
    const socket = connect(port, address)
    const [first] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return first.toString()
  }
  assert.match(await greeting(app.inboundAddress!), /^220 mail\.here\.example /)
  assert.match(await greeting(app.submission.submission!), /^220 mail\.here\.example /)
  assert.ok(app.submission.submissionTls && app.secureAddress && app.dnsAddress)
})

test.run()
