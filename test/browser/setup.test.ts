import * as assert from 'uvu/assert'
import { axeFindings, sideways, startBrowser, type TestBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { startFakeMx } from '../kit/fake-mx.ts'
import { freePort } from '../kit/free-port.ts'
import { keyboardOf } from '../kit/hand.ts'
import { startMailhorn, zoneText } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'

const test = suite('going live in the dashboard')
const WORLD = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
  mail.here.example MX 10 mx.there.example
  mail.here.example A 203.0.113.7
`
const PTR = '7.113.0.203.in-addr.arpa PTR mail.here.example'
/** Reports of the doctor and records of a domain are kept for less. */
const KEPT_MS = 61_000
let browser: TestBrowser
test.before(async () => {
  buildDashboard()
  browser = await startBrowser()
})
test.after(() => browser.close())

test('from the host name to the reply of the MX host, by keyboard at 820 px, left and continued', async t => {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const port = await freePort()
  const mailhorn = await t.using(
    startMailhorn({
      zone: WORLD,
      mxPort: mx.port,
      env: {
        MAILHORN_MAIL_HOST: 'mail.here.example',
        MAILHORN_ADMIN_EMAIL: 'admin@mailhorn.test',
        MAILHORN_HTTP_BASE_URL: 'https://mail.here.example',
        MAILHORN_HTTP_LISTEN: `127.0.0.1:${port}`,
        MAILHORN_DNS_ADDRESSES: '203.0.113.7',
        MAILHORN_DOCTOR_PROBES: 'there.example',
      },
    }),
  )
  mailhorn.baseUrl = `http://127.0.0.1:${port}`
  const { page, faults } = await t.using(
    browser.signIn(mailhorn, '/', { viewport: { width: 820, height: 900 } }),
  )
  const hand = keyboardOf(page)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const step = (title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })
  const open = (title: string) => hand.press(step(title).locator('summary').first())
  const copied = async (name: string) => {
    await hand.press(button(name))
    return (await page.evaluate('navigator.clipboard.readText()')) as string
  }
  const goLive = async () => {
    await hand.goTo('Server')
    await hand.press(page.getByRole('link', { name: 'Go live', exact: true }))
    await page.getByRole('heading', { name: 'Go live' }).waitFor()
  }

  // given a service that has no contact address, when a wrong name is entered, then its field says so
  await goLive()
  assert.is(await page.getByLabel('Host name of this server').inputValue(), 'mail.here.example')
  await hand.write(page.getByLabel('Host name of this server'), 'localhost')
  await hand.write(page.getByLabel('Contact address'), 'ops@here.example')
  await hand.press(button('Check this server'))
  await page.getByText('"localhost" is not a host name with a domain').waitFor()

  // when another name is entered, then its settings, commands and records are shown
  await hand.write(page.getByLabel('Host name of this server'), 'post.here.example')
  await hand.press(button('Check this server'))
  await step('Save the settings').getByText('Restart needed').waitFor()
  await open('Save the settings')
  assert.match(await copied('Copy settings'), 'MAILHORN_MAIL_HOST=post.here.example\nMAILHORN_HTTP_BASE_URL=')
  await open('Add DNS records')
  assert.match(await copied('Copy DNS records'), 'post.here.example.  NS  ns1.post.here.example.')
  await open('Open the ports')
  assert.match(await copied('Copy firewall commands'), 'ufw allow 25,53,80,443,465,587/tcp')
  assert.equal(await axeFindings(page), [])

  // when the name is that of the service, then the whole installation is checked
  await open('Name and addresses')
  await hand.write(page.getByLabel('Host name of this server'), 'mail.here.example')
  await hand.press(button('Check this server'))
  await step('Save the settings')
    .getByText('The service runs as mail.here.example.')
    .waitFor({ state: 'attached' })
  await open('Ask the hosting provider')
  await step('Ask the hosting provider').getByText('Reverse DNS (PTR)').waitFor()

  // when the page is left for the domain, then it continues with the same answers
  await open('Send the first email')
  await hand.press(button('Add domain'))
  const dialog = page.getByRole('dialog')
  await hand.write(dialog.getByLabel('Domain', { exact: true }), 'here.example')
  await hand.press(dialog.getByRole('button', { name: 'Add domain', exact: true }))
  await page.getByRole('heading', { name: 'here.example', exact: true }).waitFor()
  await goLive()
  await page.getByText('Not ready yet').waitFor()
  assert.is(await page.getByLabel('Contact address').inputValue(), 'ops@here.example')

  // when the email is sent, then it waits for the checks, then for the records of the domain
  await open('Send the first email')
  await hand.write(page.getByLabel('To', { exact: true }), 'ann@there.example')
  await hand.press(button('Send test email'))
  await page.getByText('1 check fails: Reverse DNS (PTR).').waitFor()
  mailhorn.zone.add(PTR)
  mailhorn.clock.advance(KEPT_MS)
  await hand.press(button('Check again'))
  await page.getByText('DNS records of here.example are not found yet.').waitFor()
  assert.equal(await axeFindings(page), [])
  assert.is(mx.messages.length, 0)
  const { body: domains } = await mailhorn.call('GET', '/domains', { session: await mailhorn.signIn() })
  mailhorn.zone.add(zoneText(domains.data[0].records))
  mailhorn.clock.advance(KEPT_MS)
  await hand.press(button('Check again'))

  // then the reply of the MX host is shown
  const delivery = page.getByRole('status', { name: 'Delivery' })
  await delivery.getByText('Delivered', { exact: true }).waitFor()
  await delivery.getByText(/mx\.there\.example: 250/).waitFor()
  assert.equal(
    mx.messages.map(({ rcptTo }) => rcptTo),
    [['ann@there.example']],
  )

  // when another recipient is refused, then what to do is shown
  await hand.write(page.getByLabel('To', { exact: true }), 'perm-550-511@there.example')
  await hand.press(button('Send test email'))
  await delivery.getByText('Bounced', { exact: true }).waitFor()
  await delivery.getByText(/The mailbox .* does not exist\./).waitFor()
  assert.equal(await axeFindings(page), [])
  assert.is(await sideways(page), 0)
  assert.equal(faults, [])
})

test.run()
