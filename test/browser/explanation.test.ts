import * as assert from 'uvu/assert'
import { startBrowser } from '../kit/browser.ts'
import { buildDashboard } from '../kit/dashboard.ts'
import { startFakeMx } from '../kit/fake-mx.ts'
import { startMailhorn } from '../kit/mailhorn.ts'
import { suite } from '../kit/suite.ts'
import { startUndeliveredHosts, UNDELIVERED, UNDELIVERED_ZONE } from '../kit/undelivered.ts'
import { until } from '../kit/until.ts'

const test = suite('why an email has not arrived, in the dashboard')
const ZONE = `
  there.example      MX 10 mx.there.example
  mx.there.example   A 127.0.0.2
  refused.example    MX 10 mx.refused.example
  mx.refused.example A 127.0.0.9
  closed.example     MX 0 .
`

test('six recipients: the email counts them, each has one true reason, and one is given up', async t => {
  buildDashboard()
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const mailhorn = await t.using(startMailhorn({ zone: ZONE, mxPort: mx.port }))
  const browser = await t.using(startBrowser())
  await mailhorn.verifiedDomain('here.example')
  const id = await mailhorn.send({
    ...{ from: 'ann@here.example', subject: 'Six recipients', text: 'hi' },
    to: [
      ...[
        'ok1@there.example',
        'ok2@there.example',
        'perm-550-511@there.example',
        'perm-550-570@there.example',
      ],
      ...['x@closed.example', 'y@refused.example'],
    ],
  })
  await until(async () => {
    const { explanation } = await mailhorn.email(id)
    return explanation.summary === '2 delivered, 3 bounced, 1 waiting' || undefined
  })
  const { page } = await browser.signIn(mailhorn)
  await page.goto(`${mailhorn.baseUrl}/dashboard/emails/${id}`)
  await page.getByText('2 delivered, 3 bounced, 1 waiting').waitFor()
  const row = (address: string) => page.locator('.recipient').filter({ hasText: address })
  await row('x@closed.example')
    .getByText('The domain closed.example does not accept email (null MX).')
    .waitFor()
  await row('perm-550-511').getByText('The mailbox perm-550-511@there.example does not exist.').waitFor()
  await row('y@refused.example')
    .getByText(
      /mx\.refused\.example refused the connection\. Nothing to do: it is retried until .+ Next attempt/,
    )
    .waitFor()
  assert.is(await page.getByText(/rate limiting|temporarily rejected|retries automatically/).count(), 0)
  assert.is(await page.getByText(/refused the connection\. Nothing to do/).count(), 1)

  await row('y@refused.example').getByRole('button', { name: 'Give up' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Give up' }).click()
  await row('y@refused.example').getByText('Given up by the account.').waitFor()
  await page.getByText('2 delivered, 3 bounced, 1 failed').waitFor()
})

test('each reason stands once on the page of its email, with no untrue word beside it', async t => {
  buildDashboard()
  const hosts = await startUndeliveredHosts(t)
  const mailhorn = await t.using(startMailhorn({ zone: UNDELIVERED_ZONE, mxPort: hosts.port }))
  const browser = await t.using(startBrowser())
  await mailhorn.verifiedDomain('here.example')
  const ids = await hosts.sendAll(mailhorn)
  const { page } = await browser.signIn(mailhorn)
  for (const [i, { name, summary, untrue }] of UNDELIVERED.entries()) {
    await page.goto(`${mailhorn.baseUrl}/dashboard/emails/${ids[i]}`)
    await page.getByRole('heading', { name, exact: true }).waitFor()
    const text = await page.locator('main').innerText()
    const message =
      typeof summary === 'string' ? summary : (await mailhorn.email(ids[i]!)).explanation.summary
    assert.is(text.split(message).length - 1, 1, `${name}: ${text}`)
    const lead = await page.locator('.page-head').innerText()
    assert.not.match(lead.replace(name, ''), untrue, name)
  }
})

test.run()
